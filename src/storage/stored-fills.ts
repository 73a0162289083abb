/**
 * Reads stored fills as the bytes of their rows. Text would have to be made and parsed. Even a function around a
 * column, such as `hex` for ids, would cost a page more than its rows do.
 */
import { assert } from "../base/assert.ts";
import { type Hash, type Seq, zeroHash } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Generation } from "../contracts/contracts.ts";
import type { Fill } from "../market/fill.ts";
import { toMinute } from "../market/minute-candle.ts";
import {
  enumCodes,
  type FillTable,
  fillBytes,
  fillColumns,
  fillOffsets,
} from "./codec/fill-layout.ts";
import { RowReader } from "./codec/row-reader.ts";
import { RowWriter } from "./codec/row-writer.ts";
import { firstSeqAbove } from "./covered-facts.ts";
import type { Engine } from "./engine/engine.ts";
import { integerLiteral } from "./sql-literal.ts";

const words = {
  exchange: toWords(enumCodes.exchange),
  role: toWords(enumCodes.role),
  side: toWords(enumCodes.side),
  matchType: toWords(enumCodes.matchType),
} as const;

/** What `RowBinaryWithNames` begins with: the number of columns and their names. */
const header = fillColumns
  .reduce((names, name) => names.text(name), new RowWriter().uint8(fillColumns.length))
  .finish();

/** Reads fills from a table, equal to those that were appended. `clauses` follow `FROM <table>`. */
export async function readStoredFills(
  engine: Engine,
  table: FillTable,
  clauses: string,
): Promise<readonly Fill[]> {
  // `SELECT *`, because naming the columns takes a tenth of the time of the query.
  const sql = `SELECT * FROM ${table} ${clauses}`;
  const bytes = await engine.queryBinary(sql, "RowBinaryWithNames");
  const isOurs = bytes.subarray(0, header.length).equals(header);
  assert(isOurs, "the table has its columns in their order");
  return decodeFills(bytes.subarray(header.length));
}

/** Reads the fills of the minute in which the coverage ends. */
export function readOpenMinute(engine: Engine, coverage: Coverage): Promise<readonly Fill[]> {
  const clauses = `WHERE timestamp >= ${integerLiteral(toMinute(coverage.last.timestamp))}
    AND seq < ${integerLiteral(firstSeqAbove(coverage))}`;
  return readStoredFills(engine, "fills", clauses);
}

/** Decodes the rows that `encodeFills` writes. */
export function decodeFills(rows: Buffer): readonly Fill[] {
  const reader = new RowReader(rows);
  assert(rows.length % fillBytes === 0, "rows of fills are whole");
  return Array.from({ length: rows.length / fillBytes }, (_, index) =>
    fillAt(reader, index * fillBytes),
  );
}

function fillAt(rows: RowReader, row: number): Fill {
  const at = fillOffsets;
  const matchType = toWord(words.matchType, rows.uint8(row + at.match_type));
  const matchSeq = rows.uint64(row + at.match_seq) as Seq;
  return {
    seq: rows.uint64(row + at.seq) as Seq,
    timestamp: rows.uint32(row + at.timestamp),
    blockHash: rows.hash(row + at.block_hash),
    txHash: rows.hash(row + at.tx_hash),
    exchange: {
      kind: "exchange",
      address: rows.address(row + at.exchange_address),
      exchange: toWord(words.exchange, rows.uint8(row + at.exchange)),
      generation: rows.uint8(row + at.exchange_version) as Generation,
      startBlock: 0,
    },
    role: toWord(words.role, rows.uint8(row + at.role)),
    orderHash: rows.hash(row + at.order_hash),
    maker: rows.address(row + at.maker),
    taker: rows.address(row + at.taker),
    makerSide: toWord(words.side, rows.uint8(row + at.maker_side)),
    makerTokenId: rows.tokenId(row + at.maker_token_id),
    makerAmount: BigInt.asUintN(128, rows.int128(row + at.maker_amount)),
    takerAmount: BigInt.asUintN(128, rows.int128(row + at.taker_amount)),
    fee: rows.int128(row + at.fee),
    feeRefund: rows.int128(row + at.fee_refund),
    builder: unlessZero(rows.hash(row + at.builder)),
    metadata: unlessZero(rows.hash(row + at.metadata)),
    tokenId: rows.tokenId(row + at.token_id),
    side: toWord(words.side, rows.uint8(row + at.side)),
    size: rows.int128(row + at.size),
    value: rows.int128(row + at.value),
    matchType: matchType === "none" ? null : matchType,
    takerOrderHash: unlessZero(rows.hash(row + at.taker_order_hash)),
    matchSeq: matchSeq === 0 ? null : matchSeq,
    legs: rows.uint16(row + at.legs),
  };
}

function toWords<Word extends string>(
  codes: Readonly<Record<Word, number>>,
): ReadonlyMap<number, Word> {
  return new Map(Object.entries<number>(codes).map(([word, code]) => [code, word as Word]));
}

function toWord<Word>(words: ReadonlyMap<number, Word>, code: number): Word {
  const word = words.get(code);
  assert(word !== undefined, "an enumerated column holds one of its words");
  return word;
}

function unlessZero(hash: Hash): Hash | null {
  return hash === zeroHash ? null : hash;
}
