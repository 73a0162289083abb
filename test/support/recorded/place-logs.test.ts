/** Checks the recordings themselves: the expected results must agree with the recorded logs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, ratio } from "./exact.ts";
import { expectMarket, getTokens } from "./expected-markets.ts";
import { expectMarket3, tokensOf3 } from "./expected-markets-3.ts";
import { expectMatch, expectTrade } from "./expected-trades.ts";
import { getPlace, type PlacedMatch, placeMatches, placeTrades } from "./place-logs.ts";
import { readRecording } from "./recording.ts";

test("every expected row of generation 1 has its own log", () => {
  const recording = readRecording("contracts-a");
  const trades = placeTrades(recording);
  const matches = placeMatches(recording, trades);
  assert.deepEqual([countLogs(trades), countLogs(matches)], [796, 467]);
  assert.equal(trades.filter((trade) => trade.matched === null).length, 19);
  assertSumsAgree(matches);
  const tokens = getTokens(recording.markets);
  for (const trade of trades) expectTrade(trade, tokens);
  for (const market of recording.markets) {
    const own = trades.filter((trade) => trade.expected.condition_id === market.condition_id);
    expectMarket(market, own, recording);
  }
});

test("every expected row of generation 2 has its own log", () => {
  const recording = readRecording("contracts-gen2");
  const trades = placeTrades(recording);
  const matches = placeMatches(recording, trades);
  assert.deepEqual([countLogs(trades), countLogs(matches)], [2111, 1038]);
  assertSumsAgree(matches);
  const tokens = getTokens(recording.markets);
  for (const trade of trades) expectTrade(trade, tokens);
  for (const market of recording.markets) {
    const own = trades.filter((trade) => trade.expected.condition_id === market.condition_id);
    expectMarket(market, own, recording);
  }
});

test("every expected row of generation 3 has its own log", () => {
  const recording = readRecording("contracts-gen3");
  const trades = placeTrades(recording);
  const matches = placeMatches(recording, trades);
  assert.deepEqual([countLogs(trades), countLogs(matches)], [393, 195]);
  assertSumsAgree(matches);
  const tokens = tokensOf3(recording.markets);
  for (const match of matches) expectMatch(match, tokens);
  for (const market of recording.markets) {
    const own = trades.filter((trade) => trade.expected.condition_id === market.condition_id);
    expectMarket3(market, own);
  }
});

test("amounts and ratios are exact", () => {
  assert.deepEqual(["0", "1", "-1", "1500000", "1000000"].map(amount), [
    "0",
    "0.000001",
    "-0.000001",
    "1.5",
    "1",
  ]);
  assert.deepEqual(
    [ratio("1", "3"), ratio("2", "3"), ratio("1", "0"), ratio("-2", "3"), ratio("0", "-0")],
    ["0.333333", "0.666667", null, "-0.666667", null],
  );
  // 0.0000005 and 0.0000015 are halfway between two digits and are rounded to the even one.
  assert.deepEqual([ratio("1", "2000000"), ratio("3", "2000000")], ["0", "0.000002"]);
});

function countLogs(rows: readonly { readonly log: Parameters<typeof getPlace>[0] }[]): number {
  return new Set(rows.map((row) => getPlace(row.log).seq)).size;
}

function assertSumsAgree(matches: readonly PlacedMatch[]): void {
  for (const match of matches) {
    const { expected } = match;
    const legs = typeof expected.legs === "number" ? expected.legs : expected.legs.length;
    assert.equal(match.legs.length, legs, expected.case);
    assert.equal(sum(match, "shares"), expected.sum_shares ?? expected.shares, expected.case);
    const cash = expected.sum_taker_usdc ?? expected.taker_usdc;
    assert.equal(sum(match, "taker_usdc"), cash, expected.case);
  }
}

function sum(match: PlacedMatch, field: "shares" | "taker_usdc"): string {
  return match.legs.reduce((total, leg) => total + BigInt(leg.expected[field]), 0n).toString();
}
