/** Pages of fills, which are first searched in the range where the totals of the tokens suggest them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Seq, TokenId } from "../../src/base/ids.ts";
import type { TokenTotals } from "../../src/market/market.ts";
import { type FillFilter, fillCondition } from "../../src/query/fill-filter.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const blocks = getFacts(buildChain(fc.sample(anyBlockPlan(4), { seed: testSeed, numRuns: 40 })));
const fills = getFills(blocks);
const tokens = [...new Set(fills.map(({ tokenId }) => tokenId))];
const newest = fills.at(-1)?.seq ?? 0;
const roles = ["maker", "direct"] as const;
const trades = fills.filter(({ role }) => role !== "taker");

test("a page has the rows after the previous page, even if number and last trade suggest another range", async (t) => {
  const { store } = await StoreFolder.open(t);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [10] });
  const anySeq = fc.option(fc.integer({ min: 0, max: newest + 1 }), { nil: undefined });
  const anyTotals = fc.record({
    trades: fc.integer({ min: 0, max: 10_000 }),
    lastSeq: fc.integer({ min: 0, max: newest }),
    timestamp: fc.integer({ min: 0, max: 2_000_000_000 }),
  });
  const anyPage = fc.record({
    tokenIds: fc.option(
      fc.uniqueArray(fc.constantFrom(...tokens), { minLength: 1, maxLength: 4 }),
      { nil: undefined },
    ),
    order: fc.constantFrom("asc", "desc"),
    side: fc.constantFrom(undefined, undefined, "BUY"),
    limit: fc.integer({ min: 1, max: 60 }),
    after: anySeq,
    seqFrom: anySeq,
    seqTo: anySeq,
    totals: anyTotals,
  });
  const property = fc.asyncProperty(
    anyPage,
    async ({ totals, order, limit, after, ...requested }) => {
      const { lastSeq, timestamp } = totals;
      const lastTrade = { seq: lastSeq as Seq, timestamp } as TokenTotals["lastTrade"];
      const filter = { ...requested, roles } as FillFilter;
      const page = await readFills(store, {
        filter,
        order,
        after: (after ?? null) as Seq | null,
        finalizedOnly: true,
        limit,
        getTotals: (tokenId) => ({ trades: totals.trades, lastTrade, ...getTimes(tokenId) }),
      });
      const isBehind = (seq: Seq) =>
        after === undefined || (order === "asc" ? seq > after : seq < after);
      const all = fills.filter((fill) => fillCondition(filter).holds(fill) && isBehind(fill.seq));
      const expected = (order === "asc" ? all : all.toReversed()).slice(0, limit);
      assert.deepEqual(
        page.map(({ seq }) => seq),
        expected.map(({ seq }) => seq),
      );
    },
  );
  await fc.assert(property, propertySettings(400));
});

/** The times of the first and the newest trade of a token, in Unix seconds; 0 without a trade. */
function getTimes(tokenId: TokenId): Pick<TokenTotals, "firstTimestamp" | "lastTimestamp"> {
  const times = trades.flatMap((trade) => (trade.tokenId === tokenId ? [trade.timestamp] : []));
  return { firstTimestamp: times[0] ?? 0, lastTimestamp: times.at(-1) ?? 0 };
}
