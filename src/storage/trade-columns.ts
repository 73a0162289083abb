/** Trades in SQL: the fields of `TradeRow` from stored fills, for files that the engine encodes. */
import { setImmediate as turn } from "node:timers/promises";
import { assert } from "../base/assert.ts";
import type { TokenId } from "../base/ids.ts";
import type { TokenFacts } from "../market/market.ts";
import { type TradeRow, toTokenAndMarketFields } from "../rows/trade-row.ts";
import { fillFields } from "./codec/fill-layout.ts";
import { type Engine, prefixed } from "./engine/engine.ts";
import { textLiteral } from "./sql-literal.ts";

/** The SQL of a column: as a lake has it, with hashes and addresses as bytes; and as lists have it. */
type TradeColumn = { readonly lake: string; readonly list: string };

/**
 * The price of a fill: value divided by shares, half to even, NULL for no shares. Amounts on the chain can be larger than
 * any real one: these are divided with 256 bits, which takes three times as long.
 */
export const priceSql = `if(fills.size = 0, NULL, if(abs(reinterpret(fills.value, 'Int128')) < toInt128('1${"0".repeat(31)}'),
  ${divide("toInt128")}, ${divide("toInt256")}))`;

function divide(toInteger: "toInt128" | "toInt256"): string {
  const [cash, shares, whole, rest] = ["cash", "shares", "whole", "rest"].map(
    (name) => `${name}_${toInteger}`,
  );
  return `reinterpret(toInt128((fills.value < 0 ? -1 : 1) * (
    (intDivOrZero((abs(${toInteger}(reinterpret(fills.value, 'Int128'))) * 1000000) AS ${cash},
      (${toInteger}(reinterpret(fills.size, 'Int128'))) AS ${shares}) AS ${whole})
    + (2 * ((${cash} - ${whole} * ${shares}) AS ${rest}) > ${shares} OR (2 * ${rest} = ${shares} AND ${whole} % 2 = 1)))),
    'Decimal(38, 6)')`;
}

/**
 * The columns of a trade, in the order of its row, from `fills` joined with `tokens`. Amounts are DECIMAL(38, 6), which
 * holds every stored one. The price is rounded half to even, as `priceMicros` does. `status` is that of final rows.
 */
export const tradeColumns = {
  id: same(`concat(${hexText("fills.tx_hash")}, '-', toString(fills.seq % 1000000))`),
  seq: integer("fills.seq"),
  token_id: same("tokens.token_id"),
  complement_token_id: same("tokens.complement_token_id"),
  condition_id: same("tokens.condition_id"),
  outcome: same("tokens.outcome"),
  outcome_index: integer("tokens.outcome_index"),
  side: same("toString(fills.side)"),
  price: same(priceSql),
  size: same("fills.size"),
  value_usd: same("fills.value"),
  maker_fee: same("fills.fee"),
  maker_fee_net: same("fills.fee - fills.fee_refund"),
  maker_fee_asset: same(
    "if(fills.exchange_version = 1 AND fills.maker_side = 'BUY', 'token', 'collateral')",
  ),
  match_seq: integer("nullIf(fills.match_seq, 0)"),
  maker: bytes("fills.maker"),
  taker: bytes("fills.taker"),
  maker_side: same("toString(fills.maker_side)"),
  maker_token_id: same(
    `if(fills.maker_token_id = fills.token_id, tokens.token_id, ${decimalText("toLowCardinality(fills.maker_token_id)")})`,
  ),
  match_type: same("if(fills.match_type = 'none', 'direct', toString(fills.match_type))"),
  maker_order_hash: bytes("fills.order_hash"),
  taker_order_hash: bytes(nullIfZero("fills.taker_order_hash")),
  exchange: same("toString(fills.exchange)"),
  exchange_version: integer("fills.exchange_version"),
  exchange_address: bytes("fills.exchange_address"),
  module: same("if(fills.exchange_version = 3, tokens.module, NULL)"),
  builder: bytes(nullIfZero("fills.builder")),
  metadata: bytes(nullIfZero("fills.metadata")),
  block_number: integer("intDiv(fills.seq, 1000000)"),
  block_hash: bytes("fills.block_hash"),
  log_index: integer("toUInt32(fills.seq % 1000000)"),
  tx_hash: bytes("fills.tx_hash"),
  timestamp: same("toDateTime64(fills.timestamp, 3, 'UTC')"),
  timestamp_ms: same("toInt64(fills.timestamp) * 1000"),
  status: same("'finalized'"),
  maker_amount_raw: same("toString(fills.maker_amount)"),
  taker_amount_raw: same("toString(fills.taker_amount)"),
  question: same("tokens.question"),
  slug: same("tokens.slug"),
  event_id: same("tokens.event_id"),
} as const satisfies Readonly<Record<keyof TradeRow, TradeColumn>>;

