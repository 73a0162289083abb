/**
 * Reads stored fills as raw columns (`Native`). A function around a column, such as `hex` for ids, would cost
 * a page more than its rows do, and text would have to be made and parsed.
 */
import { assert } from "../base/assert.ts";
import { type Hash, type Seq, zeroHash } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import type { Fill } from "../market/fill.ts";
import {
  enumCodes,
  type FillColumn,
  type FillField,
  type FillTable,
  fillBytes,
  fillColumns,
  fillOffsets,
  offsetsOf,
} from "./codec/fill-layout.ts";
import { type NativeBlock, readNativeBlocks } from "./codec/native-blocks.ts";
import { RowReader } from "./codec/row-reader.ts";
import type { Engine } from "./engine/engine.ts";

const words = {
  exchange: wordsOf(enumCodes.exchange),
  role: wordsOf(enumCodes.role),
  side: wordsOf(enumCodes.side),
  matchType: wordsOf(enumCodes.matchType),
} as const;

/** Where the values of a field are: the reader of its column, the first byte, and the bytes from row to row. */
type Cell = { readonly reader: RowReader; readonly begin: number; readonly stride: number };
type Cells = Readonly<Record<FillField, Cell>>;

/** Reads fills from a table, equal to those that were appended. `clauses` follow `FROM <table>`. */
export async function readStoredFills(
  engine: Engine,
  table: FillTable,
  clauses: string,
): Promise<readonly Fill[]> {
  const columns = fillColumns[table];
  const names = columns.map(({ name }) => name).join();
  // `SELECT *`, because naming the columns takes a tenth of the time of the query.
  const bytes = await engine.queryNative(`SELECT * FROM ${table} ${clauses}`);
  const widths = columns.map((column) => column.bytes);
  return [...readNativeBlocks(bytes, widths)].flatMap((block) => {
    assert(block.names.join() === names, "the table has its columns in their order");
    const cells = cellsOf(block, columns);
    return Array.from({ length: block.rows }, (_, index) => fillAt(cells, index));
  });
}

/** Decodes the rows that `encodeFills` writes. */
export function decodeFills(rows: Buffer): readonly Fill[] {
  const reader = new RowReader(rows);
  const cells = Object.fromEntries(
    Object.entries(fillOffsets).map(([field, begin]) => [
      field,
      { reader, begin, stride: fillBytes },
    ]),
  ) as Cells;
  return Array.from({ length: rows.length / fillBytes }, (_, index) => fillAt(cells, index));
}

function cellsOf(block: NativeBlock, columns: readonly FillColumn[]): Cells {
  const cells = columns.flatMap(({ bytes, fields }, index) => {
    const reader = new RowReader(block.columns[index] ?? Buffer.of());
    const offsets = offsetsOf(fields);
    return fields.map((name) => [name, { reader, begin: offsets[name], stride: bytes }] as const);
  });
  return Object.fromEntries(cells) as Cells;
}

function fillAt(cells: Cells, index: number): Fill {
  const read = <Value>(
    field: FillField,
    decode: (reader: RowReader, at: number) => Value,
  ): Value => {
    const { reader, begin, stride } = cells[field];
    return decode(reader, begin + stride * index);
  };
  const matchType = wordOf(words.matchType, read("match_type", uint8));
  const matchSeq = read("match_seq", seq);
  return {
    seq: read("seq", seq),
    timestamp: read("timestamp", (reader, at) => reader.uint32(at)),
    blockHash: read("block_hash", hash),
    txHash: read("tx_hash", hash),
    exchange: {
      kind: "exchange",
      address: read("exchange_address", address),
      exchange: wordOf(words.exchange, read("exchange", uint8)),
      generation: read("exchange_version", uint8) as Generation,
      startBlock: 0,
    },
    role: wordOf(words.role, read("role", uint8)),
    orderHash: read("order_hash", hash),
    maker: read("maker", address),
    taker: read("taker", address),
    makerSide: wordOf(words.side, read("maker_side", uint8)),
    makerTokenId: read("maker_token_id", tokenId),
    makerAmount: BigInt.asUintN(128, read("maker_amount", int128)),
    takerAmount: BigInt.asUintN(128, read("taker_amount", int128)),
    fee: read("fee", int128),
    feeRefund: read("fee_refund", int128),
    builder: unlessZero(read("builder", hash)),
    metadata: unlessZero(read("metadata", hash)),
    tokenId: read("token_id", tokenId),
    side: wordOf(words.side, read("side", uint8)),
    size: read("size", int128),
    value: read("value", int128),
    matchType: matchType === "none" ? null : matchType,
    takerOrderHash: unlessZero(read("taker_order_hash", hash)),
    matchSeq: matchSeq === 0 ? null : matchSeq,
    legs: read("legs", (reader, at) => reader.uint16(at)),
  };
}

const uint8 = (reader: RowReader, at: number) => reader.uint8(at);
const int128 = (reader: RowReader, at: number) => reader.int128(at);
const seq = (reader: RowReader, at: number) => reader.uint64(at) as Seq;
const hash = (reader: RowReader, at: number) => reader.hash(at);
const address = (reader: RowReader, at: number) => reader.address(at);
const tokenId = (reader: RowReader, at: number) => reader.tokenId(at);

function wordsOf<Word extends string>(
  codes: Readonly<Record<Word, number>>,
): ReadonlyMap<number, Word> {
  return new Map(Object.entries<number>(codes).map(([word, code]) => [code, word as Word]));
}

function wordOf<Word>(known: ReadonlyMap<number, Word>, code: number): Word {
  const word = known.get(code);
  assert(word !== undefined, "an enumerated column holds one of its words");
  return word;
}

function unlessZero(hash: Hash): Hash | null {
  return hash === zeroHash ? null : hash;
}
