import assert from "node:assert/strict";
import { test } from "node:test";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import { type Seq, type TokenId, toFirstSeq, zeroHash } from "../base/ids.ts";
import type { TokenTotals } from "../market/market.ts";
import type { FillFilter } from "./fill-filter.ts";
import { type FillPage, type PageTotals, pageBound, withinLifetime } from "./page-bounds.ts";

const store = {
  coverage: { fromBlock: 1000, last: { number: 999_999, hash: zeroHash, timestamp: 2_000_000 } },
};
const page = { filter: {}, order: "desc", after: null, finalizedOnly: false, limit: 100 } as const;
const getBound = (more: Partial<FillPage>) => pageBound(store, { ...page, ...more });
const tokenIds = ["0x1" as TokenId, "0x2" as TokenId];
const lastTrade = { seq: toFirstSeq(501_000), timestamp: 1_000_000 } as TokenTotals["lastTrade"];
const getTotals = () => ({ trades: 500, lastTrade, firstTimestamp: 0, lastTimestamp: 1_000_000 });
const tokens = { getTotals, getPair: () => [], contracts: knownContracts() };
const none = { trades: 0, lastTrade: null, firstTimestamp: 0, lastTimestamp: 0 };
const roles = ["maker", "direct"] as const;

test("a page of all trades ends within 10,000 blocks", () => {
  assert.equal(getBound({}), toFirstSeq(990_000));
  assert.equal(getBound({ after: toFirstSeq(500_000) }), toFirstSeq(490_000));
  assert.equal(getBound({ order: "asc" }), toFirstSeq(11_000));
  assert.equal(getBound({ order: "asc", after: toFirstSeq(500_000) }), toFirstSeq(510_000));
});

test("a page of tokens ends where twice its rows are expected", () => {
  // A fifth of 500,000 blocks has 200 of the 1,000 trades.
  assert.equal(getBound({ filter: { tokenIds }, tokens }), toFirstSeq(401_000));
  const after = toFirstSeq(300_000);
  assert.equal(getBound({ filter: { tokenIds }, tokens, after }), toFirstSeq(200_000));
  assert.equal(
    getBound({ filter: { tokenIds }, tokens, after, order: "asc" }),
    toFirstSeq(400_000),
  );
});

test("trades of tokens are narrowed to the time from their first to their newest trade", () => {
  const times: Record<string, PageTotals> = {
    "0x1": { trades: 5, lastTrade, firstTimestamp: 300, lastTimestamp: 400 },
    "0x2": { trades: 1, lastTrade: null, firstTimestamp: 500, lastTimestamp: 500 },
  };
  const getTimes = (id: TokenId): PageTotals => times[id] ?? none;
  const narrowed = (filter: FillFilter) =>
    withinLifetime({ roles, tokenIds, ...filter }, { getTotals: getTimes });
  assert.deepEqual(narrowed({}), { roles, tokenIds, timestampFrom: 300, timestampTo: 501 });
  const requested = narrowed({ side: "BUY", timestampFrom: 350, timestampTo: 450 });
  assert.deepEqual([requested.timestampFrom, requested.timestampTo], [350, 450]);
  const [first] = tokenIds;
  assert.equal(narrowed({ tokenIds: [first as TokenId] }).timestampTo, 401);
});

test("fills with summaries, other tokens and tokens without a trade are not narrowed", () => {
  const filters: FillFilter[] = [{ tokenIds }, { roles: ["taker"], tokenIds }, { roles }];
  for (const filter of filters) assert.deepEqual(withinLifetime(filter, tokens), filter);
  assert.deepEqual(withinLifetime({ roles, tokenIds }, { getTotals: () => none }), {
    roles,
    tokenIds,
  });
  assert.deepEqual(withinLifetime({ roles, tokenIds }, undefined), { roles, tokenIds });
});

test("the bound is null when the range or the covered blocks end before it", () => {
  assert.equal(getBound({ filter: { seqFrom: toFirstSeq(995_000) } }), null);
  assert.equal(getBound({ order: "asc", filter: { seqTo: toFirstSeq(5000) } }), null);
  assert.equal(getBound({ after: toFirstSeq(2000) }), null);
  assert.equal(
    getBound({ filter: { tokenIds }, tokens: { ...tokens, getTotals: () => none } }),
    null,
  );
});

test("filters that an index serves, or whose rows can be anywhere, have no estimated bound", () => {
  assert.equal(getBound({ filter: { txHash: zeroHash } }), undefined);
  assert.equal(getBound({ filter: { timestampTo: 5 } }), undefined);
  assert.equal(getBound({ filter: { tokenIds } }), undefined);
  assert.equal(getBound({ filter: { tokenIds, side: "BUY" }, tokens }), undefined);
  assert.equal(getBound({ filter: { tokenIds }, tokens, order: "asc" }), undefined);
  assert.equal(getBound({ filter: { tokenIds: [] }, after: 5 as Seq, tokens }), undefined);
});
