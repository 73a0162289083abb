/** Pages of fills, which are first searched in the range where the totals of the tokens suggest them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Seq, TokenId } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { LedgerRow } from "../../src/market/ledger/ledger-row.ts";
import type { TokenTotals } from "../../src/market/market.ts";
import { type FillFilter, toFillCondition } from "../../src/query/fill-filter.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const blocks = withTrades(
  getFacts(buildChain(fc.sample(anyBlockPlan(4), { seed: testSeed, numRuns: 40 }))),
);
const fills = getFills(blocks);
const tokens = [...new Set(fills.map(({ tokenId }) => tokenId))];
const anyOther = `0x${"f".repeat(64)}` as TokenId;
const newest = fills.at(-1)?.seq ?? 0;
const roles = ["maker", "direct"] as const;
const trades = fills.filter(({ role }) => role !== "taker");

test("a page has the rows after the previous page, even if number and last trade suggest another range", async (t) => {
  const { store } = await StoreFolder.open(t);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [10] });
  const anySeq = fc.option(fc.integer({ min: 0, max: newest + 1 }), { nil: undefined });
  const anyWallet = fc.constantFrom(...fills.flatMap(({ maker, taker }) => [maker, taker]));
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
    // The end of the largest block that can be requested.
    seqTo: fc.oneof({ weight: 9, arbitrary: anySeq }, fc.constant(9_007_199_254_000_000)),
    totals: anyTotals,
    wallet: fc.option(fc.tuple(fc.constantFrom("maker", "taker", "wallet"), anyWallet)),
    arePairsKnown: fc.boolean(),
  });
  const property = fc.asyncProperty(
    anyPage,
    async ({ totals, order, limit, after, wallet, arePairsKnown, ...requested }) => {
      const { lastSeq, timestamp } = totals;
      const lastTrade = { seq: lastSeq as Seq, timestamp } as TokenTotals["lastTrade"];
      const filter = {
        ...requested,
        roles,
        ...(wallet && { [wallet[0]]: wallet[1] }),
      } as FillFilter;
      const page = await readFills(store, {
        filter,
        order,
        after: (after ?? null) as Seq | null,
        finalizedOnly: true,
        limit,
        tokens: {
          getTotals: (tokenId) => ({ trades: totals.trades, lastTrade, ...getTimes(tokenId) }),
          getPair: (tokenId) => (arePairsKnown ? getPair(tokenId) : [tokenId]),
          contracts: knownContracts(),
        },
      });
      const isBehind = (seq: Seq) =>
        after === undefined || (order === "asc" ? seq > after : seq < after);
      const all = fills.filter((fill) => toFillCondition(filter).holds(fill) && isBehind(fill.seq));
      const expected = (order === "asc" ? all : all.toReversed()).slice(0, limit);
      assert.deepEqual(
        page.map(({ seq }) => seq),
        expected.map(({ seq }) => seq),
      );
    },
  );
  await fc.assert(property, propertySettings(400));
});

test("a page of a wallet reads only the blocks of its trades, even if few pass the filter", async (t) => {
  const { store } = await StoreFolder.open(t);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [10] });
  const wallets = Map.groupBy(trades, ({ maker }) => maker);
  const [[wallet, own] = []] = [...wallets].toSorted(([, a], [, b]) => b.length - a.length);
  assert(wallet !== undefined && own !== undefined);
  const smallest = own.reduce(
    (least, { size }) => (size < least ? size : least),
    own[0]?.size ?? 0n,
  );
  const queries = (["query", "queryBinary"] as const).map((name) =>
    t.mock.method(store.engine, name),
  );
  for (const order of ["asc", "desc"] as const) {
    const page = await readFills(store, {
      filter: { roles, wallet, sizeMax: smallest },
      order,
      after: null,
      finalizedOnly: true,
      limit: 1,
      tokens: {
        getTotals: () => ({ trades: 0, lastTrade: null, firstTimestamp: 0, lastTimestamp: 0 }),
        getPair,
        contracts: knownContracts(),
      },
    });
    assert.equal(page.length, 1);
  }
  const calls = queries.flatMap(({ mock }) => mock.calls.map(({ arguments: [sql] }) => sql));
  const read = calls.map((sql) => /FROM (\w+)/.exec(sql)?.[1]);
  assert.deepEqual(new Set(read), new Set(["ledger", "fills"]));
  // A few of all blocks.
  const places = calls.filter((sql) => sql.includes("FROM fills"));
  assert(places.every((sql) => /intDiv\(seq, 1000000\) IN \([0-9, ]+\)/.test(sql)));
});

/** Adds the ledgers of all trades: a row of the owner of each order, and of the operator of a fill without a match. */
function withTrades(facts: readonly BlockFacts[]): BlockFacts[] {
  return facts.map((block) => {
    const ledger = block.fills.flatMap((fill): LedgerRow[] => {
      const { seq, timestamp, txHash, role, maker, taker, makerTokenId, size, value, fee } = fill;
      const amounts = { shares: size, cash: value, fee, feeShares: 0n };
      const row = {
        seq,
        sub: 0,
        timestamp,
        txHash,
        tokenId: makerTokenId,
        ...amounts,
        nature: null,
      };
      const own = { ...row, kind: "trade", counterparty: taker, via: null } as const;
      const trade = { ...own, wallet: maker, role: role === "taker" ? role : "maker" } as const;
      const operator = { ...own, wallet: taker, role: "operator", sub: 65_536 } as const;
      return role === "direct" ? [trade, operator] : [trade];
    });
    return { ...block, ledger };
  });
}

/** A token and its complement, as far as mints and merges show it. */
function getPair(tokenId: TokenId): readonly TokenId[] {
  const other = fills.find(
    (fill) =>
      fill.tokenId !== fill.makerTokenId && [fill.tokenId, fill.makerTokenId].includes(tokenId),
  );
  // A token without a mint or a merge is paired with any other one.
  return other === undefined ? [tokenId, anyOther] : [other.tokenId, other.makerTokenId];
}

/** The times of the first and the newest trade of a token, in Unix seconds; 0 without a trade. */
function getTimes(tokenId: TokenId): Pick<TokenTotals, "firstTimestamp" | "lastTimestamp"> {
  const times = trades.flatMap((trade) => (trade.tokenId === tokenId ? [trade.timestamp] : []));
  return { firstTimestamp: times[0] ?? 0, lastTimestamp: times.at(-1) ?? 0 };
}
