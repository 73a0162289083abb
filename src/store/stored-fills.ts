/**
 * Fills as they stand in the table. They are read as raw columns: a function around a column, as for
 * ids in hex, costs a query of a page more than its rows do, and text has to be made and read again.
 */
import { assert } from "../base/assert.ts";
import type { Hash, Seq } from "../base/ids.ts";
import type { ExchangeContract, Generation } from "../decode/contracts.ts";
import { zeroHash } from "../decode/words.ts";
import type { Fill } from "../market/fill.ts";
import type { Engine } from "./engine.ts";
import { type NativeBlock, readNativeBlocks } from "./native-blocks.ts";
import { RowReader } from "./row-reader.ts";
import { enumCodes, fillColumnBytes } from "./schema.ts";

type Column = keyof typeof fillColumnBytes;

const columns = Object.keys(fillColumnBytes) as readonly Column[];
const widths = Object.values(fillColumnBytes);

const words = {
  exchange: wordsOf(enumCodes.exchange),
  role: wordsOf(enumCodes.role),
  side: wordsOf(enumCodes.side),
  matchType: wordsOf(enumCodes.matchType),
} as const;

/** Reads what `FROM` and all that follows it select, as the fills that were appended. */
export async function readStoredFills(engine: Engine, from: string): Promise<readonly Fill[]> {
  // Naming 27 columns takes a tenth of the query.
  const bytes = await engine.queryNative(`SELECT * FROM ${from}`);
  return [...readNativeBlocks(bytes, widths)].flatMap(fillsOf);
}

function fillsOf(block: NativeBlock): Fill[] {
  assert(block.names.join() === columns.join(), "the table has its columns in their order");
  const readers = new Map(
    columns.map((column, index) => [column, new RowReader(block.columns[index] ?? none)]),
  );
  const at = (column: Column): RowReader => {
    const reader = readers.get(column);
    assert(reader !== undefined, "every column has been read");
    return reader;
  };
  return Array.from({ length: block.rows }, (_, row) => fillAt(at, row));
}

const none = Buffer.alloc(0);

function fillAt(of: (column: Column) => RowReader, row: number): Fill {
  const hash = (column: Column): Hash => of(column).hash(32 * row) as Hash;
  const micros = (column: Column): bigint => of(column).int128(16 * row);
  const matchType = wordOf(words.matchType, of("match_type").uint8(row));
  const matchSeq = of("match_seq").uint64(8 * row);
  return {
    seq: of("seq").uint64(8 * row) as Seq,
    timestamp: of("timestamp").uint32(4 * row),
    blockHash: hash("block_hash"),
    txHash: hash("tx_hash"),
    exchange: exchangeAt(of, row),
    role: wordOf(words.role, of("role").uint8(row)),
    orderHash: hash("order_hash"),
    maker: of("maker").address(20 * row),
    taker: of("taker").address(20 * row),
    makerSide: wordOf(words.side, of("maker_side").uint8(row)),
    makerTokenId: of("maker_token_id").tokenId(32 * row),
    makerAmount: BigInt.asUintN(128, micros("maker_amount")),
    takerAmount: BigInt.asUintN(128, micros("taker_amount")),
    fee: micros("fee"),
    feeRefund: micros("fee_refund"),
    builder: unlessZero(hash("builder")),
    metadata: unlessZero(hash("metadata")),
    tokenId: of("token_id").tokenId(32 * row),
    side: wordOf(words.side, of("side").uint8(row)),
    size: micros("size"),
    value: micros("value"),
    matchType: matchType === "none" ? null : matchType,
    takerOrderHash: unlessZero(hash("taker_order_hash")),
    matchSeq: matchSeq === 0 ? null : (matchSeq as Seq),
    legs: of("legs").uint16(2 * row),
  };
}

function exchangeAt(of: (column: Column) => RowReader, row: number): ExchangeContract {
  return {
    kind: "exchange",
    address: of("exchange_address").address(20 * row),
    exchange: wordOf(words.exchange, of("exchange").uint8(row)),
    generation: of("exchange_version").uint8(row) as Generation,
    startBlock: 0,
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
