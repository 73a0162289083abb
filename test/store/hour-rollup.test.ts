/** Hours made of the minutes of days that are over, whenever the process that makes them is killed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { FactStore } from "../../src/store/fact-store.ts";
import { HourRollup } from "../../src/store/hour-rollup.ts";
import { readCandles } from "../../src/store/read-candles.ts";
import { appendPart } from "../support/append-part.ts";
import { assertHoursHold, assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MortalEngine } from "../support/mortal-engine.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, factsOf, fillStore, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const daySeconds = 86_400;
/** Half an hour between blocks: the days before block 45 and 93 are over. */
const plans = fc
  .sample(anyBlockPlan(), { seed: testSeed, numRuns: 110 })
  .map((plan) => ({ ...plan, secondsLater: 1800 + (plan.secondsLater % 30) }));
const blocks = factsOf(buildChain(plans));
const fills = fillsOf(blocks);

function dayOf(of: readonly BlockFacts[]): number {
  const { timestamp } = of.at(-1) as BlockFacts;
  return timestamp - (timestamp % daySeconds);
}

/** Charts of every token in both orders, of own trades and of the pair. */
async function assertChartsHold(store: FactStore, of: readonly BlockFacts[]): Promise<void> {
  const tokenIds = [...new Set(fillsOf(of).map(({ tokenId }) => tokenId))];
  for (const [index, tokenId] of tokenIds.entries()) {
    const complement = index % 2 === 0 ? null : (tokenIds[index - 1] ?? null);
    for (const bucketSeconds of [3600, 14_400, daySeconds]) {
      const order = bucketSeconds === 14_400 ? ("asc" as const) : ("desc" as const);
      const range = { tokenId, complement, bucketSeconds, order };
      const found = await readCandles(store, { ...range, from: 0, to: 2 ** 40, limit: 1000 });
      const sign = order === "asc" ? 1 : -1;
      const wanted = [...naiveCandles(fillsOf(of), range)]
        .map(([bucket, candle]) => ({ bucket, candle }))
        .toSorted((a, b) => sign * (a.bucket - b.bucket));
      assert.deepEqual(found, wanted);
    }
  }
}

describe("hours", () => {
  test("are made of the days that are over, each once, while blocks are appended", async (t) => {
    const { store } = await StoreFolder.open(t);
    assert.equal(store.hours.before, 0);
    await fillStore(store, { final: blocks.slice(0, 40), held: [], sizes: [40] });
    await store.hours.finish();
    assert.equal(store.hours.before, dayOf(blocks.slice(0, 40)));
    for (const [from, to] of [
      [40, 47],
      [47, 95],
      [95, 110],
    ]) {
      const next = blocks.slice(from, to);
      await store.append(encode(next));
      await store.hours.finish();
      assert.equal(store.hours.before, dayOf(next));
    }
    await assertTablesHold(store, blocks);
    await assertChartsHold(store, blocks);
  });

  test("are what charts of hours and more are made of, but for the newest day", async (t) => {
    const { store } = await StoreFolder.open(t);
    await fillStore(store, {
      final: blocks.slice(0, 105),
      held: blocks.slice(105),
      sizes: [9, 30],
    });
    await store.hours.finish();
    await store.engine.command(
      `DELETE FROM oddwire.minute_candles WHERE minute < ${store.hours.before}`,
    );
    await assertChartsHold(store, blocks);
  });

  test("of a folder that has none are made while it is used", async (t) => {
    const folder = await StoreFolder.open(t);
    await fillStore(folder.store, { final: blocks.slice(0, 100), held: [], sizes: [100] });
    await folder.store.hours.finish();
    for (const table of ["hour_candles", "hour_marks"]) {
      await folder.store.engine.command(`DROP TABLE oddwire.${table} SYNC`);
    }
    const store = await folder.reopen();
    assert.equal(store.hours.before, 0);
    await assertChartsHold(store, blocks.slice(0, 100));
    await store.append(encode(blocks.slice(100)));
    await store.hours.finish();
    assert.equal(store.hours.before, dayOf(blocks));
    await assertTablesHold(store, blocks);
  });

  test("are right when the process was killed before any write of them", async (t) => {
    const folder = await StoreFolder.open(t);
    const final = blocks.slice(0, 100);
    await fillStore(folder.store, { final, held: [], sizes: [60] });
    await folder.store.hours.finish();
    const { engine } = folder.store;
    let kills = 0;
    for (let isWhole = false; !isWhole; kills += 1) {
      // As if the newest day had just ended.
      await engine.command(
        `DELETE FROM oddwire.hour_marks WHERE before > ${dayOf(blocks.slice(0, 60))}`,
      );
      const mortal = new MortalEngine(engine, kills);
      const hours = await HourRollup.open(mortal);
      hours.advance(final.at(-1)?.timestamp ?? 0);
      isWhole = await hours.finish().then(
        () => true,
        () => false,
      );
      const next = await HourRollup.open(engine);
      if (!isWhole) assert.equal(next.before, dayOf(blocks.slice(0, 60)));
      next.advance(final.at(-1)?.timestamp ?? 0);
      await next.finish();
      assert.equal(next.before, dayOf(final));
      await assertHoursHold(folder.store, fillsOf(final));
    }
    assert.ok(kills > 2, `${kills} writes`);
    await assertTablesHold(await folder.reopen(), final);
  });

  test("hold nothing of blocks that were not acknowledged", async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 70), blocks.slice(70)];
    await folder.store.append(encode(kept));
    await folder.store.hours.finish();
    for (const inserts of [1, 2, 4]) {
      await appendPart(folder.store, encode(lost), inserts);
      const store = await folder.reopen();
      await assertTablesHold(store, kept);
      await assertChartsHold(store, kept);
    }
    await folder.store.append(encode(lost));
    await folder.store.hours.finish();
    await assertTablesHold(folder.store, blocks);
  });

  test("that cannot be made end appending", async (t) => {
    const { store } = await StoreFolder.open(t);
    await store.engine.command("DROP TABLE oddwire.hour_marks SYNC");
    await store.append(encode(blocks.slice(0, 60)));
    await assert.rejects(store.hours.finish(), { name: "DataFolderUnwritableError" });
    await assert.rejects(store.append(encode(blocks.slice(60))), {
      name: "DataFolderUnwritableError",
    });
  });

  test("are read whole while they are made", async (t) => {
    const { store } = await StoreFolder.open(t);
    await store.append(encode(blocks.slice(0, 10)));
    const done = new AbortController();
    const tokenId = fills[0]?.tokenId;
    assert.ok(tokenId !== undefined);
    const range = { tokenId, complement: null, bucketSeconds: 3600, order: "asc" } as const;
    const read = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const asked = { ...range, from: 0, to: 2 ** 40, limit: 1000 };
        const ahead = store.coverage;
        const found = await readCandles(store, asked);
        const stored = blocks.filter(({ number }) => number <= (ahead?.last.number ?? 0));
        assert.deepEqual(
          found,
          [...naiveCandles(fillsOf(stored), range)].map(([bucket, candle]) => ({ bucket, candle })),
        );
      }
    };
    const readers = [read(), read()];
    for (let at = 10; at < blocks.length; at += 20) {
      await store.append(encode(blocks.slice(at, at + 20)));
      await store.hours.finish();
    }
    done.abort();
    await Promise.all(readers);
    await assertTablesHold(store, blocks);
  });
});
