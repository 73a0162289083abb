/** The copy for charts, made of the minutes of days that are over, whenever the process that makes it is killed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, stat, truncate, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Seq, TokenId } from "../../src/base/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { settleAll } from "../../src/base/time/settle-all.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { candleOfMinute } from "../../src/market/candle.ts";
import type { MinuteCandle } from "../../src/market/minute-candle.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { encodeMinuteCandles } from "../../src/storage/codec/encode-facts.ts";
import { openChartDatabase } from "../../src/views/charts/chart-database.ts";
import { dropChartFile } from "../../src/views/charts/chart-file.ts";
import { type ChartRange, ChartReader } from "../../src/views/charts/chart-reader.ts";
import { ChartRollup } from "../../src/views/charts/chart-rollup.ts";
import { sumUpCandles } from "../../src/views/charts/sum-up-candles.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import type { BucketCandle } from "../../src/views/recent/recent-candles.ts";
import { appendPart } from "../support/append-part.ts";
import { assertChartsHold } from "../support/assert-charts-hold.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { makeChartsPath } from "../support/make-charts.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { encode, factsOf, fillStore, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { waitFor } from "../support/wait-for.ts";

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

const [anyToken] = fills.map(({ tokenId }) => tokenId) as [TokenId];
const allTimes = { from: 0, to: 2 ** 40, order: "asc", limit: 10 } as const;

/** Charts of every token in both orders, of own trades and of the pair. */
async function assertServed(store: IndexedFacts, of: readonly BlockFacts[]): Promise<void> {
  const tokenIds = [...new Set(fillsOf(of).map(({ tokenId }) => tokenId))];
  for (const [index, tokenId] of tokenIds.entries()) {
    const complement = index % 2 === 0 ? null : (tokenIds[index - 1] ?? null);
    for (const bucketSeconds of [60, 900, 3600, 14_400, daySeconds]) {
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

/** Which kinds of rows there are. */
function levelsIn(path: string): unknown[] {
  const sql = openChartDatabase(path);
  const rows = sql.prepare("SELECT DISTINCT level FROM ranges ORDER BY level").all();
  sql.close();
  return rows.map((row) => row["level"]);
}

/** All but the first pages, which say what there is. */
async function overwriteEnd(path: string): Promise<void> {
  const file = await open(path, "r+");
  const begin = 3 * 16_384;
  await file.write(Buffer.alloc((await file.stat()).size - begin, "x"), 0, null, begin);
  await file.close();
}

/** A copy of an earlier format, with a table that is no longer there. */
async function makeOfBefore(path: string): Promise<void> {
  const sql = openChartDatabase(path);
  sql.exec(
    "UPDATE settings SET value = '1' WHERE name = 'format'; ALTER TABLE ranges RENAME TO days",
  );
  sql.close();
}

async function setBefore(path: string, before: number): Promise<void> {
  const sql = openChartDatabase(path);
  sql.prepare("UPDATE settings SET value = ? WHERE name = 'before'").run(String(before));
  sql.close();
}

/** A candle every so many minutes. */
function minutesOf(
  tokenId: TokenId,
  { firstMinute, days, everyMinutes }: { firstMinute: number; days: number; everyMinutes: number },
): MinuteCandle[] {
  return Array.from({ length: Math.floor((days * 1440) / everyMinutes) }, (_, index) => {
    const minute = firstMinute + index * everyMinutes * 60;
    const price = BigInt(100_000 + ((index * 7919) % 800_000));
    return {
      tokenId,
      minute,
      open: { seq: (index * 1_000_000) as Seq, price },
      close: { seq: (index * 1_000_000 + 5) as Seq, price: price + 10n },
      high: price + 20n,
      low: price - 30n,
      volume: BigInt(index) * 1_000_000n,
      buyVolumeUsd: BigInt(index),
      sellVolumeUsd: 3n,
      trades: 2,
      unpricedTrades: 0,
      unpricedUsd: 0n,
      firstSeq: index * 1_000_000,
      firstTimestamp: minute,
      lastTimestamp: minute + 59,
      generations: 1,
    };
  });
}

function anyChart(
  firstMinute: number,
  days: number,
): fc.Arbitrary<ChartRange & { tokenIds: readonly [TokenId] }> {
  const anyTime = fc
    .integer({ min: -60, max: days * 1440 + 60 })
    .map((minutes) => firstMinute + minutes * 60);
  return fc
    .record({
      byte: fc.constantFrom("11", "22", "33", "44"),
      bucketSeconds: fc.constantFrom(60, 300, 900, 3600, 14_400, daySeconds),
      from: fc.oneof(fc.constant(0), anyTime),
      to: fc.oneof(fc.constant(2 ** 40), anyTime),
      order: fc.constantFrom("asc" as const, "desc" as const),
      limit: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.constant(100_000)),
    })
    .map(({ byte, from, to, ...range }) => ({
      ...range,
      tokenIds: [`0x${byte.repeat(32)}` as TokenId] as const,
      from: Math.ceil(from / range.bucketSeconds) * range.bucketSeconds,
      to: Math.ceil(to / range.bucketSeconds) * range.bucketSeconds,
    }));
}

/** What a chart of these minutes is. */
function bucketsOf(minutes: readonly MinuteCandle[], range: ChartRange): BucketCandle[] {
  const { bucketSeconds, from, to, order, limit } = range;
  const priced = minutes.flatMap((minute) => {
    const candle = candleOfMinute(minute);
    return candle === null ? [] : [{ bucket: minute.minute, candle }];
  });
  const buckets = sumUpCandles(priced, bucketSeconds).filter(
    ({ bucket }) => bucket >= from && bucket < to,
  );
  return (order === "asc" ? buckets : buckets.toReversed()).slice(0, limit);
}

/** Kills a process once it has printed so many lines. */
async function killAfter(lines: number, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  let seen = 0;
  for await (const _ of createInterface({ input: child.stdout })) {
    seen += 1;
    if (seen === lines) child.kill("SIGKILL");
  }
  await exit;
  assert.ok(seen >= lines);
}

describe("the copy for charts", () => {
  test("takes in the days that are over, each once, while blocks are appended", async (t) => {
    const folder = await StoreFolder.open(t);
    const { store } = folder;
    assert.equal(store.charts.before, 0);
    await fillStore(store, { final: blocks.slice(0, 40), unfinalized: [], sizes: [40] });
    await store.chartRollup.finish();
    assert.equal(store.charts.before, dayOf(blocks.slice(0, 40)));
    for (const [from, to] of [
      [40, 47],
      [47, 95],
      [95, 110],
    ]) {
      const next = blocks.slice(from, to);
      await store.append(encode(next));
      await store.chartRollup.finish();
      assert.equal(store.charts.before, dayOf(next));
    }
    await assertChartsHold(store, fills);
    await assertServed(store, blocks);
    const { before } = store.charts;
    assert.equal((await folder.reopen()).charts.before, before);
    await assertServed(folder.store, blocks);
    const levels = levelsIn(store.charts.path);
    assert.deepEqual(levels, [60, 3600, daySeconds]);
  });

  test("is what charts are made of, but for the newest day", async (t) => {
    const { store } = await StoreFolder.open(t);
    await fillStore(store, {
      final: blocks.slice(0, 105),
      unfinalized: blocks.slice(105),
      sizes: [9, 30],
    });
    await store.chartRollup.finish();
    await store.engine.command(
      `DELETE FROM oddwire.minute_candles WHERE minute < ${store.charts.before}`,
    );
    await assertServed(store, blocks);
  });

  test("is made while a folder without it is used", async (t) => {
    const folder = await StoreFolder.open(t);
    await fillStore(folder.store, { final: blocks.slice(0, 100), unfinalized: [], sizes: [100] });
    await folder.store.chartRollup.finish();
    dropChartFile(folder.path);
    const store = await folder.reopen();
    assert.equal(store.charts.before, 0);
    await assertServed(store, blocks.slice(0, 100));
    await store.append(encode(blocks.slice(100)));
    await store.chartRollup.finish();
    assert.equal(store.charts.before, dayOf(blocks));
    await assertChartsHold(store, fills);
  });

  test("reports tokens that are traded every minute, in rows of many days and of parts of one", async (t) => {
    const { store } = await StoreFolder.open(t);
    const days = 6;
    const firstMinute = 20_000 * daySeconds;
    const candles = Object.entries({ "11": 1, "22": 7, "33": 500 }).flatMap(
      ([byte, everyMinutes]) =>
        minutesOf(`0x${byte.repeat(32)}` as TokenId, { firstMinute, days, everyMinutes }),
    );
    await store.engine.insert("oddwire.minute_candles", encodeMinuteCandles(candles));
    for (const day of [1, 2, 4, 5, 6]) {
      store.chartRollup.advance(firstMinute + day * daySeconds);
      await store.chartRollup.finish();
    }
    const sql = openChartDatabase(store.charts.path);
    const [row] = sql
      .prepare("SELECT count() AS rows, max(length(candles)) AS longest FROM ranges")
      .all();
    sql.close();
    assert.ok(
      Number(row?.["longest"]) <= 3_900 && Number(row?.["rows"]) < 200,
      JSON.stringify(row),
    );
    await fc.assert(
      fc.asyncProperty(anyChart(firstMinute, days), async (range) => {
        const own = candles.filter(({ tokenId }) => tokenId === range.tokenIds[0]);
        const found = await store.charts.read(range);
        assert(found !== null, "the copy is read");
        assert.deepEqual(found.get(range.tokenIds[0]) ?? [], bucketsOf(own, range));
      }),
      propertySettings(80),
    );
  });

  test("is as it was when it cannot be made, which ends appending", async (t) => {
    const { store } = await StoreFolder.open(t);
    const sql = openChartDatabase(store.charts.path);
    sql.exec(`CREATE TRIGGER refuse BEFORE INSERT ON ranges WHEN NEW.level = ${daySeconds}
      BEGIN SELECT RAISE(ABORT, 'nothing may be written'); END`);
    await store.append(encode(blocks.slice(0, 60)));
    await assert.rejects(store.chartRollup.finish(), { name: "DataFolderUnwritableError" });
    assert.deepEqual([store.charts.before, levelsIn(store.charts.path)], [0, []]);
    await assert.rejects(store.append(encode(blocks.slice(60))), {
      name: "DataFolderUnwritableError",
    });
    sql.exec("DROP TRIGGER refuse");
    sql.close();
    const { last } = store.coverage ?? {};
    assert.ok(last !== undefined);
    const next = new ChartRollup(store.engine, store.charts);
    next.advance(last.timestamp);
    await next.finish();
    await assertChartsHold(store, fillsOf(blocks.slice(0, 60)));
  });

  test("has days whole or not at all when the process that makes it is killed", async (t) => {
    const folder = await StoreFolder.open(t);
    const final = blocks.slice(0, 100);
    await fillStore(folder.store, { final, unfinalized: [], sizes: [60] });
    for (const lines of [1, 2, 3]) {
      await folder.close();
      await killAfter(lines, [makeChartsPath, folder.path]);
      const { charts, chartRollup } = await folder.reopen();
      assert.ok([0, dayOf(final)].includes(charts.before), String(charts.before));
      await assertChartsHold(folder.store, fillsOf(final));
      chartRollup.advance(final.at(-1)?.timestamp ?? 0);
      await chartRollup.finish();
      await assertChartsHold(folder.store, fillsOf(final));
    }
    await assertServed(folder.store, final);
  });

  test("holds nothing of blocks that were not acknowledged", async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 70), blocks.slice(70)];
    await folder.store.append(encode(kept));
    await folder.store.chartRollup.finish();
    for (const inserts of [1, 2, 4]) {
      await appendPart(folder.store, encode(lost), inserts);
      const store = await folder.reopen();
      await assertTablesHold(store, kept);
      await assertChartsHold(store, fillsOf(kept));
      await assertServed(store, kept);
    }
    await folder.store.append(encode(lost));
    await folder.store.chartRollup.finish();
    await assertChartsHold(folder.store, fills);
  });

  test("is not asked while no thread reads it: the engine answers what waits, until another thread begins", async (t) => {
    const folder = await StoreFolder.open(t);
    await fillStore(folder.store, { final: blocks, unfinalized: [], sizes: [110] });
    await folder.store.chartRollup.finish();
    const { chartReader: reader, charts } = await folder.reopen();
    for (const end of [
      () => void reader.begin().worker.terminate(),
      // Nothing that could be a question: the thread throws.
      () => reader.begin().worker.postMessage(undefined),
    ]) {
      const ended = reader.begin().ended;
      end();
      await settleAll([assertServed(folder.store, blocks), ended]);
      await assertServed(folder.store, blocks);
    }
    assert.equal(charts.before, dayOf(blocks), "the copy is not damaged");
    await waitFor("another thread", async () =>
      charts.read({ tokenIds: [anyToken], bucketSeconds: 60, ...allTimes }),
    );
    await assertChartsHold(folder.store, fills);
  });

  test("is read again the later, the more often the thread ended without an answer", async (t) => {
    const folder = await StoreFolder.open(t);
    await fillStore(folder.store, { final: blocks, unfinalized: [], sizes: [110] });
    await folder.store.chartRollup.finish();
    let nowMs = 0;
    const reader = new ChartReader(folder.path, { ...systemClock, monotonicMs: () => nowMs });
    t.after(() => reader.close());
    const read = async () => reader.read({ tokenIds: [anyToken], bucketSeconds: 60, ...allTimes });
    for (const waitMs of [1_000, 2_000, 4_000]) {
      const { worker, ended } = reader.begin();
      const waiting = read();
      await worker.terminate();
      await ended;
      assert.equal(await waiting, null);
      nowMs += waitMs / 2 - 1;
      assert.equal(await read(), null, "too soon");
      nowMs += waitMs;
    }
    assert.notEqual(await read(), null);
  });

  test("starts again when it is damaged, of another format, or describes more than the facts", async (t) => {
    const folder = await StoreFolder.open(t);
    await folder.store.append(encode(blocks));
    const { path } = folder.store.charts;
    for (const damage of [
      () => writeFile(path, "x".repeat(100_000)),
      async () => truncate(path, (await stat(path)).size / 2),
      () => overwriteEnd(path),
      () => setBefore(path, 2 ** 32),
      () => makeOfBefore(path),
    ]) {
      folder.store.chartRollup.advance(blocks.at(-1)?.timestamp ?? 0);
      await folder.store.chartRollup.finish();
      assert.equal(folder.store.charts.before, dayOf(blocks));
      await folder.close();
      await damage();
      await assertServed(await folder.reopen(), blocks);
      assert.equal(folder.store.charts.before, 0);
    }
  });

  test("is read whole while it is made", async (t) => {
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
      await store.chartRollup.finish();
    }
    done.abort();
    await Promise.all(readers);
    await assertChartsHold(store, fills);
  });
});
