import assert from "node:assert/strict";
import { test } from "node:test";
import { firstSeqOf, type Seq, type TokenId, zeroHash } from "../base/ids.ts";
import type { TokenTotals } from "../market/market.ts";
import type { FillFilter } from "./fill-filter.ts";
import { type FillPage, type PageTotals, pageBound, withinLifetime } from "./page-bounds.ts";

const store = {
  coverage: { fromBlock: 1000, last: { number: 999_999, hash: zeroHash, timestamp: 2_000_000 } },
};
const page = { filter: {}, order: "desc", after: null, finalizedOnly: false, limit: 100 } as const;
const boundOf = (more: Partial<FillPage>) => pageBound(store, { ...page, ...more });
const tokenIds = ["0x1" as TokenId, "0x2" as TokenId];
const lastTrade = { seq: firstSeqOf(501_000), timestamp: 1_000_000 } as TokenTotals["lastTrade"];
const totalsOf = () => ({ trades: 500, lastTrade, firstTimestamp: 0, lastTimestamp: 1_000_000 });
const none = { trades: 0, lastTrade: null, firstTimestamp: 0, lastTimestamp: 0 };
const roles = ["maker", "direct"] as const;

test("a page of all trades ends within 10,000 blocks", () => {
  assert.equal(boundOf({}), firstSeqOf(990_000));
  assert.equal(boundOf({ after: firstSeqOf(500_000) }), firstSeqOf(490_000));
  assert.equal(boundOf({ order: "asc" }), firstSeqOf(11_000));
  assert.equal(boundOf({ order: "asc", after: firstSeqOf(500_000) }), firstSeqOf(510_000));
});

test("a page of tokens ends where twice its rows are expected", () => {
  // A fifth of 500,000 blocks has 200 of the 1,000 trades.
  assert.equal(boundOf({ filter: { tokenIds }, totalsOf }), firstSeqOf(401_000));
  const after = firstSeqOf(300_000);
  assert.equal(boundOf({ filter: { tokenIds }, totalsOf, after }), firstSeqOf(200_000));
  assert.equal(
    boundOf({ filter: { tokenIds }, totalsOf, after, order: "asc" }),
    firstSeqOf(400_000),
  );
});

test("trades of tokens are narrowed to the time from their first to their newest trade", () => {
  const times: Record<string, PageTotals> = {
    "0x1": { trades: 5, lastTrade, firstTimestamp: 300, lastTimestamp: 400 },
    "0x2": { trades: 1, lastTrade: null, firstTimestamp: 500, lastTimestamp: 500 },
  };
  const timesOf = (id: TokenId): PageTotals => times[id] ?? none;
  const narrowed = (filter: FillFilter) => withinLifetime({ roles, tokenIds, ...filter }, timesOf);
  assert.deepEqual(narrowed({}), { roles, tokenIds, timestampFrom: 300, timestampTo: 501 });
  const asked = narrowed({ side: "BUY", timestampFrom: 350, timestampTo: 450 });
  assert.deepEqual([asked.timestampFrom, asked.timestampTo], [350, 450]);
  const [first] = tokenIds;
  assert.equal(narrowed({ tokenIds: [first as TokenId] }).timestampTo, 401);
});

test("fills with summaries, other tokens and tokens without a trade are not narrowed", () => {
  const filters: FillFilter[] = [{ tokenIds }, { roles: ["taker"], tokenIds }, { roles }];
  for (const filter of filters) assert.deepEqual(withinLifetime(filter, totalsOf), filter);
  assert.deepEqual(
    withinLifetime({ roles, tokenIds }, () => none),
    { roles, tokenIds },
  );
  assert.deepEqual(withinLifetime({ roles, tokenIds }, undefined), { roles, tokenIds });
});

test("the bound is null when the range or the covered blocks end before it", () => {
  assert.equal(boundOf({ filter: { seqFrom: firstSeqOf(995_000) } }), null);
  assert.equal(boundOf({ order: "asc", filter: { seqTo: firstSeqOf(5000) } }), null);
  assert.equal(boundOf({ after: firstSeqOf(2000) }), null);
  assert.equal(boundOf({ filter: { tokenIds }, totalsOf: () => none }), null);
});

test("filters that an index serves, or whose rows can be anywhere, have no estimated bound", () => {
  assert.equal(boundOf({ filter: { txHash: zeroHash } }), undefined);
  assert.equal(boundOf({ filter: { timestampTo: 5 } }), undefined);
  assert.equal(boundOf({ filter: { tokenIds } }), undefined);
  assert.equal(boundOf({ filter: { tokenIds, side: "BUY" }, totalsOf }), undefined);
  assert.equal(boundOf({ filter: { tokenIds }, totalsOf, order: "asc" }), undefined);
  assert.equal(boundOf({ filter: { tokenIds: [] }, after: 5 as Seq, totalsOf }), undefined);
});
