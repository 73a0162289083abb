/**
 * Fills as they stand in the table. They are read as raw columns: a function around a column, as for
 * ids in hex, costs a query of a page more than its rows do, and text has to be made and read again.
 */
import { assert } from "../base/assert.ts";
import type { Hash, Seq } from "../base/ids.ts";
import { zeroHash } from "../base/ids.ts";
import type { Generation } from "../decode/contracts.ts";
import type { Fill } from "../market/fill.ts";
import type { Engine } from "./engine.ts";
import {
  enumCodes,
  type FillColumn,
  placesInRest,
  type RestField,
  restBytes,
  restLength,
  storedColumns,
} from "./fill-layout.ts";
import { type NativeBlock, readNativeBlocks } from "./native-blocks.ts";
import type { Span } from "./part-map.ts";
import { RowReader } from "./row-reader.ts";
import type { PartQuestion, StoreReader } from "./store-reader.ts";

const words = {
  exchange: wordsOf(enumCodes.exchange),
  role: wordsOf(enumCodes.role),
  side: wordsOf(enumCodes.side),
  matchType: wordsOf(enumCodes.matchType),
} as const;

/** The first of some rows by position. */
export type Cut = {
  readonly order: "asc" | "desc";
  readonly span: Span;
  readonly limit: number;
};

/** Where the fields of a row begin, and what they are read from. */
type StoredRow = {
  readonly columns: Readonly<Record<FillColumn, RowReader>>;
  readonly rest: RowReader;
  /** Where its value of `rest` is, or would be if its length stood before it. */
  readonly restAt: number;
  readonly index: number;
};

const widths = storedColumns.map(({ bytes }) => bytes);
const names = storedColumns.map(({ name }) => name).join();

/** Reads what `FROM` and all that follows it select, as the fills that were appended. */
export async function readStoredFills(engine: Engine, from: string): Promise<readonly Fill[]> {
  return (await readStoredRows(engine, from)).map(fillOf);
}

/** The same, cut and put in order here; what is cut away is not made into fills. */
export async function readCutFills(
  engine: Engine,
  from: string,
  { order, span, limit }: Cut,
): Promise<readonly Fill[]> {
  const sign = order === "asc" ? 1 : -1;
  return (await readStoredRows(engine, from))
    .map((row) => ({ row, seq: seqOf(row) }))
    .filter(({ seq }) => seq >= span.from && seq < span.to)
    .toSorted((a, b) => sign * (a.seq - b.seq))
    .slice(0, limit)
    .map(({ row }) => fillOf(row));
}

async function readStoredRows(engine: Engine, from: string): Promise<readonly StoredRow[]> {
  // Naming the columns takes a tenth of the query.
  const bytes = await engine.queryNative(`SELECT * FROM ${from}`);
  return [...readNativeBlocks(bytes, widths)].flatMap((block) => {
    assert(block.names.join() === names, "the table has its columns in their order");
    return rowsOf(block, (index) => restBytes * index);
  });
}

/**
 * The first final fills of a token out of the files of the engine, in no order and maybe some more; `null` when the
 * engine has to be asked. Rejects with `SERVICE_UNAVAILABLE` when too many wait.
 */
export async function readTokenFills(
  reader: StoreReader,
  choice: Omit<PartQuestion, "table">,
): Promise<readonly Fill[] | null> {
  const found = await reader.readRows({ ...choice, table: "fills" });
  if (found === null) return null;
  const bareBytes = restBytes - restLength.length;
  return rowsOf(found, (index) => bareBytes * index - restLength.length).map(fillOf);
}

function rowsOf(
  { rows, columns: bodies }: Pick<NativeBlock, "rows" | "columns">,
  restAt: (index: number) => number,
): StoredRow[] {
  const readers = bodies.map((column) => new RowReader(column));
  const rest = readers.at(-1);
  assert(rest !== undefined, "every column has been read");
  const columns = Object.fromEntries(
    readers.map((reader, index) => [storedColumns[index]?.name, reader]),
  ) as StoredRow["columns"];
  return Array.from({ length: rows }, (_, index) => ({
    columns,
    rest,
    restAt: restAt(index),
    index,
  }));
}

function seqOf({ columns, index }: StoredRow): Seq {
  return columns.seq.uint64(8 * index) as Seq;
}

function fillOf(row: StoredRow): Fill {
  const { columns, rest, restAt, index } = row;
  const at = (field: RestField): number => restAt + placesInRest[field];
  const matchType = wordOf(words.matchType, rest.uint8(at("match_type")));
  const matchSeq = rest.uint64(at("match_seq"));
  return {
    seq: seqOf(row),
    timestamp: columns.timestamp.uint32(4 * index),
    blockHash: rest.hash(at("block_hash")) as Hash,
    txHash: columns.tx_hash.hash(32 * index) as Hash,
    exchange: {
      kind: "exchange",
      address: rest.address(at("exchange_address")),
      exchange: wordOf(words.exchange, rest.uint8(at("exchange"))),
      generation: columns.exchange_version.uint8(index) as Generation,
      startBlock: 0,
    },
    role: wordOf(words.role, columns.role.uint8(index)),
    orderHash: columns.order_hash.hash(32 * index) as Hash,
    maker: columns.maker.address(20 * index),
    taker: columns.taker.address(20 * index),
    makerSide: wordOf(words.side, rest.uint8(at("maker_side"))),
    makerTokenId: rest.tokenId(at("maker_token_id")),
    makerAmount: BigInt.asUintN(128, rest.int128(at("maker_amount"))),
    takerAmount: BigInt.asUintN(128, rest.int128(at("taker_amount"))),
    fee: rest.int128(at("fee")),
    feeRefund: rest.int128(at("fee_refund")),
    builder: unlessZero(rest.hash(at("builder")) as Hash),
    metadata: unlessZero(rest.hash(at("metadata")) as Hash),
    tokenId: columns.token_id.tokenId(32 * index),
    side: wordOf(words.side, columns.side.uint8(index)),
    size: columns.size.int128(16 * index),
    value: columns.value.int128(16 * index),
    matchType: matchType === "none" ? null : matchType,
    takerOrderHash: unlessZero(rest.hash(at("taker_order_hash")) as Hash),
    matchSeq: matchSeq === 0 ? null : (matchSeq as Seq),
    legs: rest.uint16(at("legs")),
  };
}

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
