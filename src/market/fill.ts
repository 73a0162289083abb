import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeContract } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";

/** How a leg was settled; `direct` when an operator filled the order without a match. */
export type MatchType = "complementary" | "mint" | "merge" | "direct";

/** Where a row of `OrderFilled` is: a leg of a match, its summary, or on its own. */
export type FillRole = "maker" | "taker" | "direct";

/**
 * One `OrderFilled` with what its match adds to it. A **trade** is a fill whose role is `maker` or
 * `direct` (`docs/counting.md`, rule 1); the `taker` row is the summary of its match and never volume.
 * Amounts are micros (6 decimals); they exceed 2^53 in practice.
 */
export type Fill = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly exchange: ExchangeContract;
  readonly role: FillRole;

  /** The order as in the event. */
  readonly orderHash: Hash;
  readonly maker: Address;
  readonly taker: Address;
  readonly makerSide: Side;
  readonly makerTokenId: TokenId;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly fee: bigint;
  /** What a fee module gave back of `fee`; generation 1 only. */
  readonly feeRefund: bigint;
  readonly builder: Hash | null;
  readonly metadata: Hash | null;

  /** The trade, from the taker's side; on a `taker` row its own order, `size` and `value` being sums over its legs. */
  readonly tokenId: TokenId;
  readonly side: Side;
  readonly size: bigint;
  /** The taker's half in collateral; negative when a mint maker paid more than 1 per share. */
  readonly value: bigint;
  readonly matchType: MatchType | null;
  readonly takerOrderHash: Hash | null;
  /** Position of the match's `OrdersMatched`; `null` for direct fills. */
  readonly matchSeq: Seq | null;
  /** How many legs the match has; 0 unless `role` is `taker`. */
  readonly legs: number;
};

/** Whether a fill is a trade: what volume, prices and candles are made of. */
export function isTrade(fill: Fill): boolean {
  return fill.role !== "taker";
}
