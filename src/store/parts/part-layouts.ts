/**
 * How the rows lie in the parts that are read here: trades by token, and minutes by token. Everything that a part says of
 * itself has to be as it is told here, else the engine is asked.
 */
import { restLength, storedColumns } from "../fill-layout.ts";
import { candleColumns, minuteColumns } from "../minute-layout.ts";

/** How long a text is, as it stands in front of all texts of a granule. */
const lengthBytes = 8;

const fillColumns: readonly PartColumn[] = storedColumns.map(({ name, type, bytes }) => ({
  name,
  type,
  widths: type === "String" ? [lengthBytes, bytes - restLength.length] : [bytes],
}));

/** A column whose values all have the same length. */
export type PartColumn = {
  readonly name: string;
  /** As the engine spells it. */
  readonly type: string;
  /** Bytes of a value: of a tuple those of each of its fields, of a text those of its length before it. */
  readonly widths: readonly number[];
};

export type PartLayout = {
  /** Within a part. */
  readonly folder: string;
  readonly columns: readonly PartColumn[];
  /** How many of them are read: all, but for those at the end that nobody asks for. */
  readonly columnsRead: number;
  /** Which columns the rows are in the order of: the token, and an unsigned integer. */
  readonly key: readonly [token: number, place: number];
  /** Which of them say when, and in which role; `null` when rows are not chosen by that. */
  readonly chosenBy: { readonly timestamp: number; readonly role: number } | null;
  /** Files beside: the positions, and the times, of some thousand rows each. */
  readonly seqsFile: string | null;
  readonly timesFile: string;
};

/** Fills by token, then position. */
export const fillsByToken: PartLayout = {
  folder: "by_token.proj",
  columns: fillColumns,
  columnsRead: fillColumns.length,
  key: [indexOf(fillColumns, "token_id"), indexOf(fillColumns, "seq")],
  chosenBy: { timestamp: indexOf(fillColumns, "timestamp"), role: indexOf(fillColumns, "role") },
  seqsFile: "primary.cidx",
  timesFile: "skp_idx_timestamps.idx2",
};

/** Minutes by token, then time. */
export const minutesByToken: PartLayout = {
  folder: ".",
  columns: minuteColumns,
  columnsRead: candleColumns.length,
  key: [indexOf(minuteColumns, "token_id"), indexOf(minuteColumns, "minute")],
  chosenBy: null,
  seqsFile: null,
  timesFile: "skp_idx_minutes.idx2",
};

function indexOf(columns: readonly PartColumn[], name: string): number {
  return columns.findIndex((column) => column.name === name);
}
