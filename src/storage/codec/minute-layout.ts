/** The columns of `minute_candles` and `hour_candles`: how rows of one candle merge, and the bytes of a value. */

/** The types of columns: times in unix seconds, counts, positions, amounts in micros. */
const types = {
  integer4: { type: "UInt32", bytes: 4 },
  integer8: { type: "UInt64", bytes: 8 },
  micros: { type: "Decimal(38, 6)", bytes: 16 },
  /** A `seq`, shifted by 128 bits, and the price at it in micros. The engine compares tuples four times more slowly. */
  tick: { type: "UInt256", bytes: 32 },
} as const;

type MinuteColumn = { readonly type: string; readonly bytes: number };

/** The columns, in the order of the table. Open and close begin with a `seq`, so rows merge in any order. */
const columns = {
  token_id: { type: "FixedString(32)", bytes: 32 },
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
  generations: merged("groupBitOr", { type: "UInt8", bytes: 1 }),
} as const;

const named: readonly (readonly [string, MinuteColumn])[] = Object.entries(columns);

/** The column declarations of `minute_candles` in SQL. */
export const minuteColumnsSql: string = declare(named);

/** The column declarations of `hour_candles`. It takes the same rows and merges the rows of one hour. */
export const hourColumnsSql: string = declare(
  Object.entries({ ...columns, minute: merged("min", types.integer4) }),
);

/** The length of a row, in bytes. */
export const minuteBytes: number = named.reduce((sum, [, { bytes }]) => sum + bytes, 0);

function declare(named: readonly (readonly [string, MinuteColumn])[]): string {
  return named.map(([name, { type }]) => `${name} ${type}`).join();
}

function merged(
  how: "min" | "max" | "sum" | "groupBitOr",
  { type, bytes }: MinuteColumn,
): MinuteColumn {
  return { type: `SimpleAggregateFunction(${how}, ${type})`, bytes };
}
