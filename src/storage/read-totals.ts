import type { Seq, TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { lastTradeOf, type TokenTotals } from "../market/market.ts";
import { minuteOf } from "../market/minute-candle.ts";
import { enumCodes } from "./codec/fill-layout.ts";
import { type ColumnBlock, readColumns } from "./codec/native-blocks.ts";
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
  const [row] = await engine.query(`SELECT uniq(token_id) FROM fills WHERE ${where}`);
  const queries = Math.max(1, Math.ceil(Number(row?.[0]) / tokensPerQuery));
  for (let query = 0; query < queries; query += 1) {
    const blocks = await readColumns(
      engine,
      columns,
      `FROM fills
       WHERE ${where} AND cityHash64(token_id) % ${integerLiteral(queries)} = ${integerLiteral(query)}
       GROUP BY token_id ORDER BY token_id`,
    );
    for (const { rows, readers } of blocks) {
      for (let index = 0; index < rows; index += 1) yield totalsAt(readers, index);
    }
  }
}

function totalsAt(
  readers: ColumnBlock<keyof typeof columns>["readers"],
  index: number,
): StoredTotals {
  const lastTrade = lastTradeOf({
    seq: readers.seq.uint64(8 * index) as Seq,
    timestamp: readers.timestamp.uint32(4 * index),
    side: readers.side.uint8(index) === enumCodes.side.BUY ? "BUY" : "SELL",
    size: readers.size.int128(16 * index),
    value: readers.value.int128(16 * index),
    txHash: readers.txHash.hash(32 * index),
  });
  const firstPriced = readers.firstPricedTimestamp.uint32(4 * index);
  return {
    tokenId: readers.tokenId.tokenId(32 * index),
    totals: {
      trades: readers.trades.uint64(8 * index),
      volumeUsd: readers.volumeUsd.int128(16 * index),
      volumeShares: readers.volumeShares.int128(16 * index),
      lastTrade,
      firstTimestamp: readers.firstTimestamp.uint32(4 * index),
      lastTimestamp: readers.lastTimestamp.uint32(4 * index),
      firstMinute: lastTrade === null ? null : minuteOf(firstPriced),
      generations: readers.generations.uint8(index),
    },
    firstSeq: readers.firstSeq.uint64(8 * index) as Seq,
  };
}
