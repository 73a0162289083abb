/** What the explorer says an order paid and got. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fill, Match } from "../../clients/typescript/src/api.ts";
import { getFigures } from "../../explorer/src/tape/fill-figures.ts";

const refunded = {
  seq: 7,
  role: "taker",
  side: "BUY",
  maker_amount_raw: "532020000",
  taker_amount_raw: "1085750000",
} as Fill;

test("a taker's amounts are those of its match, without what was refunded", () => {
  const match = { taker_fill_seq: 7, value_usd: "467.11", size: "1085.75" } as Match;
  const { usd, shares, price } = getFigures([refunded], [match]);
  assert.deepEqual([usd, shares, price], ["$467.11", "1,085.75", "43.02¢"]);
});

test("without the match, what a taker gave is a limit", () => {
  const bought = getFigures([refunded], []);
  assert.deepEqual([bought.usd, bought.price], ["up to $532.02", "up to 49¢"]);
  const sold = getFigures([{ ...refunded, side: "SELL", maker_amount_raw: "1000000000" }], []);
  assert.deepEqual([sold.shares, sold.price], ["up to 1,000", "at least 108.58¢"]);
  const maker = getFigures([{ ...refunded, role: "maker" }], []);
  assert.deepEqual([maker.usd, maker.price, maker.isLimit], ["$532.02", "49¢", false]);
});
