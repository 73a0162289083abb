/** What a store contains after a crash at any point of an append. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { toFirstSeq } from "../../src/base/ids.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "../support/append-facts.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { describeState } from "../support/describe-state.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { embeddedOnly, isOnServer, openFacts, serverOnly } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getFacts, getFills, withLedger } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Blocks close in time, so that batches share minutes. */
const plans = fc
  .sample(anyBlockPlan(), { seed: testSeed, numRuns: 30 })
  .map((plan) => ({ ...plan, secondsLater: plan.secondsLater % 20 }));
const blocks = withLedger(getFacts(buildChain(plans)));

const endless = Number.MAX_SAFE_INTEGER;

function knownState(): MarketState {
  return new MarketState(knownContracts(), new MemoryStateStore());
}

describe("after a crash", () => {
  for (let done = 0; done <= tables.length; done += 1) {
    const what = done === tables.length ? "every insert" : `${done} of the inserts`;
    test(`after ${what} of an append, only acknowledged blocks are left`, async (t) => {
      const folder = await StoreFolder.open(t);
      const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
      await appendFacts(folder.store, encode(kept));
      await appendPart(folder.store, encode(lost), tables.slice(0, done));
      const store = await folder.reopen();
      if (done < tables.length) {
        // On a server nothing is deleted: repeating the append completes its rows.
        if (!isOnServer) await assertTablesHold(store, kept);
        await appendFacts(store, encode(lost));
      }
      await assertTablesHold(store, blocks);
    });
  }

  test("rows above the acknowledged blocks are not read while they are being deleted", async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
    await appendFacts(folder.store, encode(kept));
    await appendPart(folder.store, encode(lost), tables.slice(0, -1));
    await folder.close();
    const store = await openFacts(folder.path);
    try {
      const applied = knownState();
      for (const block of kept) applied.apply(toFinalDelta(block));
      for (const savedThrough of [null, -1]) {
        const loaded = new MarketState(knownContracts(), new MemoryStateStore(savedThrough));
        await store.loadView(loaded);
        assert.deepEqual(describeState(loaded), describeState(applied));
      }
      const page = { order: "asc", after: null, limit: 100_000, finalizedOnly: true } as const;
      assert.deepEqual(await readFills(store, { ...page, filter: {} }), getFills(kept));
      for (const tokenId of new Set(getFills(kept).map((fill) => fill.tokenId))) {
        const ofToken = { ...page, filter: { tokenIds: [tokenId] } };
        const requested = getFills(kept).filter((fill) => fill.tokenId === tokenId);
        assert.deepEqual(await readFills(store, ofToken), requested);
        const range = { same: [tokenId], inverted: [], bucketSeconds: 60, order: "asc" } as const;
        const candles = await readCandles(store, { ...range, from: 0, to: endless, limit: 1000 });
        assert.deepEqual(
          new Map(candles.map(({ bucket, candle }) => [bucket, candle])),
          naiveCandles(requested, range),
        );
      }
    } finally {
      await store.close();
    }
  });

  test("of a server that kept insert tokens but lost their rows, the same append stores the rows", {
    skip: serverOnly,
  }, async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
    await appendFacts(folder.store, encode(kept));
    await appendPart(folder.store, encode(lost), tables);
    const { engine } = folder.store;
    const above = `>= ${lost[0]?.number ?? 0}`;
    // A kill between the token and its rows leaves this behind.
    for (const table of ["fills", "fills_by_token", "events", "quarantine"]) {
      await engine.command(`DELETE FROM ${table} WHERE intDiv(seq, 1000000) ${above}`);
    }
    await engine.command(`DELETE FROM commits WHERE to_block ${above}`);
    const store = await folder.reopen();
    await appendFacts(store, encode(lost));
    await assertTablesHold(store, blocks);
  });

  test("during recovery from another crash, the next recovery completes it", {
    skip: embeddedOnly,
  }, async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
    await appendFacts(folder.store, encode(kept));
    for (const damage of [
      // The minutes are deleted but not derived again yet.
      "DELETE FROM minute_candles WHERE 1",
      // The minutes are derived again, and events and quarantine are deleted, but not the fills.
      `DELETE FROM events WHERE seq >= ${toFirstSeq(lost[0]?.number ?? 0)}`,
      // Only the fills by position are left.
      `DELETE FROM fills_by_token WHERE seq >= ${toFirstSeq(lost[0]?.number ?? 0)}`,
    ]) {
      await appendPart(folder.store, encode(lost), tables.slice(0, -1));
      const minute = Math.floor((lost[0]?.timestamp ?? 0) / 60) * 60;
      await folder.store.engine.command(damage.replace("WHERE 1", `WHERE minute >= ${minute}`));
      await assertTablesHold(await folder.reopen(), kept);
    }
    await appendFacts(folder.store, encode(lost));
    await assertTablesHold(folder.store, blocks);
  });

  test("of a store that never acknowledged a block, the store is empty", {
    skip: embeddedOnly,
  }, async (t) => {
    const folder = await StoreFolder.open(t);
    await appendPart(folder.store, encode(blocks), tables.slice(0, -1));
    const store = await folder.reopen();
    assert.equal(store.coverage, null);
    for (const table of tables) {
      assert.deepEqual(await store.engine.query(`SELECT count() FROM ${table}`), [[0]]);
    }
  });
});
