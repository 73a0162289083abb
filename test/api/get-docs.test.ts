/** GET /docs and its script: the viewer of the API document, also in a real browser. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { referenceRoutes } from "../../src/api/docs/reference-routes.ts";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";

const source = await DataServer.open({ finalBlocks: 2, unfinalizedBlocks: 0 });
const server = await openTestServer({
  routes: [
    ...source.routes.filter(({ path }) => path === "/v1/openapi.json"),
    ...referenceRoutes(),
  ],
});
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
  const script = await fetch(server.url + address, { headers: { "accept-encoding": "gzip" } });
  assert.equal(script.status, 200);
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(script.headers.get("cache-control"), "private, max-age=86400");
  assert((await script.text()).length > 1_000_000);
});

test("200: the page shows an operation in a browser and contacts no other host", {
  skip: skipsBrowser,
}, async (t) => {
  const page = await openPage(await openBrowser(t), { viewport: { width: 1280, height: 900 } });
  const complaints = collectComplaints(page);
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  await page.goto(`${server.url}/docs#tag/data/GET/v1/trades`);
  await page.waitForSelector("text=Test Request");
  await page.waitForSelector("text=--header 'X-API-Key");
  assert.deepEqual([...hosts], [server.url]);
  assert.deepEqual(complaints, []);
});

test("400, 405: any parameter, and any other method", async () => {
  assertError(await server.request("GET", "/docs?theme=dark"), "VALIDATION_ERROR");
  assertError(await server.request("POST", "/docs"), "METHOD_NOT_ALLOWED");
});
