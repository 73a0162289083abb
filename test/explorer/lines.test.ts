/** Where the explorer draws prices and volumes, without a browser. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Candle, Market } from "../../clients/typescript/src/api.ts";
import { type Bucket, getWindow, toBuckets } from "../../explorer/src/charts/buckets.ts";
import {
  asOf,
  sumVolumes,
  timeIn,
  toLine,
  withSettlement,
} from "../../explorer/src/charts/lines.ts";
import { getTickLabels } from "../../explorer/src/charts/price-axis.ts";
import { toInstant, zoned, zonedSeconds } from "../../explorer/src/charts/zoned-time.ts";
import { cleanUp } from "../support/clean-up.ts";

const minuteMs = 60_000;
const window = { fromMs: 0, toMs: 3 * minuteMs, resolution: "1m" } as const;
const nowMs = 3 * minuteMs + 20_000;

/** A candle that opens at one price and closes at another, with a volume of $5. */
function candleAt(timestamp_ms: number, open: number, close: number): Candle {
  const prices = { open: `${open}`, high: "0.9", low: "0.1", close: `${close}` };
  return { timestamp_ms, ...prices, volume_usd: "5", filled: false } as Candle;
}

const drawn = (line: readonly Bucket[]) => line.map((one) => [timeIn.line(one), one.close]);

suite("a line", () => {
  const candles = [candleAt(minuteMs, 0.2, 0.3), candleAt(3 * minuteMs, 0.3, 0.6)];
  const buckets = toBuckets(window, candles, nowMs);

  test("has each close at the end of its bucket, the newest one now, and candles at their start", () => {
    assert.deepEqual(drawn(toLine(buckets)), [
      [0, null],
      [minuteMs, 0.2],
      [2 * minuteMs, 0.3],
      [3 * minuteMs, 0.3],
      [nowMs, 0.6],
    ]);
    assert.deepEqual(
      buckets.map(timeIn.candles),
      [0, 1, 2, 3].map((at) => at * minuteMs),
    );
  });

  test("leads from the first trade to now if there is a single candle", () => {
    const line = toLine(toBuckets(window, [candleAt(3 * minuteMs, 0.4, 0.4)], nowMs));
    assert.deepEqual(drawn(line).slice(-2), [
      [3 * minuteMs, 0.4],
      [nowMs, 0.4],
    ]);
  });

  test("begins with the price before its first bucket", () => {
    const before = { ...candleAt(0, 0.7, 0.7), filled: true };
    const [first] = toLine(toBuckets(window, [before], nowMs));
    assert.deepEqual([first?.toMs, first?.close, first?.volumeUsd], [0, 0.7, 0]);
  });

  test("keeps its order if the clock of the viewer is late", () => {
    const times = toLine(toBuckets(window, candles, 0)).map(timeIn.line);
    assert.deepEqual(
      times,
      [...new Set(times)].toSorted((a, b) => a - b),
    );
  });
});

suite("the line of a resolved market", () => {
  const candles = [candleAt(minuteMs, 0.8, 0.9)];
  const line = toLine(toBuckets(window, candles, nowMs));
  const resolvedAt = (atMs: number) =>
    ({ resolution: { payouts: ["1", "0"] }, resolved_at_ms: atMs }) as unknown as Market;

  test("has the payout from then on", () => {
    const atMs = 2.5 * minuteMs;
    assert.deepEqual(drawn(withSettlement(line, resolvedAt(atMs))).slice(2), [
      [2 * minuteMs, 0.9],
      [atMs, 1],
      [nowMs, 1],
    ]);
  });

  test("has the last price just before the payout if the market ended with the window", () => {
    const late = [...candles, candleAt(3 * minuteMs, 0.9, 0.7)];
    const settled = withSettlement(toLine(toBuckets(window, late, nowMs)), resolvedAt(nowMs));
    assert.deepEqual(drawn(settled).slice(-3), [
      [3 * minuteMs, 0.9],
      [nowMs - 1000, 0.7],
      [nowMs, 1],
    ]);
  });

  test("has the volume of its last trades where their price is", () => {
    const late = [...candles, candleAt(3 * minuteMs, 0.9, 0.7)];
    const settled = withSettlement(toLine(toBuckets(window, late, nowMs)), resolvedAt(nowMs));
    const volumes = settled.map((one) => [timeIn.line(one), one.volumeUsd]);
    assert.deepEqual(volumes.slice(-2), [
      [nowMs - 1000, 5],
      [nowMs, 0],
    ]);
  });

  test("is the payout alone if the market ended before it", () => {
    const closes = withSettlement(line, resolvedAt(-minuteMs)).map(({ close }) => close);
    assert.deepEqual(new Set(closes), new Set([1]));
  });
});

