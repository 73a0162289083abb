/** Trades that the engine encodes as Arrow, compared with the rows that `toTradeRow` presents. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tableFromIPC } from "@uwdata/flechette";
import * as fc from "fast-check";
import { getBatches } from "../../src/api/bulk/arrow-stream.ts";
import { getColumns } from "../../src/api/bulk/columns.ts";
import { encodeArrow } from "../../src/api/bulk/encode-arrow.ts";
import { formatMicros } from "../../src/base/decimal.ts";
import type { Seq, TokenId } from "../../src/base/ids.ts";
import { isTrade } from "../../src/market/fill.ts";
import type { TokenFacts } from "../../src/market/market.ts";
import { storedTrades } from "../../src/query/read-fills.ts";
import { type EncodedRows, RowSnapshot } from "../../src/query/row-snapshot.ts";
import { toMarketFields, toTradeRow, tradeRow } from "../../src/rows/trade-row.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { anyTransaction } from "../support/generate-matches.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const hostileNames = ["'\\'; --\n\t", '\u0000 {a}%s `"', "Já 😀 \u202e", "\ud800 alone \udfff", ""];
const largest = 10n ** 30n;

/** Trades with amounts of any size that is stored. */
const anyLarge = fc
  .tuple(
    anyTransaction(testPairs),
    fc.constantFrom(1n, 3n, largest),
    fc.constantFrom(0n, 7n, largest),
  )
  .map(([plan, shares, cash]) => ({
    secondsLater: 1,
    reports: false,
    transactions: [
      {
        ...plan,
        items: plan.items.map((item) =>
          item.kind === "direct"
            ? { ...item, order: { ...item.order, shares, cash } }
            : {
                ...item,
                legs: item.legs.map((leg) => ({
                  ...leg,
                  isOtherToken: false,
                  shares,
                  cash,
                  fee: 0n,
                })),
                fee: 0n,
              },
        ),
      },
    ],
  }));

const plans = [
  ...fc.sample(anyLarge, { seed: testSeed, numRuns: 20 }),
  ...fc.sample(anyBlockPlan(3), { seed: testSeed, numRuns: 30 }),
];
const blocks = getFacts(buildChain(plans));
const trades = getFills(blocks).filter(isTrade);
const tokenIds = [...new Set(trades.map(({ tokenId }) => tokenId))];

/** A third of the tokens have no market, and all names are hostile. */
function getToken(tokenId: TokenId): TokenFacts {
  const index = tokenIds.indexOf(tokenId);
  const outcome = hostileNames[index % hostileNames.length] ?? null;
  const nothing = { complement: null, conditionId: null, outcomeIndex: null, outcome: null };
  if (index % 3 === 0) return { tokenId, ...nothing, market: null };
  const complement = tokenIds[index - 1] ?? null;
  return { tokenId, ...nothing, complement, outcome, outcomeIndex: index % 2, market: null };
}

const context = { contracts: knownContracts(), getToken, getFeeBips: () => 0, finalizedBlock: 1e9 };
const columns = getColumns(tradeRow);

/** Reads a chunk after the schema that the other encoder writes, so that the types are the same. */
function decode({ stream }: EncodedRows): readonly Record<string, unknown>[] {
  const { begin, end } = encodeArrow(columns);
  const bytes = Buffer.concat([begin(), getBatches(stream), end()]);
  const table = tableFromIPC(bytes, { useBigInt: false, useDecimalInt: true });
  const kinds = new Map(columns.map(({ name, kind }) => [name, kind]));
  return table.toArray().map((row) =>
    Object.fromEntries(
      Object.entries(row as object).map(([name, value]: [string, unknown]) => {
        if (value !== null && kinds.get(name) === "decimal")
          return [name, formatMicros(value as bigint)];
        if (kinds.get(name) === "time")
          return [name, new Date(Number(value)).toISOString().replace(".000", "")];
        return [name, value];
      }),
    ),
  );
}

const anyRequest = fc.record({
  order: fc.constantFrom("asc" as const, "desc" as const),
  after: fc.option(fc.constantFrom(...trades.map(({ seq }): Seq => seq))),
  tokenIds: fc.option(fc.subarray(tokenIds, { minLength: 1 }), { nil: undefined }),
  side: fc.constantFrom("BUY" as const, "SELL" as const, undefined),
  finalizedOnly: fc.boolean(),
  groupRows: fc.integer({ min: 1, max: 40 }),
  rowsMax: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(100_000)),
});

type Request = typeof anyRequest extends fc.Arbitrary<infer Value> ? Value : never;

async function readEncoded(store: IndexedFacts, request: Request) {
  const { tokenIds: requested, side, groupRows, rowsMax, ...order } = request;
  const filter = { tokenIds: requested, side, roles: ["maker", "direct"] as const };
  const { encode, ...list } = storedTrades({ filter, ...order }, getToken);
  assert(encode !== undefined);
  const snapshot = new RowSnapshot(store, list);
  const names = columns.map(({ name }) => name);
  const rows: object[] = [];
  const chunks = snapshot.encodedChunks({ chunkRows: 3, groupRows, rowsMax }, (from) =>
    encode(store.engine, from, names),
  );
  for await (const chunk of chunks) {
    if (!("stream" in chunk)) {
      rows.push(...chunk.map((fill) => ({ head: fill.seq })));
      continue;
    }
    const decoded = decode(chunk);
    assert.equal(decoded.length, chunk.length);
    assert(decoded.length <= groupRows);
    rows.push(...decoded);
  }
  return rows;
}

test("the engine encodes every field as rows present it, in any order, from any position and up to any number", async (t) => {
  const { store } = await StoreFolder.open(t);
  const finalCount = 40;
  const [final, unfinalized] = [blocks.slice(0, finalCount), blocks.slice(finalCount)];
  await fillStore(store, { final, unfinalized, sizes: [3, 1, 5] });
  const lastFinal = final.at(-1)?.number ?? 0;
  assert(trades.some(({ value, size }) => value === largest && size === 1n));
  assert.equal(new Set(trades.map(({ exchange }) => exchange.generation)).size, 3);
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const { order, after, tokenIds: requested, side, finalizedOnly, rowsMax } = request;
      const sign = order === "asc" ? 1 : -1;
      const isListed = (seq: number, isHead: boolean) =>
        (after === null || (seq - after) * sign > 0) && !(isHead && finalizedOnly);
      const expected = trades
        .map((fill) => ({ fill, isHead: Math.floor(fill.seq / 1_000_000) > lastFinal }))
        .filter(({ fill, isHead }) => isListed(fill.seq, isHead))
        .filter(({ fill }) => requested === undefined || requested.includes(fill.tokenId))
        .filter(({ fill }) => side === undefined || fill.side === side)
        .toSorted((a, b) => sign * (a.fill.seq - b.fill.seq))
        .slice(0, rowsMax)
        .map(({ fill, isHead }) => {
          if (isHead) return { head: fill.seq };
          const market = toMarketFields(getToken(fill.tokenId).market);
          const row = { ...toTradeRow(fill, context), ...market };
          return { ...row, outcome: row.outcome?.toWellFormed() ?? null };
        });
      assert.deepEqual(await readEncoded(store, request), expected);
    }),
    propertySettings(40),
  );
});
