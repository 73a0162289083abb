/** What is there after a crash at any point of an append. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { firstSeqOf } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { deriveMinuteCandles } from "../../src/market/minute-candle.ts";
import type { Row } from "../../src/store/engine.ts";
import type { FactStore } from "../../src/store/fact-store.ts";
import { readFills } from "../../src/store/read-fills.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, factsOf, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Blocks close in time, so that batches share minutes. */
const plans = fc
  .sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 })
  .map((plan) => ({ ...plan, secondsLater: plan.secondsLater % 20 }));
const blocks = factsOf(buildChain(plans));

/** The store holds exactly these blocks, in every table. */
async function assertHolds(store: FactStore, expected: readonly BlockFacts[]): Promise<void> {
  const { number, hash, timestamp } = expected.at(-1) as BlockFacts;
  assert.deepEqual(store.coverage, {
    fromBlock: expected[0]?.number,
    last: { number, hash, timestamp },
  });
  const fills = await readFills(store, {
    filter: {},
    order: "asc",
    after: null,
    limit: 100_000,
    finalizedOnly: true,
  });
  assert.deepEqual(fills, fillsOf(expected));
  const counts = await Promise.all(
    ["events", "quarantine"].map((table) =>
      store.engine.query(`SELECT count() FROM oddwire.${table}`),
    ),
  );
  assert.deepEqual(
    counts.map((rows) => rows[0]?.[0]),
    [
      expected.reduce((sum, block) => sum + block.events.length, 0),
      expected.reduce((sum, block) => sum + block.quarantined.length, 0),
    ],
  );
  assert.deepEqual(await storedMinutes(store), minutesOf(expected));
}

/** Every minute of every token as the engine sums it up. */
function storedMinutes(store: FactStore): Promise<readonly Row[]> {
  return store.engine.query(
    `SELECT lower(hex(token_id)), minute, max(close).1, toString(max(close).2),
       toString(sum(volume)), toString(sum(buy_volume_usd)), toString(sum(sell_volume_usd)),
       sum(trades), sum(unpriced_trades), toString(sum(unpriced_usd)), min(first_seq),
       max(last_timestamp), groupBitOr(generations)
     FROM oddwire.minute_candles GROUP BY token_id, minute ORDER BY lower(hex(token_id)), minute`,
  );
}

function minutesOf(expected: readonly BlockFacts[]): unknown[] {
  return deriveMinuteCandles(fillsOf(expected))
    .map((candle) => [
      candle.tokenId.slice(2),
      candle.minute,
      candle.close?.seq ?? 0,
      decimal(candle.close?.price ?? 0n),
      decimal(candle.volume),
      decimal(candle.buyVolumeUsd),
      decimal(candle.sellVolumeUsd),
      candle.trades,
      candle.unpricedTrades,
      decimal(candle.unpricedUsd),
      candle.firstSeq,
      candle.lastTimestamp,
      candle.generations,
    ])
    .toSorted(([a, minuteA], [b, minuteB]) =>
      a === b ? Number(minuteA) - Number(minuteB) : String(a) < String(b) ? -1 : 1,
    );
}

/** As the engine prints a decimal of 6 digits: without trailing zeros. */
function decimal(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  const text = `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  return text.replace(/\.?0+$/, "");
}

describe("after a crash", () => {
  for (let done = 0; done <= tables.length; done += 1) {
    const what = done === tables.length ? "every insert" : `${done} of the inserts`;
    test(`behind ${what} of an append, acknowledged blocks are left and nothing else`, async (t) => {
      const folder = await StoreFolder.open(t);
      const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
      await folder.store.append(encode(kept));
      await appendPart(folder.store, encode(lost), done);
      const store = await folder.reopen();
      if (done < tables.length) {
        await assertHolds(store, kept);
        await store.append(encode(lost));
      }
      await assertHolds(store, blocks);
    });
  }

  test("in the middle of the recovery from a crash, the next recovery ends it", async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
    await folder.store.append(encode(kept));
    for (const damage of [
      // The minutes are dropped but not made again.
      "DELETE FROM oddwire.minute_candles WHERE 1",
      // The minutes are made again, events and quarantine are gone, but not the fills.
      `DELETE FROM oddwire.events WHERE seq >= ${firstSeqOf(lost[0]?.number ?? 0)}`,
    ]) {
      await appendPart(folder.store, encode(lost), 4);
      const minute = Math.floor((lost[0]?.timestamp ?? 0) / 60) * 60;
      await folder.store.engine.command(damage.replace("WHERE 1", `WHERE minute >= ${minute}`));
      await assertHolds(await folder.reopen(), kept);
    }
    await folder.store.append(encode(lost));
    await assertHolds(folder.store, blocks);
  });

  test("of a store that never acknowledged anything, it is empty", async (t) => {
    const folder = await StoreFolder.open(t);
    await appendPart(folder.store, encode(blocks), 4);
    const store = await folder.reopen();
    assert.equal(store.coverage, null);
    for (const table of tables) {
      assert.deepEqual(await store.engine.query(`SELECT count() FROM oddwire.${table}`), [[0]]);
    }
  });
});
