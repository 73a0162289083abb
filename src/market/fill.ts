import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeContract, Generation } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";

/** How a leg is settled; `direct` if an operator filled the order without a match. */
export type MatchType = "complementary" | "mint" | "merge" | "direct";

/** The role of an `OrderFilled`: a leg of a match (`maker`), its summary (`taker`), or a fill without a match. */
export type FillRole = "maker" | "taker" | "direct";

/**
 * One `OrderFilled`, completed with data of its match. A **trade** is a fill whose role is `maker` or
 * `direct` (`docs/counting.md`, rule 1). A `taker` fill is the summary of its match and never counts as volume.
 * Amounts are micros (6 decimals) and exceed 2^53 in practice.
 */
export type Fill = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly exchange: ExchangeContract;
  readonly role: FillRole;

  /** The order, with the values of the event. */
  readonly orderHash: Hash;
  readonly maker: Address;
  readonly taker: Address;
  readonly makerSide: Side;
  readonly makerTokenId: TokenId;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly fee: bigint;
  /** The part of `fee` that a fee module refunded; generation 1 only. */
  readonly feeRefund: bigint;
  readonly builder: Hash | null;
  readonly metadata: Hash | null;

  /** The trade, from the taker's side. In a `taker` fill: its own order; `size` and `value` are sums over its legs. */
  readonly tokenId: TokenId;
  readonly side: Side;
  readonly size: bigint;
  /** The taker's half in collateral; negative when a mint maker paid more than 1 per share. */
  readonly value: bigint;
  readonly matchType: MatchType | null;
  readonly takerOrderHash: Hash | null;
  /** Position of the match's `OrdersMatched`; `null` for direct fills. */
  readonly matchSeq: Seq | null;
  /** The number of legs of the match; 0 unless `role` is `taker`. */
  readonly legs: number;
};

/** Whether a fill is a trade. Volume, prices and candles are made of trades. */
export function isTrade(fill: Fill): boolean {
  return fill.role !== "taker";
}

/** A trade with the fields that the last-day window needs. */
export type DayTrade = Pick<Fill, "seq" | "timestamp" | "tokenId" | "size" | "value" | "side">;

/** A trade with the fields that views need, which are much fewer than those of its fill. */
export type Trade = DayTrade & Pick<Fill, "txHash"> & { readonly generation: Generation };

/** Reduces a fill that is a trade to the fields of a `Trade`. */
export function toTrade(fill: Fill): Trade {
  const { seq, timestamp, tokenId, size, value, side, txHash, exchange } = fill;
  const { generation } = exchange;
  return { seq, timestamp, tokenId, size, value, side, txHash, generation };
}

/** Returns the trades among fills. */
export function toTrades(fills: readonly Fill[]): readonly Trade[] {
  return fills.filter(isTrade).map(toTrade);
}

/** Returns the collateral that the owner of the order paid or received, in micros. */
export function getCash({
  makerSide,
  makerAmount,
  takerAmount,
}: Pick<Fill, "makerSide" | "makerAmount" | "takerAmount">): bigint {
  return makerSide === "BUY" ? makerAmount : takerAmount;
}

/**
 * Returns the collateral that the owner of the order paid or received after what the exchange returned, in micros.
 * The event of a taker's order is not exact before generation 3, so its amount is the sum of the legs.
 */
export function getSettledCash(fill: Fill): bigint {
  return fill.role === "taker" ? fill.value : getCash(fill);
}
