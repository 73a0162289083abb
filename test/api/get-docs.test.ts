/** GET /docs and its script: the viewer of the API document, also in a real browser. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { referenceRoutes } from "../../src/api/docs/reference-routes.ts";
import { assertAccessible } from "../explorer/axe.ts";
import { ApiContract, type Endpoint } from "../support/api-contract.ts";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";

const source = await DataServer.open();
const server = await openTestServer({
  makeRoutes: () => [...source.routes, ...referenceRoutes()],
});
const { endpoints } = await ApiContract.read(source);
const { admin } = server.keys;
after(async () => {
  await server.close();
  await source.close();
});

test("200: a page and its script, without a key", async () => {
  const answer = await server.request("GET", "/docs");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
  const [, address = ""] = /<script src="([^"]+)"/.exec(answer.text) ?? [];
  const script = await fetch(new URL(address, `${server.url}/docs`), {
    headers: { "accept-encoding": "gzip" },
  });
  assert.equal(script.status, 200);
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(script.headers.get("cache-control"), "private, max-age=86400");
  assert((await script.text()).length > 1_000_000);
});

/** What the examples of the document get: the key and the block do not exist, and the stream is not HTTP. */
function expectedStatus({ operationId, path, method }: Endpoint): number {
  if (operationId === "openStream") return 400;
  if (path.startsWith("/v1/keys/") || path.startsWith("/v1/ip-blocks/")) return 404;
  return method === "POST" ? 201 : 200;
}

/** Shows an operation of the reference and returns its part of the page. */
async function showOperation(page: Page, { tags, method, path }: Endpoint): Promise<Locator> {
  const id = `tag/${String(tags[0]).toLowerCase()}/${method}${path}`;
  await page.evaluate(`location.hash = ${JSON.stringify(id)}`);
  return page.locator(`[id="api-1/${id}"]`);
}

/** Operations that are sent from the page: of every way in which a page fills in a request, one. */
const sentFromPage = [
  "openStream",
  "listMarkets",
  "getPrice",
  "listPrices",
  "createKey",
  "revokeKey",
];

/** Returns the path of an operation as a page fills it in: with the example of each required parameter. */
function getFilledPath({ path, parameters }: Endpoint): string {
  const filled = parameters.filter(({ example }) => example !== undefined);
  const getValue = (name: string) =>
    encodeURIComponent(String(filled.find((one) => one.name === name)?.example));
  const query = filled.flatMap(({ in: place, name }) =>
    place === "query" ? [`${name}=${getValue(name)}`] : [],
  );
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => getValue(name));
  return [filledPath, ...(query.length === 0 ? [] : [query.join("&")])].join("?");
}

test("each operation works with the examples that a page fills in", async () => {
  for (const endpoint of endpoints) {
    if (sentFromPage.includes(endpoint.operationId)) continue;
    const body = endpoint.requestBody?.content["application/json"]?.example;
    const path = getFilledPath(endpoint);
    const options = { key: admin, ...(body === undefined ? {} : { json: body }) };
    const { status, text } = await server.request(endpoint.method, path, options);
    assert.equal(status, expectedStatus(endpoint), `${endpoint.method} ${path}: ${text}`);
  }
});

test("200: operations have samples that work and are sent from the page, which contacts no other host", {
  skip: skipsBrowser,
}, async (t) => {
  const page = await openPage(await openBrowser(t), { viewport: { width: 1280, height: 900 } });
  const complaints = collectComplaints(page);
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  await page.goto(`${server.url}/docs`);
  await page.fill("input[placeholder='ow_read_...']", admin);
  const sent = endpoints.filter(({ operationId }) => sentFromPage.includes(operationId));
  assert.equal(sent.length, sentFromPage.length);
  for (const endpoint of sent) {
    const operation = await showOperation(page, endpoint);
    const sample = await operation.locator("pre:has-text('curl ')").first().innerText();
    const command = sample
      .replace(/ow_read_\.\.\.|\bow_admin_\w+/, admin)
      .replace("curl ", "curl -sw '%{http_code}' -o /dev/null ");
    const { stdout } = await promisify(execFile)("bash", ["-c", command]);
    assert.equal(Number(stdout), expectedStatus(endpoint), sample);
    await operation.locator("button:has-text('Test Request')").click();
    const [answer] = await Promise.all([
      page.waitForResponse((one) => new URL(one.url()).pathname.startsWith("/v1/")),
      page.click("[aria-label='API Client'] [data-addressbar-action=send]:visible"),
    ]);
    // The sample has created the key.
    const isTaken = endpoint.operationId === "createKey";
    assert.equal(answer.status(), isTaken ? 409 : expectedStatus(endpoint), answer.url());
    await page.keyboard.press("Escape");
    server.clock.advance(2000);
  }
  assert.deepEqual([...hosts], [server.url]);
  // The page reports what it has sent itself: refusals, and answers of which it no longer shows all.
  const ofThePage = complaints.filter((text) => !/\/v1\/|has been cancelled/.test(text));
  assert.deepEqual(ofThePage, []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`200: the page breaks no rule of axe in the ${colorScheme} theme`, {
    skip: skipsBrowser,
  }, async (t) => {
    const page = await openPage(await openBrowser(t), { colorScheme });
    await page.goto(`${server.url}/docs#tag/trades/GET/v1/trades`);
    await page.waitForSelector("text=Test Request");
    // The page is light until its script has read the preference.
    await page.waitForSelector(`body.${colorScheme}-mode`);
    await assertAccessible(page, colorScheme);
  });

test("400: any parameter", async () => {
  assertError(await server.request("GET", "/docs?theme=dark"), "VALIDATION_ERROR");
});
