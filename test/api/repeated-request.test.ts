/** Cached responses are sent again as bytes. Clients must see no difference. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { formatTokenId } from "../../src/base/ids.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, type TestAnswer } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 850, unfinalizedBlocks: 40 });
const { edge } = server;
after(() => server.close());

const tokens = [...new Set(server.fills.map(({ tokenId }) => tokenId))].slice(-4);
const paths = [
  "/v1/trades",
  "/v1/trades?limit=7&status=finalized",
  `/v1/price?token_ids=${tokens.map(formatTokenId).join(",")},1`,
  ...tokens
    .map(formatTokenId)
    .flatMap((id) => [
      `/v1/price/${id}`,
      `/v1/trades/market/${id}?include_complement=true`,
      `/v1/candles/${id}?resolution=1m`,
      `/v1/candles/${id}?resolution=1h&fill=previous&limit=30`,
    ]),
];

function withoutOwn({ body, headers }: TestAnswer): unknown {
  const own = ["x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "date"];
  const { request_id, ...meta } = body["meta"] as Row;
  assert.equal(request_id, headers.get("x-request-id"));
  const shared = Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
  return { body: { ...body, meta }, headers: shared };
}

/** Returns another spelling of the path, which has the same meaning but is not cached. */
let spellings = 0;
function respelled(path: string): string {
  spellings += 1;
  return `${path}${path.includes("?") ? "" : "?"}${"&".repeat(spellings)}`;
}

test("200: a repeated request gets the same response as a first one, at every height", async () => {
  const end = server.newestBlock + 36;
  for (let unfinalized = server.newestBlock; unfinalized <= end; unfinalized += 9) {
    for (const upTo of [{ unfinalized }, { final: unfinalized - 20 }]) {
      await server.advance(upTo);
      for (const path of paths) {
        const fresh = withoutOwn(await server.get(respelled(path)));
        // Long responses are cached at their second request.
        for (let times = 0; times < 3; times += 1) {
          assert.deepEqual(withoutOwn(await server.get(path)), fresh, path);
        }
      }
    }
  }
});

test("200: a cached response stays correct when a reorg reverts blocks and when they return", async () => {
  const reported = server.facts.filter(({ number }) => number <= server.newestBlock);
  const before = await Promise.all(paths.map((path) => server.get(path)));
  for (const depth of [1, 7, 20]) {
    const taken = reported.slice(-depth);
    const safeBlock = (taken[0]?.number ?? 0) - 1;
    for (const blocks of [[], taken]) {
      await server.fork(safeBlock, blocks);
      for (const path of paths) {
        const kept = withoutOwn(await server.get(path));
        assert.deepEqual(kept, withoutOwn(await server.get(respelled(path))), path);
      }
    }
  }
  const after = await Promise.all(paths.map((path) => server.get(path)));
  assert.deepEqual(after.map(withoutOwn), before.map(withoutOwn));
});

test("200: a token that is requested twice has each trade once", async () => {
  const end = server.newestBlock + 24;
  for (let unfinalized = server.newestBlock; unfinalized <= end; unfinalized += 8) {
    await server.advance({ unfinalized });
    await server.advance({ final: unfinalized - 10 });
    for (const id of tokens.map(formatTokenId)) {
      const [once, twice] = await Promise.all(
        [id, `${id},0${id}`].map((ids) => server.getPage(`/v1/trades?token_id=${ids}&limit=50`)),
      );
      assert.deepEqual(twice?.data, once?.data);
    }
  }
});

