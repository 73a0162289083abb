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

/** In the order of the table. Open and close are (seq, price), so that merging needs no order. */
const columns = {
  token_id: { type: "FixedString(32)", widths: [32] },
  minute: types.integer4,
  open: merged("min", types.tick),
  close: merged("max", types.tick),
  high: merged("max", types.micros),
  low: merged("min", types.micros),
  volume: merged("sum", types.micros),
  buy_volume_usd: merged("sum", types.micros),
  sell_volume_usd: merged("sum", types.micros),
  trades: merged("sum", types.integer8),
  unpriced_trades: merged("sum", types.integer8),
  unpriced_usd: merged("sum", types.micros),
  first_seq: merged("min", types.integer8),
  first_timestamp: merged("min", types.integer4),
  last_timestamp: merged("max", types.integer4),
  generations: merged("groupBitOr", { type: "UInt8", widths: [1] }),
} as const;

/** The columns, in the order of the table. */
export const minuteColumns: readonly MinuteColumn[] = Object.entries(columns).map(
  ([name, { type, widths }]) => ({ name, type, widths }),
);

/** Those that a candle is made of. */
export const candleColumns: readonly MinuteColumn[] = minuteColumns.slice(
  0,
  minuteColumns.findIndex(({ name }) => name === "trades") + 1,
);

/** The columns as they are declared. */
export const minuteColumnsSql: string = minuteColumns
  .map(({ name, type }) => `${name} ${type}`)
  .join(", ");

/** How many bytes a row has, and where the columns begin in it. */
export const minuteBytes: number = bytesBefore(minuteColumns.length);
export const placesInMinute = Object.fromEntries(
  minuteColumns.map(({ name }, index) => [name, bytesBefore(index)]),
) as Readonly<Record<keyof typeof columns, number>>;

/** How many bytes the values of a column have. */
export function widthOf({ widths }: MinuteColumn): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

function bytesBefore(index: number): number {
  return minuteColumns.slice(0, index).reduce((sum, column) => sum + widthOf(column), 0);
}

function merged(
  how: "min" | "max" | "sum" | "groupBitOr",
  { type, widths }: Omit<MinuteColumn, "name">,
): Omit<MinuteColumn, "name"> {
  return { type: `SimpleAggregateFunction(${how}, ${type})`, widths };
}
