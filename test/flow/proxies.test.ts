/** The service behind the proxies of deploy/proxies, at the root and below a path. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { cleanUp } from "../support/clean-up.ts";
import { openProxy, proxies, skipsProxy } from "../support/proxy.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { adminKey } from "../support/service.ts";

const recording = readRecording("contracts-gen2");
const lastTrade = recording.trades.at(-1);
assert(lastTrade !== undefined);
const settings = { ODDWIRE_TRUSTED_PROXIES: "127.0.0.1", ODDWIRE_KEEP_ALIVE_SECONDS: "620" };

/** Sends a GET from another loopback address, as a client that says to be a third one. */
async function getFrom(localAddress: string, url: string, key: string): Promise<number> {
  const headers = { "x-api-key": key, "x-forwarded-for": "203.0.113.9" };
  const sent = request(url, { localAddress, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode;
}

test("a service behind a proxy", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.setHead(lastTrade.block_number - 1);
  stage.node.setFinalized({ behindHead: 50 });
  const service = await stage.startService([stage.node.wsUrl], settings);
  await service.waitIndexed(lastTrade.block_number - 1);
  const { headers } = await service.request("/v1/trades");
  assert.equal(headers.get("keep-alive"), "timeout=620");
  const local = new OddwireClient({ url: service.baseUrl, key: adminKey });
  const { key: bound } = await local.createKey({ name: "bound", allowed_ips: ["127.0.0.5"] });

  for (const proxy of proxies)
    await t.test(proxy, { skip: skipsProxy(proxy) }, async (t) => {
      const url = await openProxy(t, proxy, service.baseUrl);
      for (const base of [url, `${url}/oddwire`]) {
        const client = new OddwireClient({ url: `${base}/`, key: adminKey });
        const { data } = await client.trades({ limit: 2 }).page();
        assert.deepEqual(data, (await local.trades({ limit: 2 }).page()).data);
        for await (const frame of client.stream({ channel: { type: "trades" }, snapshot: 2 }))
          if (frame.type === "snapshot") {
            assert.equal(frame.data.length, 2);
            break;
          }

        const read = (path: string) => fetch(base + path, { headers: { "x-api-key": adminKey } });
        const file = await read("/v1/trades?format=ndjson");
        const rows = (await file.text()).trimEnd().split("\n").length;
        assert.equal(String(rows), file.headers.get("x-row-count"));

        const moved = await read("/v1/trades/?limit=1");
        assert.equal(moved.url, `${base}/v1/trades?limit=1`);
        assert.equal((await read("/v1/stats//")).url, `${base}/v1/stats`);
        assert.equal((await read("/v1//stats")).url, `${base}/v1/stats`);
        const [, next = ""] = /<(.+)>/.exec(moved.headers.get("link") ?? "") ?? [];
        const linked = await fetch(new URL(next, moved.url), {
          headers: { "x-api-key": adminKey },
        });
        assert.equal(linked.status, 200, next);
        const document = await read("/v1/openapi.json");
        const { servers } = (await document.json()) as { readonly servers: [{ url: string }] };
        assert.equal(new URL(servers[0].url, document.url).href, `${base}/`);

        assert.equal(await getFrom("127.0.0.5", `${base}/v1/trades`, bound), 200);
        assert.equal(await getFrom("127.0.0.6", `${base}/v1/trades`, bound), 401);
      }
    });

  const skip = skipsBrowser === false ? skipsProxy("nginx") : skipsBrowser;
  await t.test("its pages below a path, in a browser", { skip }, async (t) => {
    const base = `${await openProxy(t, "nginx", service.baseUrl)}/oddwire`;
    const page = await openPage(await openBrowser(t), { viewport: { width: 1280, height: 900 } });
    const complaints = collectComplaints(page);
    const outside: string[] = [];
    page.on("request", (sent) => {
      if (!sent.url().startsWith(`${base}/`) && !/^(?:data|blob):/.test(sent.url()))
        outside.push(sent.url());
    });

    await page.goto(`${base}/?status=all#key=${adminKey}`);
    await page.click("[data-row]");
    await page.waitForURL(`${base}/market/*`);
    await page.click("nav >> text=Trades");
    await page.waitForURL(`${base}/trades`);
    await page.waitForSelector(".live-state.live");
    stage.node.setHead(lastTrade.block_number);
    await page.click(`tr.fresh[data-id^="${lastTrade.tx_hash}"] a[href*="/market/"]`);
    await page.waitForURL(`${base}/market/*`);
    await page.reload();
    await page.waitForSelector(".outcome");
    await page.click("button.api");
    await page.waitForSelector(`pre:has-text("'${base}/v1/")`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForURL(`${base}/status`);
    await page.fill("#search", lastTrade.maker);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${base}/wallet/*`);

    await page.click("footer >> text=API reference");
    await page.fill("input[placeholder='ow_read_...']", adminKey);
    await page.evaluate("location.hash = 'tag/trades/GET/v1/trades'");
    const operation = page.locator(`[id="api-1/tag/trades/GET/v1/trades"]`);
    await operation.locator(`pre:has-text("curl ${base}/v1/trades")`).first().waitFor();
    await operation.locator("button:has-text('Test Request')").click();
    const [answer] = await Promise.all([
      page.waitForResponse((one) => one.url().startsWith(`${base}/v1/trades`)),
      page.click("[aria-label='API Client'] [data-addressbar-action=send]:visible"),
    ]);
    assert.equal(answer.status(), 200);
    assert.deepEqual(outside, []);
    assert.deepEqual(complaints, []);
  });
});

/** Opens a server that sends a row and waits for the returned function, which ends the body or breaks the connection. */
async function openSlowServer(t: TestContext) {
  let sent: ServerResponse | null = null;
  const server = createServer((_request, response) => {
    sent = response;
    response.setHeader("content-type", "application/x-ndjson");
    response.write('{"row":1}\n');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(t, async () => server.close().closeAllConnections());
  const end = (isWhole: boolean): void => {
    if (isWhole) sent?.end('{"row":2}\n');
    else sent?.socket?.resetAndDestroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end };
}

for (const proxy of proxies)
  test(`${proxy} streams each row immediately and passes on an aborted file`, {
    skip: skipsProxy(proxy),
  }, async (t) => {
    const { url: slow, end } = await openSlowServer(t);
    const url = await openProxy(t, proxy, slow);
    // Caddy ends a body that breaks off as if it were whole, so its clients compare X-Row-Count.
    for (const isWhole of proxy === "caddy" ? [true] : [true, false]) {
      const { body } = await fetch(`${url}/oddwire/v1/trades`);
      const reader = body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      assert.equal(String(Buffer.from(value ?? [])), '{"row":1}\n');
      end(isWhole);
      const rest = await readRest(reader);
      assert.equal(rest, isWhole ? '{"row":2}\n' : null);
    }
  });

/** Returns the rest of a body; `null` if it breaks off. */
async function readRest(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  try {
    for (;;) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) return Buffer.concat(chunks).toString();
      chunks.push(value);
    }
  } catch {
    return null;
  }
}
