/** The columns of `minute_candles`: how two parts of a minute become one, and what a value is. */

/** Unix seconds; micros; positions. */
const types = {
  integer4: { type: "UInt32", widths: [4] },
  integer8: { type: "UInt64", widths: [8] },
  micros: { type: "Decimal(38, 6)", widths: [16] },
  /** A position with the price at it. */
  tick: { type: "Tuple(UInt64, Decimal(38, 6))", widths: [8, 16] },
} as const;

/** A column, and how many bytes each of the fields of a value has. */
export type MinuteColumn = {
  readonly name: string;
  readonly type: string;
  readonly widths: readonly number[];
};

/** The order of the table. Open and close are (seq, price), so that merging needs no order. */
export const minuteColumns: readonly MinuteColumn[] = [
  { name: "token_id", type: "FixedString(32)", widths: [32] },
  { name: "minute", ...types.integer4 },
  merged("open", "min", types.tick),
  merged("close", "max", types.tick),
  merged("high", "max", types.micros),
  merged("low", "min", types.micros),
  merged("volume", "sum", types.micros),
  merged("buy_volume_usd", "sum", types.micros),
  merged("sell_volume_usd", "sum", types.micros),
  merged("trades", "sum", types.integer8),
  merged("unpriced_trades", "sum", types.integer8),
  merged("unpriced_usd", "sum", types.micros),
  merged("first_seq", "min", types.integer8),
  merged("first_timestamp", "min", types.integer4),
  merged("last_timestamp", "max", types.integer4),
  merged("generations", "groupBitOr", { type: "UInt8", widths: [1] }),
];

/** The columns as they are declared. */
export const minuteColumnsSql: string = minuteColumns
  .map(({ name, type }) => `${name} ${type}`)
  .join(", ");

function merged(
  name: string,
  how: "min" | "max" | "sum" | "groupBitOr",
  { type, widths }: Pick<MinuteColumn, "type" | "widths">,
): MinuteColumn {
  return { name, type: `SimpleAggregateFunction(${how}, ${type})`, widths };
}
