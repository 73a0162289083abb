/** The columns of `minute_candles` and `hour_candles`: how two parts become one, and how long a value is. */

/** Unix seconds; micros; positions. */
const types = {
  integer4: { type: "UInt32", bytes: 4 },
  integer8: { type: "UInt64", bytes: 8 },
  micros: { type: "Decimal(38, 6)", bytes: 16 },
  /** A position with the price at it. */
  tick: { type: "Tuple(UInt64, Decimal(38, 6))", bytes: 24 },
} as const;

type MinuteColumn = { readonly type: string; readonly bytes: number };

/** In the order of the table. Open and close are (seq, price), so that merging needs no order. */
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

/** The columns as they are declared. */
export const minuteColumnsSql: string = declare(named);

/** The columns of `hour_candles`, which takes the same rows and merges those of one hour. */
export const hourColumnsSql: string = declare(
  Object.entries({ ...columns, minute: merged("min", types.integer4) }),
);

/** How many bytes a row has, and where the columns begin in it. */
export const minuteBytes: number = bytesBefore(named.length);
export const placesInMinute = Object.fromEntries(
  named.map(([name], index) => [name, bytesBefore(index)]),
) as Readonly<Record<keyof typeof columns, number>>;

function bytesBefore(index: number): number {
  return named.slice(0, index).reduce((sum, [, { bytes }]) => sum + bytes, 0);
}

function declare(named: readonly (readonly [string, MinuteColumn])[]): string {
  return named.map(([name, { type }]) => `${name} ${type}`).join();
}

function merged(
  how: "min" | "max" | "sum" | "groupBitOr",
  { type, bytes }: MinuteColumn,
): MinuteColumn {
  return { type: `SimpleAggregateFunction(${how}, ${type})`, bytes };
}