test("200: a cached response has its own request id and uses up one slot of the limit", async () => {
  const input = { name: "counted", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  const { value: key } = await edge.access.keys.create(input);
  const first = await edge.request("GET", "/v1/trades", { key });
  const second = await edge.request("GET", "/v1/trades", { key });
  assert.notEqual(first.headers.get("x-request-id"), second.headers.get("x-request-id"));
  const [before, now] = [assertEveryHeader(first.headers), assertEveryHeader(second.headers)];
  assert.equal(before.remaining - now.remaining, 1);
  const headers = { "x-request-id": "mine-1" };
  const named = await edge.request("GET", "/v1/trades", { key: edge.keys.read, headers });
  assert.equal(named.headers.get("x-request-id"), "mine-1");
  assert.equal((named.body["meta"] as Row)["request_id"], "mine-1");
});

test("200: a cached response has the header lines of a first one, and keeps or closes the connection as requested", async () => {
  const [token] = tokens;
  assert(token !== undefined);
  const paths = ["/v1/trades?limit=60", `/v1/price/${formatTokenId(token)}`];
  for (const path of paths) {
    for (let times = 0; times < 2; times += 1) await server.get(path);
    const getHead = async (target: string, connection: string) => {
      const head = `host: a\r\nx-api-key: ${edge.keys.read}\r\nx-request-id: one\r\n`;
      const last = `GET /v1/nothing HTTP/1.1\r\n${head}connection: close\r\n\r\n`;
      const message = `GET ${target} HTTP/1.1\r\n${head}connection: ${connection}\r\n\r\n`;
      const sent = connection === "close" ? message : message + last;
      const [found = ""] = (await edge.sendRaw(sent)).split("\r\n\r\n");
      assert.match(found, /^HTTP\/1\.1 200 OK\r\n/);
      const own = /^(?:date|x-ratelimit-remaining|x-ratelimit-reset|ratelimit): .+/i;
      const lines = found.split("\r\n").map((line) => line.replace(own, ""));
      return lines.map((line) => line.replace(/^[^:]+:/, (name) => name.toLowerCase())).toSorted();
    };
    const fresh = await getHead(respelled(path), "keep-alive");
    assert.deepEqual(await getHead(path, "keep-alive"), fresh);
    assert(fresh.some((line) => line.startsWith("keep-alive: timeout=")));
    const ending = await getHead(respelled(path), "close");
    assert.deepEqual(await getHead(path, "close"), ending);
    assert(ending.includes("connection: close"));
  }
});

test("400: a body and a missing host are refused even if the response is cached", async () => {
  await server.get("/v1/trades");
  const key = edge.keys.read;
  const head = "GET /v1/trades HTTP/1.1\r\nx-api-key: KEY\r\nconnection: close\r\n";
  const bare = head.replace("KEY", key);
  assert.match(await edge.sendRaw(`${bare}\r\n`), /^HTTP\/1.1 400 .*host header is missing/s);
  const withBody = `${bare}host: a\r\ncontent-length: 2\r\n\r\n{}`;
  assert.match(await edge.sendRaw(withBody), /^HTTP\/1.1 400 .*body is not accepted here/s);
  assert.match(await edge.sendRaw(`${bare}host: a\r\n\r\n`), /^HTTP\/1.1 200 /);
});

test("401, 429: requests are refused before a cached response is sent, and counted once", async () => {
  await server.get("/v1/trades");
  assertError(await edge.request("GET", "/v1/trades"), "UNAUTHORIZED");
  const input = { name: "busy", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  const { key, value } = await edge.access.keys.create(input);
  for (let sent = 0; sent < 1000; sent += 1) {
    const answer = await edge.request("GET", "/v1/trades?limit=1", { key: value });
    assert.equal(assertEveryHeader(answer.headers).remaining, 999 - sent);
  }
  assertError(await edge.request("GET", "/v1/trades?limit=1", { key: value }), "RATE_LIMITED");
  edge.clock.advance(60_000);
  assert.equal((await edge.request("GET", "/v1/trades?limit=1", { key: value })).status, 200);
  const { value: next } = await edge.access.keys.rotate(key.id, 0);
  assertError(await edge.request("GET", "/v1/trades?limit=1", { key: value }), "UNAUTHORIZED");
  assert.equal((await edge.request("GET", "/v1/trades?limit=1", { key: next })).status, 200);
  await edge.access.keys.revoke(key.id);
  assertError(await edge.request("GET", "/v1/trades?limit=1", { key: next }), "UNAUTHORIZED");
});

suite("304", () => {
  const [token] = tokens;
  assert(token !== undefined);
  const closed = `/v1/candles/${formatTokenId(token)}?resolution=1m&end=${server.state.dayWindow.now - 120}`;
  const open = `/v1/candles/${formatTokenId(tokens.at(-1) ?? token)}?resolution=1d`;
  const market = server.state.directory.getSlot(token)?.conditionId ?? "";

  for (const path of ["/v1/markets?limit=2", `/v1/markets/${market}`, closed]) {
    test(`for a client that has ${path.replace(/[0-9]{20,}/, "TOKEN")}`, async () => {
      const first = await server.get(path);
      const etag = first.headers.get("etag") ?? "";
      assert.match(etag, /^W\/"[\w-]{22}"$/);
      const given = [etag, etag.slice(2), `"other", ${etag}`, "*", ` ${etag},"x,y"`];
      for (const method of ["GET", "GET", "HEAD"]) {
        for (const unfinalized of given) {
          const headers = { "if-none-match": unfinalized };
          const answer = await edge.request(method, path, { key: edge.keys.read, headers });
          assert.equal(answer.status, 304, `${method} ${unfinalized}`);
          assert.equal(answer.text, "");
          assertEveryHeader(answer.headers);
          assert.equal(answer.headers.get("etag"), etag);
          assert.equal(answer.headers.get("content-type"), null);
          assert.equal(answer.headers.get("content-length"), null);
          assert.equal(answer.headers.get("cache-control"), first.headers.get("cache-control"));
        }
      }
      for (const unfinalized of ['"other"', "", etag.slice(3, -1), `W/"x", "${etag}"`]) {
        const headers = { "if-none-match": unfinalized };
        const answer = await edge.request("GET", path, { key: edge.keys.read, headers });
        assert.equal(answer.status, 200, unfinalized);
      }
      const headers = { "if-none-match": etag };
      assertError(await edge.request("GET", path, { headers }), "UNAUTHORIZED");
    });
  }

  test("not for open candles, which have no tag", async () => {
    const answer = await server.get(open);
    assert.equal(answer.headers.get("etag"), null);
    const headers = { "if-none-match": "*" };
    const again = await edge.request("GET", open, { key: edge.keys.read, headers });
    assert.equal(again.status, 200);
  });
});
