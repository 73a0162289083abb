/** The tables of facts and candles, and the SQL that selects their rows by block. */
import { firstSeqOf } from "../../base/ids.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import type { BatchRows } from "../codec/encode-facts.ts";
import { integerLiteral } from "../sql-literal.ts";

/** The rows of a batch that each table takes. */
export const rowsOfTable = {
  fills: "fills",
  fills_by_token: "fills",
  events: "events",
  quarantine: "quarantine",
  minute_candles: "minuteCandles",
  hour_candles: "minuteCandles",
} as const satisfies Record<string, keyof BatchRows>;

/** The name of a table that appends insert into. */
export type FactTable = keyof typeof rowsOfTable;

/** The tables of facts. Their rows have a `seq`. */
export const factTables = ["fills", "fills_by_token", "events", "quarantine"] as const;

/** The tables of candles, which are derived from fills. */
export const candleTables = ["minute_candles", "hour_candles"] as const;

/** The index of each table's row count in `counts` of a commit record: fills, events, quarantined logs. */
export const countIndexOf = { fills: 0, fills_by_token: 0, events: 1, quarantine: 2 } as const;

/** Returns the condition that a row is in a range of blocks. */
export function blockRangeSql({ from, to }: BlockRange): string {
  return `seq >= ${integerLiteral(firstSeqOf(from))} AND seq < ${integerLiteral(firstSeqOf(to + 1))}`;
}
