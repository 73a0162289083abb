import type { Seq, TokenId } from "../base/ids.ts";
import type { Fill } from "./fill.ts";

/** A trade with the fields that the last-day window needs. Amounts are micros, times Unix seconds. */
export type DayTrade = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly tokenId: TokenId;
  readonly size: bigint;
  readonly value: bigint;
  readonly isBuy: boolean;
};

/** Reduces a fill to the fields of a `DayTrade`. */
export function dayTradeOf({ seq, timestamp, tokenId, size, value, side }: Fill): DayTrade {
  return { seq, timestamp, tokenId, size, value, isBuy: side === "BUY" };
}