suite("the window of a market that ended", () => {
  test("has no bucket that begins at its end", () => {
    const common = { range: "All", firstMs: 0, form: "line", chosen: "1m" } as const;
    const last = (endMs: number) => getWindow({ ...common, endMs }).toMs / minuteMs;
    assert.deepEqual(
      [5, 5.01, 5.99].map((end) => last(end * minuteMs)),
      [4, 5, 5],
    );
    const settled = toBuckets(getWindow({ ...common, endMs: 5 * minuteMs }), [], 5 * minuteMs);
    assert.deepEqual(
      settled.map(({ toMs }) => toMs / minuteMs),
      [1, 2, 3, 4, 5],
    );
  });
});

suite("the price axis", () => {
  test("leaves out the labels that the tag of a last price would cover in part", () => {
    const prices = [0.4, 0.45, 0.5, 0.55];
    assert.deepEqual(getTickLabels(prices, [0.49]), ["40%", "45%", "", "55%"]);
    assert.deepEqual(getTickLabels(prices, [0.475, 0.56]), ["40%", "45%", "50%", ""]);
    assert.deepEqual(getTickLabels(prices, []), ["40%", "45%", "50%", "55%"]);
    assert.deepEqual(getTickLabels([0.4], [0.4]), [""]);
  });

  test("has different labels for different prices", () => {
    const labels = getTickLabels([-0.005, 0, 0.005, 0.01, 0.02, 0.025], []);
    assert.deepEqual(labels, ["", "0%", "0.5%", "1%", "2%", "2.5%"]);
  });
});

suite("a replay", () => {
  const candles = [0, 1, 2, 3].map((at) => candleAt(at * minuteMs, 0.1 * at, 0.1 * at + 0.1));
  const buckets = toBuckets(window, candles, nowMs);

  test("shows no price, candle or volume of later trades", () => {
    const atMs = 1.5 * minuteMs;
    const visible = asOf(buckets, { atMs, toMs: nowMs, price: 0.15 });
    assert.deepEqual(
      visible.map(({ close, candle, volumeUsd }) => [close, candle?.close, volumeUsd]),
      [
        [0.1, "0.1", 5],
        [0.15, undefined, 0],
        [null, undefined, 0],
        [null, undefined, 0],
      ],
    );
    assert.equal(visible[1]?.toMs, atMs);
  });

  test("does not begin with a price before its first trade", () => {
    const before = asOf(buckets, { atMs: 10_000, toMs: nowMs, price: null });
    assert.ok(toLine(before).every(({ close }) => close === null));
  });

  test("shows everything at its end", () => {
    assert.deepEqual(asOf(buckets, { atMs: nowMs, toMs: nowMs, price: 0.4 }), buckets);
  });
});

test("volumes of several lines are summed", () => {
  const line = toLine(toBuckets(window, [candleAt(0, 0.1, 0.2)], nowMs));
  const volumes = sumVolumes([line, line]).map(({ volumeUsd }) => volumeUsd);
  assert.deepEqual(volumes, [0, 10, 0, 0, 0]);
  assert.deepEqual(sumVolumes([]), []);
});

test("an hour that the viewer's zone repeats is drawn once, at its first time", (t) => {
  const { TZ } = process.env;
  cleanUp(t, () => {
    if (TZ === undefined) delete process.env["TZ"];
    else process.env["TZ"] = TZ;
  });
  process.env["TZ"] = "America/New_York";
  const halfHours = Array.from({ length: 8 }, (_, at) => Date.UTC(2025, 10, 2, 5) + at * 1_800_000);
  const times = zoned(
    halfHours,
    (ms) => ms,
    (_, time) => ({ time }),
  ).map(({ time }) => toInstant(time));
  assert.deepEqual(times, [...halfHours.slice(0, 2), ...halfHours.slice(4)]);
  assert.equal(toInstant(zonedSeconds(0)), 0);
});
