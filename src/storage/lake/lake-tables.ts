/**
 * The tables of a lake in SQL: how rows of the store become columns of a Parquet file that any tool reads, and how the
 * rows of a file become rows of the store again. The engine encodes and decodes Parquet.
 */
import { enumCodes } from "../codec/fill-layout.ts";
import { ledgerCodes } from "../codec/ledger-layout.ts";
import type { Engine } from "../engine/engine.ts";
import { isInCandles, walletTables } from "../schema/fact-tables.ts";
import { decimalText, priceSql, tradeColumns } from "../trade-columns.ts";

/** A column of a file: its name and type, the SQL that writes it from the stored column, and the SQL that reads it back. */
type LakeColumn = readonly [name: string, type: string, write: string, read: string];

const { exchange, role, side, matchType } = enumCodes;

const time: LakeColumn = [
  "timestamp",
  "DateTime64(3, 'UTC')",
  "toDateTime64(timestamp, 3, 'UTC')",
  "toUInt32(toUnixTimestamp(timestamp))",
];

/** Parquet has no integers of 256 bits. */
const shares: LakeColumn = ["shares_raw", "String", "toString(shares)", "toInt256(shares_raw)"];

const seq = same("UInt64")("seq");
const bytes32 = same("FixedString(32)");
const address = same("FixedString(20)");
const decimal = same("Decimal(38, 6)");
const text = same("String");

/**
 * The tables that hold all facts, from which a store is rebuilt. Hashes, addresses and token ids are their bytes. The
 * columns are in the order of the stored table.
 */
const factColumns = {
  fills: [
    seq,
    time,
    bytes32("token_id"),
    word("role", role),
    ...["maker", "taker"].map(address),
    ...["size", "value"].map(decimal),
    word("side", side),
    [
      "exchange_version",
      "UInt8",
      "exchange_version",
      "toUInt8(exchange_version + throwIf(exchange_version NOT IN (1, 2, 3), 'exchange_version is 1, 2 or 3'))",
    ],
    ...["order_hash", "tx_hash", "block_hash"].map(bytes32),
    address("exchange_address"),
    word("exchange", exchange),
    word("maker_side", side),
    bytes32("maker_token_id"),
    ...["maker_amount", "taker_amount"].map(
      (name): LakeColumn => [
        `${name}_raw`,
        "String",
        `toString(${name})`,
        `toUInt128(${name}_raw)`,
      ],
    ),
    ...["fee", "fee_refund"].map(decimal),
    ...["builder", "metadata"].map(bytes32),
    word("match_type", matchType),
    bytes32("taker_order_hash"),
    same("UInt64")("match_seq"),
    same("UInt16")("legs"),
  ],
  events: [
    seq,
    time,
    ...["block_hash", "tx_hash"].map(bytes32),
    address("address"),
    ["kind", "String", "toString(kind)", "kind"],
    bytes32("subject"),
    text("payload"),
  ],
  quarantine: [seq, time, text("reason"), text("log")],
  ledger: [
    address("wallet"),
    seq,
    same("UInt32")("sub"),
    time,
    ...["tx_hash", "token_id"].map(bytes32),
    word("kind", ledgerCodes.kind),
    word("role", ledgerCodes.role),
    word("nature", ledgerCodes.nature),
    shares,
    ...["cash", "fee", "fee_shares"].map(decimal),
    ...["counterparty", "via"].map(address),
  ],
  balance_changes: [bytes32("token_id"), address("wallet"), seq, time, shares],
} as const satisfies Record<string, readonly LakeColumn[]>;

/** A table of facts in a lake. */
export type LakeFactTable = keyof typeof factColumns;

/** Returns the tables of facts that a store exports. */
export function getLakeTables({ hasWallets }: Pick<Engine, "hasWallets">) {
  return lakeFactTables.filter((table) => hasWallets || !walletTables.has(table));
}

export const lakeFactTables = Object.keys(factColumns) as readonly LakeFactTable[];

/** Returns the columns of a file of facts as a `SELECT` list from the stored table. */
export function writtenColumns(table: LakeFactTable): string {
  return factColumns[table].map(([name, , write]) => `${write} AS \`${name}\``).join(", ");
}

/** Returns the stored columns as a `SELECT` list from a file of facts. */
export function storedColumns(table: LakeFactTable): string {
  return factColumns[table].map(([name, , , read]) => `${read} AS ${storedName(name)}`).join(", ");
}

/** Returns the columns of a file of facts with their types. A file that has others was not written by `writtenColumns`. */
export function declaredColumns(table: LakeFactTable): string {
  return factColumns[table].map(([name, type]) => `${name} ${type}`).join(", ");
}

/** The columns of which no two rows of a table have the same values. */
export const keyColumns: Readonly<Record<LakeFactTable, string>> = {
  fills: "seq",
  events: "seq",
  quarantine: "seq",
  ledger: "wallet, seq, sub",
  balance_changes: "token_id, wallet, seq",
};

/**
 * The columns of `trades` in SQL: those of `GET /v1/trades?include=market`, but hashes as bytes, which take half the
 * time and size of text, and no order hashes, a fifth of the lake, which are in `fills`.
 */
export const lakeTradeColumns: readonly string[] = Object.entries(tradeColumns)
  .filter(([name]) => !["id", "maker_order_hash", "taker_order_hash", "status"].includes(name))
  .map(([name, { lake }]) => `${lake} AS ${name}`);

/** The columns of `candles_1m`, from `minute_candles` as `minutes`: one minute of one token's own trades. */
export const candleColumns = `
  ${decimalText("toLowCardinality(token_id)")} AS token_id, toDateTime64(minute, 3, 'UTC') AS timestamp,
  ${tickPrice("minutes.open")} AS open, high, low, ${tickPrice("minutes.close")} AS close, volume,
  buy_volume_usd + sell_volume_usd AS volume_usd, buy_volume_usd, sell_volume_usd, trades`;

/** Returns the rows of `minute_candles` that a table of fills derives, as `deriveMinuteCandles` does. */
export function selectMinutes(fills: string): string {
  return `SELECT token_id, toUInt32(intDiv(timestamp, 60) * 60) AS minute, min(tick) AS open, max(tick) AS close,
    max(price) AS high, min(price) AS low, sum(size) AS volume, sumIf(value, side = 'BUY') AS buy_volume_usd,
    sumIf(value, side = 'SELL') AS sell_volume_usd, count() AS trades
  FROM (
    SELECT *, assumeNotNull(${priceSql}) AS price,
      bitShiftLeft(toUInt256(seq), 128) + toUInt256(reinterpret(price, 'UInt128')) AS tick
    FROM ${fills} AS fills WHERE ${isInCandles}
  ) GROUP BY token_id, minute`;
}

/** The name of the stored column: amounts of an order are text in a file, which `_raw` says. */
function storedName(name: string): string {
  return name.replace(/_raw$/, "");
}

function same(type: string): (name: string) => LakeColumn {
  return (name) => [name, type, name, name];
}

/** An enumerated column, written as its word. */
function word(name: string, codes: Readonly<Record<string, number>>): LakeColumn {
  const words = Object.entries(codes).map(([text, code]) => `'${text}' = ${code}`);
  return [name, "String", `toString(${name})`, `CAST(${name} AS Enum8(${words.join(", ")}))`];
}

/** The price of a tick (`minute-layout.ts`): its lowest 128 bits. */
function tickPrice(tick: string): string {
  return `reinterpret(toInt128(${tick}), 'Decimal(38, 6)')`;
}
