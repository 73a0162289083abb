/** The meaning of each list filter, expressed on the rows that clients see. */
import assert from "node:assert/strict";
import type { Row } from "./open-data-server.ts";

export type NaiveFilter = {
  /** A value of the filter that this row passes, or that is at the boundary. */
  readonly sample: (row: Row) => string;
  readonly holds: (row: Row, value: string) => boolean;
};

/** Filters of every list over a range of the chain. */
export const rangeFilters = {
  start: number("timestamp_ms", (time, start) => time >= start),
  end: number("timestamp_ms", (time, end) => time < end),
  from_block: number("block_number", (block, from) => block >= from),
  to_block: number("block_number", (block, to) => block <= to),
  after_seq: {
    ...number("seq", (seq, after) => seq > after),
    // For odd positions the one below, so that the row itself is included.
    sample: ({ seq }) => String(Number(seq) - (Number(seq) % 2)),
  },
  tx_hash: equal("tx_hash"),
  status: {
    sample: (row) => String(row["status"]),
    holds: (row, value) => value === "confirmed" || row["status"] === value,
  },
} satisfies Record<string, NaiveFilter>;

/** Filters of lists of trades. */
export const tradeFilters = {
  ...rangeFilters,
  side: equal("side"),
  min_size: amount("size", (size, min) => size >= min),
  max_size: amount("size", (size, max) => size <= max),
  min_value: amount("value_usd", (value, min) => value >= min),
  maker: equal("maker"),
  taker: equal("taker"),
  wallet: {
    sample: ({ seq, maker, taker }) => String(Number(seq) % 2 === 0 ? maker : taker),
    holds: (row, value) => row["maker"] === value || row["taker"] === value,
  },
  token_id: {
    sample: (row) => String(row["token_id"]),
    holds: (row, value) => value.split(",").includes(String(row["token_id"])),
  },
  condition_id: equal("condition_id"),
  exchange: equal("exchange"),
  match_type: equal("match_type"),
  builder: optional("builder", `0x${"ab".repeat(32)}`),
  min_price: price((own, min) => own >= min),
  max_price: price((own, max) => own <= max),
} satisfies Record<string, NaiveFilter>;

/** Returns the rows that pass all filters of a query. */
export function filterNaively(
  rows: readonly Row[],
  query: Readonly<Record<string, string>>,
  filters: Readonly<Record<string, NaiveFilter>>,
): readonly Row[] {
  return rows.filter((row) =>
    Object.entries(query).every(([name, value]) => {
      const filter = filters[name];
      assert(filter !== undefined, `${name} has a naive filter`);
      return filter.holds(row, value);
    }),
  );
}

/** Parses a decimal string into millionths. */
export function toMicros(text: unknown): bigint {
  const [, sign, whole = "0", fraction = ""] =
    /^(-?)([0-9]+)(?:\.([0-9]{1,6}))?$/.exec(String(text)) ?? [];
  const micros = BigInt(whole + fraction.padEnd(6, "0"));
  return sign === "-" ? -micros : micros;
}

/** A filter of a field that some rows lack. For those rows the sample is `absent`, a value of no row. */
export function optional(field: string, absent: string): NaiveFilter {
  return {
    sample: ({ [field]: value }) => (typeof value === "string" ? value : absent),
    holds: (row, value) => row[field] === value,
  };
}

/** Filters by price. A row without a price passes none. */
function price(holds: (own: bigint, value: bigint) => boolean): NaiveFilter {
  return {
    sample: ({ price: own }) => (typeof own === "string" ? own : "0.5"),
    holds: (row, value) => row["price"] !== null && holds(toMicros(row["price"]), toMicros(value)),
  };
}

function equal(field: string): NaiveFilter {
  return {
    sample: (row) => String(row[field]),
    holds: (row, value) => row[field] === value,
  };
}

function number(field: string, holds: (own: number, value: number) => boolean): NaiveFilter {
  return {
    sample: (row) => String(row[field]),
    holds: (row, value) => holds(Number(row[field]), Number(value)),
  };
}

function amount(field: string, holds: (own: bigint, value: bigint) => boolean): NaiveFilter {
  return {
    sample: (row) => String(row[field]).replace("-", ""),
    holds: (row, value) => holds(toMicros(row[field]), toMicros(value)),
  };
}
