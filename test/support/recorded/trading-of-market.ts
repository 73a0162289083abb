/** Sums and prices from the trades of one market. */
import assert from "node:assert/strict";
import { amount, ratio } from "./exact.ts";
import { getPlace, type PlacedTrade } from "./place-logs.ts";

export function inOrder(trades: readonly PlacedTrade[]): PlacedTrade[] {
  return trades.toSorted((a, b) => getPlace(a.log).seq - getPlace(b.log).seq);
}

/** The newest price of either token, as a price of this token. Trades of 0 shares have no price. */
export function lastPrice(tokenId: string, trades: readonly PlacedTrade[]): string | null {
  const last = trades.findLast(({ expected }) => expected.shares !== "0")?.expected;
  if (last === undefined) return null;
  const value = BigInt(last.taker_usdc);
  const isOwn = last.token_id === tokenId;
  return ratio(isOwn ? value : BigInt(last.shares) - value, last.shares);
}

/**
 * The volumes of a market. Asserts first that the recording's sums agree with its legs. Recordings last less than
 * 24 hours.
 */
export function tradingFields(
  trades: readonly PlacedTrade[],
  recorded: { readonly legs: number; readonly shares: string; readonly taker_usdc: string },
): object {
  const sum = (field: "shares" | "taker_usdc") =>
    trades.reduce((total, trade) => total + BigInt(trade.expected[field]), 0n).toString();
  const volume = { legs: trades.length, shares: sum("shares"), taker_usdc: sum("taker_usdc") };
  const { legs, shares, taker_usdc } = recorded;
  assert.deepEqual(volume, { legs, shares, taker_usdc }, "the recording contradicts itself");
  const lastTradeAt = trades.at(-1)?.expected.block_timestamp;
  return {
    volume_usd: amount(taker_usdc),
    volume_shares: amount(shares),
    trades: legs,
    volume_24h_usd: amount(taker_usdc),
    trades_24h: legs,
    last_trade_at_ms: lastTradeAt === undefined ? null : lastTradeAt * 1000,
  };
}
