/** The tables of facts and candles, and how rows of theirs are named in SQL. */
import { firstSeqOf } from "../../base/ids.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import type { BatchRows } from "../codec/encode-facts.ts";
import { integerLiteral } from "../sql-literal.ts";

/** Which rows of a batch each table takes. */
export const rowsOfTable = {
  fills: "fills",
  fills_by_token: "fills",
  events: "events",
  quarantine: "quarantine",
  minute_candles: "minuteCandles",
  hour_candles: "minuteCandles",
} as const satisfies Record<string, keyof BatchRows>;

/** A table that appends insert into. */
export type FactTable = keyof typeof rowsOfTable;

/** Those of facts, whose rows have a position. */
export const factTables = ["fills", "fills_by_token", "events", "quarantine"] as const;

/** Those of candles, which are made of fills. */
export const candleTables = ["minute_candles", "hour_candles"] as const;

/** Which of the counts of a commit record, which are of fills, of events and in quarantine, is that of a table. */
export const countOfTable = { fills: 0, fills_by_token: 0, events: 1, quarantine: 2 } as const;

/** The condition that a row lies in a range of blocks. */
export function seqsOf({ from, to }: BlockRange): string {
  return `seq >= ${integerLiteral(firstSeqOf(from))} AND seq < ${integerLiteral(firstSeqOf(to + 1))}`;
}
