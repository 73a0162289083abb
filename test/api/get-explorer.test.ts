/** GET / and GET /assets/{name}: the page and what it loads, as bytes. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundleExplorer } from "../../explorer/bundle-explorer.ts";
import {
  type ExplorerFiles,
  explorerRoutes,
  pageName,
} from "../../src/api/explorer/explorer-routes.ts";
import { webLimits } from "../../src/base/config/limits.ts";
import { cleanUp } from "../support/clean-up.ts";
import {
  assertError,
  assertEveryHeader,
  openTestServer,
  type TestServer,
} from "../support/open-test-server.ts";

suite("GET /", () => {
  let server: TestServer;
  let files: ExplorerFiles;
  let asset: string;
  let isBroken = false;
  before(async () => {
    files = await bundleExplorer();
    asset = [...files.keys()].find((name) => name !== pageName) ?? "";
    const explorer = explorerRoutes([], async () => {
      if (isBroken) throw new Error("a file is missing");
      return files;
    });
    server = await openTestServer({ routes: explorer.routes, unknownPage: explorer.page });
  });
  after(async () => server.close());

  async function get(path: string, accepted = "identity"): Promise<Response> {
    return fetch(server.url + path, { headers: { "Accept-Encoding": accepted } });
  }

  test("500 when the page cannot be built; the next request builds it", async () => {
    isBroken = true;
    assertError(await server.request("GET", "/"), "INTERNAL_ERROR");
    isBroken = false;
    assert.equal((await server.request("GET", "/")).status, 200);
  });

  test("200 without a key; the page loads its own assets and nothing else", async () => {
    const response = await get("/");
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    const page = await response.text();
    const loaded = [...page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(
      ([, address]) => address ?? "",
    );
    assert.equal(loaded.length, 3);
    const own = loaded.filter((address) => !address.startsWith("data:"));
    assert.equal(own.length, 2);
    for (const address of own) {
      assert(address.startsWith("./assets/"), address);
      assert.equal((await get(address.slice(1))).status, 200, address);
    }
  });

  test("the page, its script and NOTICE have the attribution that the chart library requires", async () => {
    const library = await readFile(
      fileURLToPath(import.meta.resolve("lightweight-charts")),
      "utf8",
    );
    const [copyright] = /Copyright \(c\) [0-9]+ TradingView, Inc\./.exec(library) ?? [];
    assert(copyright !== undefined);
    const page = await (await get("/")).text();
    assert.match(
      page,
      /<a href="https:\/\/www\.tradingview\.com\/"[^>]*>TradingView Lightweight Charts™</,
    );
    const script = await (await get(/\/assets\/[^"]+\.js/.exec(page)?.[0] ?? "")).text();
    const notice = await readFile(new URL("../../NOTICE", import.meta.url), "utf8");
    for (const text of [page, script, notice]) {
      assert(text.includes(copyright), copyright);
      assert(text.includes("https://www.apache.org/licenses/LICENSE-2.0"));
    }
    assert.match(notice, /https:\/\/www\.tradingview\.com\//);
  });

  test("200 at the path of every page, with any query string", async () => {
    const page = await (await get("/")).text();
    for (const [path, root] of [
      ["/trades?min_value=100/5", "./"],
      ["/market/a-slug?range=1D&x=%zz", "../"],
      ["/tx/0x1", "../"],
      ["/keys", "./"],
    ] as const) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      assert.equal(await response.text(), page.replaceAll('"./', `"${root}`));
    }
  });

  test("404 at an unknown path: the page for a browser, an error for a program and below /v1", async () => {
    const headers = { Accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };
    const page = await (await get("/")).text();
    for (const [path, root] of [
      ["/nothing", "./"],
      ["/market", "./"],
      ["/%E0%A4%A", "./"],
      ["/assets/explorer-0.js", "../"],
      ["/assets/index.html", "../"],
      ["/market/1/2", "../../"],
      ["/x".repeat(100), "/"],
    ] as const) {
      const response = await fetch(server.url + path, { headers });
      assert.equal(response.status, 404, path);
      assertEveryHeader(response.headers);
      assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(await response.text(), page.replaceAll('"./', `"${root}`));
      assertError(await server.request("GET", path), "NOT_FOUND");
    }
    assertError(await server.request("GET", "/v1/nothing", { headers }), "NOT_FOUND");
    assertError(await server.request("POST", "/nothing", { headers }), "NOT_FOUND");
  });

  test("429: an error for browsers too, while the files of an open page are sent", async () => {
    const { ipWindow } = server.access;
    const { ipRequestsPerMinute } = webLimits;
    const headers = { Accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };
    server.clock.advance(60_001);
    const nowMs = server.clock.monotonicMs();
    for (let sent = 0; sent < ipRequestsPerMinute; sent += 1)
      ipWindow.acquire("127.0.0.1", ipRequestsPerMinute, nowMs);
    assert.equal((await get(`/assets/${asset}`)).status, 200);
    assertError(await server.request("GET", "/market/1", { headers }), "RATE_LIMITED");
    server.clock.advance(60_001);
    assert.equal((await get("/")).status, 200);
  });

  test("its content security policy allows its own script and no other", async () => {
    const policy = (await get("/")).headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  });

  test("pictures of markets come from the configured origins only", async (t) => {
    const { routes } = explorerRoutes(["https://images.example"], async () => files);
    const other = await openTestServer({ routes });
    cleanUp(t, async () => other.close());
    const { headers, text } = await other.request("GET", "/");
    assert.match(
      String(headers.get("content-security-policy")),
      /; img-src data: https:\/\/images\.example; /,
    );
    assert.match(text, /<meta name="image-origins" content="https:\/\/images\.example">/);
  });

  test("200 with every header, compressed for clients that accept gzip", async () => {
    for (const [name, body] of files) {
      const path = name === pageName ? "/" : `/assets/${name}`;
      const plain = await get(path);
      assertEveryHeader(plain.headers);
      assert.equal(plain.headers.get("content-encoding"), null);
      const text = await plain.text();
      assert.equal(name === pageName ? text.replaceAll('"./', '"/') : text, body.toString());
      const raw = await server.sendRaw(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br;q=1, gzip;q=0.5\r\nConnection: close\r\n\r\n`,
      );
      assert.match(raw, /content-encoding: gzip/i);
    }
  });

  test("assets can be cached for a year, the page cannot be cached", async () => {
    assert.equal((await get("/")).headers.get("cache-control"), "private, max-age=0");
    const response = await get(`/assets/${asset}`);
    assert.equal(response.headers.get("cache-control"), "private, max-age=31536000, immutable");
  });

  test("all files together are smaller than 120 KB when compressed", async () => {
    const sizes = await Promise.all(
      [...files.keys()].map(async (name) => {
        const response = await get(name === pageName ? "/" : `/assets/${name}`, "gzip");
        return Number(response.headers.get("content-length"));
      }),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes < 120_000, `${bytes} bytes`);
  });

  test("404 for an asset of another version", async () => {
    assertError(await server.request("GET", "/assets/explorer-0.js"), "NOT_FOUND");
    assertError(await server.request("GET", "/assets/..%2f..%2fpackage.json"), "NOT_FOUND");
  });
});
