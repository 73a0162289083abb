/** How the explorer divides time, names outcomes and writes amounts, without a browser. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Candle, Market } from "../../clients/typescript/src/api.ts";
import { getWindow, resolutionsFor, toBuckets } from "../../explorer/src/charts/buckets.ts";
import { invertBuckets } from "../../explorer/src/charts/invert-candle.ts";
import { groupMarkets, toLabel, toTitle } from "../../explorer/src/format/group-markets.ts";
import {
  cents,
  dollars,
  exact,
  exactDollars,
  gain,
  percent,
} from "../../explorer/src/format/numbers.ts";
import { foundGroups } from "../../explorer/src/service/found-markets.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function candleAt(atMs: number, prices: readonly [number, number, number, number]): Candle {
  const [open, high, low, close] = prices.map(String);
  return { timestamp_ms: atMs, open, high, low, close, volume_usd: "5", filled: false } as Candle;
}

suite("the window of a chart", () => {
  const endMs = 400 * dayMs + 1234;

  test("has several buckets, and never more than a page of candles", () => {
    for (const range of ["1H", "6H", "1D", "1W", "1M", "All"] as const) {
      for (const form of ["line", "candles"] as const) {
        const window = getWindow({ range, form, firstMs: dayMs, endMs, chosen: null });
        const buckets = toBuckets(window, [], endMs);
        assert.ok(buckets.length > 4 && buckets.length <= 1000, `${range} ${buckets.length}`);
      }
    }
  });

  test("is not longer than the life of the market", () => {
    const firstMs = endMs - 2 * hourMs;
    const form = "line";
    const [week, all] = (["1W", "All"] as const).map((range) =>
      getWindow({ range, form, firstMs, endMs, chosen: null }),
    );
    assert.deepEqual(week, all);
    assert.ok(week !== undefined && firstMs - week.fromMs < 60_000);
  });

  test("uses the chosen resolution if it fits the range, and another one if not", () => {
    const options = { range: "1D", form: "candles", firstMs: 0, endMs } as const;
    assert.equal(getWindow({ ...options, chosen: "5m" }).resolution, "5m");
    assert.notEqual(getWindow({ ...options, chosen: "1m" }).resolution, "1m");
    assert.deepEqual(resolutionsFor(3600), ["1m", "5m", "15m"]);
  });

  test("has a bucket for every step, with the price of the one before if nothing was traded", () => {
    const window = { fromMs: 0, toMs: 4 * hourMs, resolution: "1h" } as const;
    const candles = [candleAt(hourMs, [0.2, 0.4, 0.1, 0.3])];
    const buckets = toBuckets(window, candles, 5 * hourMs);
    assert.deepEqual(
      buckets.map(({ close }) => close),
      [null, 0.3, 0.3, 0.3, 0.3],
    );
    const [, inverted] = invertBuckets(buckets);
    assert.deepEqual(
      [inverted?.candle?.open, inverted?.candle?.high, inverted?.candle?.low, inverted?.close],
      ["0.8", "0.9", "0.6", 0.7],
    );
  });
});

suite("markets of an event", () => {
  const market = (id: string, question: string, event: string | null): Market =>
    ({ id, question, event_id: event, neg_risk_market_id: null, event_slug: null }) as Market;
  const ana = market("1", "Will Ana win the presidency?", "e");
  const bo = market("2", "Will Bo Li win the presidency?", "e");
  const rain = market("3", "Will it rain?", null);

  test("are one group, at the place of the first of them", () => {
    const groups = groupMarkets([ana, rain, bo]);
    assert.deepEqual(
      groups.map(({ markets }) => markets.map(({ id }) => id)),
      [["1", "2"], ["3"]],
    );
    assert.equal(groups[1]?.title, "Will it rain?");
  });

  test("are found as outcomes of their event, with the price of each", () => {
    const priced = (one: Market, price: string): Market => ({
      ...one,
      status: "open",
      volume_usd: "120",
      resolved_at_ms: null,
      resolution: null,
      end_date: null,
      tokens: [{ outcome: "Yes", price } as Market["tokens"][number]],
    });
    const markets = [priced(ana, "0.6"), priced(rain, "0.1"), priced(bo, "0.3")];
    const found = foundGroups(groupMarkets(markets));
    assert.deepEqual(
      found.map(({ kind, title, about, detail }) => [kind, title, about, detail]),
      [
        ["event", "Win the presidency?", "2 matching outcomes", ""],
        ["market", "Ana", "$120 traded", "Yes 60%"],
        ["market", "Bo Li", "$120 traded", "Yes 30%"],
        ["market", "Will it rain?", "$120 traded", "Yes 10%"],
      ],
    );
  });

  test("are labeled by the part of their questions that differs", () => {
    assert.equal(toLabel(ana, [ana, bo]), "Ana");
    assert.equal(toLabel(bo, [ana, bo]), "Bo Li");
    assert.equal(toTitle([ana, bo]), "Win the presidency?");
  });
});

test("dollars below 1,000 have two decimals or none", () => {
  const formatted = ["0", "61.2", "227.8", "1000", "999.996", "1234.5", null].map(dollars);
  assert.deepEqual(formatted, ["$0", "$61.20", "$227.80", "$1K", "$1K", "$1.2K", "–"]);
});

test("a value that is nearly nothing or nearly everything is not rounded to it", () => {
  for (let thousandths = 1; thousandths < 2000; thousandths += 1) {
    const [one, other] = [thousandths / 2000, 1 - thousandths / 2000].map(percent);
    const sum = Number.parseFloat(one ?? "") + Number.parseFloat(other ?? "");
    if (thousandths > 2 && thousandths < 1998)
      assert.ok(Math.abs(sum - 100) < 1e-9, `${one} ${other}`);
  }
  assert.deepEqual(["0.545", "0.455", "0.5", "0.365"].map(percent), ["55%", "45%", "50%", "36%"]);
  assert.deepEqual(["0", "0.0004", "0.004", "0.9996", "1"].map(percent), [
    "0%",
    "<0.1%",
    "0.4%",
    ">99.9%",
    "100%",
  ]);
  assert.deepEqual(
    [exact(0.004), exact(0.3 - 0.1 - 0.2), exactDollars(0.004), dollars(0.004), cents(0.00002)],
    ["<0.01", "0", "<$0.01", "<$0.01", "<0.01¢"],
  );
  assert.deepEqual(["-0.004", "0.000001", "-0.01", "0", "-3.4", "1200"].map(gain), [
    "−$0.00",
    "+$0.00",
    "−$0.01",
    "$0",
    "−$3.40",
    "+$1.2K",
  ]);
});
