/**
 * The ledger of wallets in simulation: random operations of random wallets on a model of the contracts, which logs what
 * they log and keeps books of its own.
 *
 * `LEDGER_RUNS` sets the number of chains. With 1, `TEST_SEED=<seed>` repeats one.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Address, toLastSeq } from "../../src/base/ids.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import {
  collateralPools,
  getCollateralId,
  getPoolAccount,
} from "../../src/market/ledger/collateral.ts";
import type { LedgerKind } from "../../src/market/ledger/ledger-row.ts";
import { PositionFold } from "../../src/market/ledger/position.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { getSettlement } from "../../src/views/prices/position-value.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { assertPositions, assertSame, formatBooks, formatRows } from "./ledger/assert-books.ts";
import { LedgerChain, type ModelBlock } from "./ledger/ledger-chain.ts";
import type { ModelState } from "./ledger/model-transaction.ts";
import { contracts, decoder } from "./simulation.ts";

const runs = Number(process.env["LEDGER_RUNS"] ?? 20);
const blocksPerChain = 60;

test(`every row, balance and position of ${runs} chains from seed ${testSeed} on`, (t) => {
  const counts = new Map<LedgerKind, number>();
  for (let seed = testSeed; seed < testSeed + runs; seed += 1) {
    try {
      const chain = new LedgerChain(seed);
      chain.grow(blocksPerChain);
      const facts = assertChain(chain.blocks);
      for (const { kind } of facts.flatMap(({ ledger }) => ledger)) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    } catch (cause) {
      throw new Error(`seed ${seed}`, { cause });
    }
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  assert(runs < 20 || counts.size === 14, "all kinds of rows");
});

function assertChain(blocks: readonly ModelBlock[]): readonly BlockFacts[] {
  const facts = blocks.map(({ block }) => deriveBlockFacts(block, decoder));
  const balances = new Map<string, bigint>();
  for (const [index, one] of facts.entries()) {
    const books = blocks.slice(index, index + 1);
    assertSame("rows", formatRows(one.ledger), formatBooks(books));
    const odd = one.anomalies.filter(({ kind }) => kind !== "legs_differ_from_summary");
    assert.deepEqual([odd, one.quarantined], [[], []]);
    for (const { wallet, tokenId, shares } of one.balances) {
      const key = wallet + tokenId;
      balances.set(key, (balances.get(key) ?? 0n) + shares);
    }
    const state = books[0]?.state;
    if (state !== undefined) assertBalances(balances, state);
  }
  const state = blocks.at(-1)?.state;
  if (state !== undefined) assertFold(facts, state);
  return facts;
}

function assertBalances(balances: ReadonlyMap<string, bigint>, state: ModelState): void {
  for (const [tokenId, holders] of state.balances)
    for (const [holder, balance] of holders)
      assert.equal(
        BigInt.asUintN(256, balances.get(holder + tokenId) ?? 0n),
        balance,
        `${holder} ${tokenId}`,
      );
  const collateralId = getCollateralId(contracts);
  for (const pool of collateralPools) {
    const account = getPoolAccount(contracts, pool) as Address;
    assert.equal(-(balances.get(account + collateralId) ?? 0n), state.pools[pool], pool);
  }
}

function assertFold(facts: readonly BlockFacts[], state: ModelState): void {
  const market = new MarketState(contracts, new MemoryStateStore());
  for (const block of facts) market.apply(toFinalDelta(block));
  const { directory } = market;
  const rows = facts.flatMap(({ ledger }) => ledger);
  for (const [wallet, own] of Map.groupBy(rows, (row) => row.wallet)) {
    const fold = new PositionFold({
      getSettlement: (tokenId) => getSettlement(tokenId, directory),
      getFeeBips: (tokenId) => BigInt(directory.conversionFeeBips(tokenId)),
    });
    for (const row of own.toSorted((one, other) => one.seq - other.seq || one.sub - other.sub)) {
      fold.add(row);
    }
    assertPositions(wallet, [...fold.finish(toLastSeq(facts.at(-1)?.number ?? 0))], state);
  }
}
