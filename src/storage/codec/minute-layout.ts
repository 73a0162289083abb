/** The columns of `minute_candles` and `hour_candles`, and how rows of one candle merge. */

/** The types of columns: times in unix seconds, counts, amounts in micros. */
const types = {
  time: "UInt32",
  count: "UInt64",
  micros: "Decimal(38, 6)",
  /** A `seq`, shifted by 128 bits, and the price at it in micros. The engine compares tuples four times more slowly. */
  tick: "UInt256",
} as const;

/** The columns, in the order of the table. Open and close begin with a `seq`, so rows merge in any order. */
const columns = {
  token_id: "FixedString(32)",
  minute: types.time,
  open: merged("min", types.tick),
  close: merged("max", types.tick),
  high: merged("max", types.micros),
  low: merged("min", types.micros),
  volume: merged("sum", types.micros),
  buy_volume_usd: merged("sum", types.micros),
  sell_volume_usd: merged("sum", types.micros),
  trades: merged("sum", types.count),
} as const;

/** The column declarations of `minute_candles` in SQL. */
export const minuteColumnsSql: string = declare(columns);

/** The column declarations of `hour_candles`. It takes the same rows and merges the rows of one hour. */
export const hourColumnsSql: string = declare({ ...columns, minute: merged("min", types.time) });

function declare(named: Readonly<Record<string, string>>): string {
  return Object.entries(named)
    .map(([name, type]) => `${name} ${type}`)
    .join();
}

function merged(how: "min" | "max" | "sum", type: string): string {
  return `SimpleAggregateFunction(${how}, ${type})`;
}
