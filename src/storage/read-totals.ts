import type { Seq, TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { getLastTrade, type TokenTotals } from "../market/market.ts";
import { toMinute } from "../market/minute-candle.ts";
import { enumCodes } from "./codec/fill-layout.ts";
import { type Offsets, readRows } from "./codec/fixed-rows.ts";
import type { RowReader } from "./codec/row-reader.ts";
import type { Engine } from "./engine/engine.ts";
import { integerLiteral } from "./sql-literal.ts";

/** Tokens that one query aggregates. The engine needs about 350 bytes of memory for each. */
const tokensPerQuery = 400_000;

/** The columns of a token's totals, each with the bytes of a value. A trade of 0 shares has no price. */
const columns = {
  tokenId: ["token_id", 32],
  trades: ["count()", 8],
  volumeUsd: ["sum(value)", 16],
  volumeShares: ["sum(size)", 16],
  generations: ["toUInt8(groupBitOr(bitShiftLeft(1, exchange_version - 1)))", 1],
  firstSeq: ["min(seq)", 8],
  firstTimestamp: ["min(timestamp)", 4],
  lastTimestamp: ["max(timestamp)", 4],
  firstPricedTimestamp: ["minIf(timestamp, size != 0)", 4],
  seq: ["maxIf(seq, size != 0)", 8],
  timestamp: ["argMaxIf(timestamp, seq, size != 0)", 4],
  side: ["argMaxIf(side, seq, size != 0)", 1],
  size: ["argMaxIf(size, seq, size != 0)", 16],
  value: ["argMaxIf(value, seq, size != 0)", 16],
  txHash: ["argMaxIf(tx_hash, seq, size != 0)", 32],
} as const;

type StoredTotals = {
  readonly tokenId: TokenId;
  readonly totals: TokenTotals;
  readonly firstSeq: Seq;
};

/**
 * Reads the totals of all tokens traded in a range of positions, in as many queries as their number needs. Each query
 * reads all trades of the range and returns its tokens in the order of ids.
 */
export async function* readTotals(
  engine: Engine,
  { from, to }: Range<Seq>,
): AsyncGenerator<StoredTotals, void, undefined> {
  const where = `role != 'taker' AND seq >= ${integerLiteral(from)} AND seq < ${integerLiteral(to)}`;
  for await (const part of tokenParts(engine, "fills", where)) {
    const clauses = `FROM fills WHERE ${part} GROUP BY token_id ORDER BY token_id`;
    yield* await readRows(engine, { columns, clauses }, totalsAt);
  }
}

/** Yields conditions that together select the rows of `where`, each for as many tokens as one query aggregates. */
export async function* tokenParts(
  engine: Engine,
  table: string,
  where: string,
): AsyncGenerator<string, void, undefined> {
  const [row] = await engine.query(`SELECT uniq(token_id) FROM ${table} WHERE ${where}`);
  const queries = Math.max(1, Math.ceil(Number(row?.[0]) / tokensPerQuery));
  for (let query = 0; query < queries; query += 1)
    yield `${where} AND cityHash64(token_id) % ${integerLiteral(queries)} = ${integerLiteral(query)}`;
}

function totalsAt(rows: RowReader, row: number, at: Offsets<keyof typeof columns>): StoredTotals {
  const lastTrade = getLastTrade({
    seq: rows.uint64(row + at.seq) as Seq,
    timestamp: rows.uint32(row + at.timestamp),
    side: rows.uint8(row + at.side) === enumCodes.side.BUY ? "BUY" : "SELL",
    size: rows.int128(row + at.size),
    value: rows.int128(row + at.value),
    txHash: rows.hash(row + at.txHash),
  });
  const firstPriced = rows.uint32(row + at.firstPricedTimestamp);
  return {
    tokenId: rows.tokenId(row + at.tokenId),
    totals: {
      trades: rows.uint64(row + at.trades),
      volumeUsd: rows.int128(row + at.volumeUsd),
      volumeShares: rows.int128(row + at.volumeShares),
      lastTrade,
      firstTimestamp: rows.uint32(row + at.firstTimestamp),
      lastTimestamp: rows.uint32(row + at.lastTimestamp),
      firstMinute: lastTrade === null ? null : toMinute(firstPriced),
      generations: rows.uint8(row + at.generations),
    },
    firstSeq: rows.uint64(row + at.firstSeq) as Seq,
  };
}
