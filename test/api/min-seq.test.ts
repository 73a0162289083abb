/** No node answers a client with data older than the client has seen on another node. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Cursors } from "../../src/api/route/cursor.ts";
import { storeLimits } from "../../src/base/config/limits.ts";
import { toFirstSeq } from "../../src/base/ids.ts";
import { DataServer } from "../support/open-data-server.ts";

const server = await DataServer.open();
after(() => server.close());

const { access } = server.edge;

test("200: an indexed position is answered immediately, by lists and single resources", async () => {
  const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
  const seq = toFirstSeq(server.newestBlock + 1) - 1;
  const paths = [
    "/v1/trades?limit=1",
    "/v1/markets?limit=1",
    `/v1/markets/${String(trade["condition_id"])}?`,
    `/v1/candles/${String(trade["token_id"])}?limit=1`,
    `/v1/price/${String(trade["token_id"])}?`,
  ];
  for (const path of paths) {
    const startedAt = performance.now();
    assert.equal((await server.get(`${path}&min_seq=${seq}`)).status, 200, path);
    assert(performance.now() - startedAt < 2_000, path);
  }
});

test("200: waits for a position that is indexed soon", async () => {
  const next = server.newestBlock + 1;
  const requested = server.get(`/v1/trades?limit=1&min_seq=${toFirstSeq(next)}`);
  await server.advance({ unfinalized: next });
  const { status, body } = await requested;
  assert.equal(status, 200);
  assert((body as { meta: { indexed_block: number } }).meta.indexed_block >= next);
});

test("200: a cursor of a node that is ahead waits for its position, then continues", async () => {
  const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
  const lists = [
    { path: "/v1/resolutions", query: { order: "desc", status: "confirmed" } },
    {
      // An id of the market that is not its condition id.
      path: `/v1/markets/${String(trade["token_id"])}/holders`,
      query: { include_contracts: false, include_pnl: false },
    },
  ];
  for (const { path, query } of lists) {
    const next = server.newestBlock + 1;
    const ahead = new Cursors(access.keys.deriveSecret("cursors"), () => toFirstSeq(next));
    const { pagination } = await server.getPage(`${path}?limit=1`);
    assert(pagination.next_cursor !== null);
    const here = new Cursors(access.keys.deriveSecret("cursors"), () => 0);
    const position = here.decode(path, { ...query, cursor: pagination.next_cursor });
    assert(position !== null);
    const cursor = encodeURIComponent(ahead.encode(path, query, position));
    const requested = server.get(`${path}?limit=1&cursor=${cursor}`);
    await server.advance({ unfinalized: next });
    assert.equal((await requested).status, 200, path);
  }
});

test("503: a position that is not indexed in time", async () => {
  const seq = toFirstSeq(server.newestBlock + 2);
  const { status, headers, body } = await server.get(`/v1/trades?min_seq=${seq}`);
  assert.equal(status, 503);
  assert.equal(headers.get("retry-after"), "2");
  assert.match(JSON.stringify(body), /min_seq is not indexed yet: the last position is/);
});

test("503: immediately, if too many requests wait already", async () => {
  const { positionWaitersMax } = storeLimits;
  const position = toFirstSeq(server.newestBlock + 2);
  const waiting = Array.from({ length: positionWaitersMax }, () =>
    server.store.whenReached(position, { positionWaitMs: 60_000, positionWaitersMax }),
  );
  const startedAt = performance.now();
  const { status, headers } = await server.get(`/v1/trades?min_seq=${position}`);
  assert.equal(status, 503);
  assert(headers.has("retry-after"));
  assert(performance.now() - startedAt < storeLimits.positionWaitMs);
  await server.advance({ unfinalized: server.newestBlock + 2 });
  assert((await Promise.all(waiting)).every(Boolean));
});

test("400: a position too far ahead of the chain", async () => {
  const seq = toFirstSeq(server.newestBlock + 100_000);
  const { status, body } = await server.get(`/v1/trades?min_seq=${seq}`);
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /min_seq.*is ahead of the chain/);
});

test("400: a forged cursor is refused without a wait, whatever position it names", async () => {
  const forged = Buffer.concat([
    Buffer.alloc(16),
    Buffer.from(`[${toFirstSeq(server.newestBlock + 3)},1]`),
  ]);
  const startedAt = performance.now();
  const { status, body } = await server.get(`/v1/trades?cursor=${forged.toString("base64url")}`);
  assert.equal(status, 400);
  assert.equal((body["error"] as { code: string }).code, "INVALID_CURSOR");
  assert(performance.now() - startedAt < storeLimits.positionWaitMs, "it did not wait");
});
