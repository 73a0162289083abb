import type { Seq, TokenId } from "../base/ids.ts";
import type { Fill } from "./fill.ts";

/** What the window needs of a trade. Micros, unix seconds. */
export type DayTrade = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly tokenId: TokenId;
  readonly size: bigint;
  readonly value: bigint;
  readonly isBuy: boolean;
};

/** A trade as the window keeps it. */
export function dayTradeOf({ seq, timestamp, tokenId, size, value, side }: Fill): DayTrade {
  return { seq, timestamp, tokenId, size, value, isBuy: side === "BUY" };
}