/**
 * What the views know about a token, as JSON. `token` is its stored id in hex. Texts are joined as numbers of a
 * dictionary: a trade would have half a kilobyte of them.
 */
const tokenColumns = `token String, outcome_index Nullable(UInt8), token_id LowCardinality(String), ${[
  "complement_token_id",
  "condition_id",
  "outcome",
  "module",
  "question",
  "slug",
  "event_id",
]
  .map((name) => `${name} LowCardinality(Nullable(String))`)
  .join()}`;

/** Trades to encode, and how. */
export type TradeFile = {
  /** `<table> WHERE <condition>`, or with `PREWHERE`, of final trades. */
  readonly from: string;
  /** A `SELECT` list. */
  readonly columns: readonly string[];
  readonly order: "asc" | "desc";
  readonly getToken: (tokenId: TokenId) => TokenFacts;
  readonly format: "Parquet" | "ArrowStream";
  readonly settings: string;
};

/**
 * Encodes final trades as an Arrow stream. `columns` are fields of their rows. One thread is enough: it is faster than
 * the client reads.
 */
export async function encodeTradeStream(
  engine: Engine,
  file: Omit<TradeFile, "format" | "settings">,
): Promise<Buffer> {
  const columns = file.columns.map((name) => `${getColumn(name).list} AS ${name}`);
  const stream = await encodeTrades(engine, {
    ...file,
    columns,
    format: "ArrowStream",
    settings:
      "max_threads = 1, output_format_arrow_compression_method = 'none', output_format_arrow_string_as_string = 1",
  });
  assert(stream !== null, "final rows do not change");
  return stream;
}

function getColumn(name: string): TradeColumn {
  const column = new Map<string, TradeColumn>(Object.entries(tradeColumns)).get(name);
  assert(column !== undefined, "a trade has the column");
  return column;
}

/** Encodes trades as a file, sorted by `seq`; `null` when there are none. */
export async function encodeTrades(engine: Engine, file: TradeFile): Promise<Buffer | null> {
  const { from, columns, order, getToken, format, settings } = file;
  const found = await engine.query(
    `SELECT DISTINCT hex(token_id) FROM ${from} SETTINGS ${settings}`,
  );
  if (found.length === 0) return null;
  const lines: string[] = [];
  for (const [hex] of found) {
    const token = prefixed(hex) as TokenId;
    lines.push(JSON.stringify({ token, ...toTokenAndMarketFields(getToken(token)) }, toWellFormed));
    // Requests of a service that exports have their turn.
    if (lines.length % tokensPerTurn === 0) await turn();
  }
  const tokens = `SELECT toFixedString(unhex(substring(token, 3)), 32) AS token, * EXCEPT token
    FROM format(JSONEachRow, '${tokenColumns}', ${textLiteral(lines.join("\n"))})`;
  // Conditions are about stored columns, whose names the columns of a file have, too.
  const fills = `SELECT ${fillFields.join()} FROM ${from}`;
  return engine.queryBinary(
    `SELECT ${columns.join()} FROM (${fills}) AS fills LEFT JOIN (${tokens}) AS tokens ON fills.token_id = tokens.token
     ORDER BY fills.seq ${order} SETTINGS ${settings}`,
    format,
  );
}

const tokensPerTurn = 256;

/** Replaces lone surrogates, which are no characters: UTF-8 does not have them. */
function toWellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function same(sql: string): TradeColumn {
  return { lake: sql, list: sql };
}

function integer(sql: string): TradeColumn {
  return { lake: sql, list: `toInt64(${sql})` };
}

function bytes(sql: string): TradeColumn {
  return { lake: sql, list: hexText(sql) };
}

function hexText(sql: string): string {
  return `concat('0x', lower(hex(${sql})))`;
}

/** A hash; NULL for zeros, which the store has for a missing one. */
function nullIfZero(column: string): string {
  return `nullIf(${column}, toFixedString('', 32))`;
}

/** A token id as decimal text. A column of low cardinality converts each id once. */
export function decimalText(column: string): string {
  return `toString(reinterpretAsUInt256(reverse(${column})))`;
}
