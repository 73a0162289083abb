import type { Seq, TokenId } from "../base/ids.ts";
import type { StoredTrades } from "../market/day-window.ts";
import type { Engine } from "./engine.ts";
import { type NativeBlock, readNativeBlocks } from "./native-blocks.ts";
import { enumCodes } from "./schema.ts";
import { integerLiteral } from "./sql-literal.ts";

/** Rows read at once: the next ones come while these are taken in. */
const pageRows = 200_000;

/** Bytes of a position, a time, an id, two decimals of micros, a word and a generation. */
const widths = [8, 4, 32, 16, 16, 1, 1] as const;
const idBytes = 32;
const two32 = 2 ** 32;
/** The highest word of safe integers is below it. */
const safeWordMax = 2 ** 21;

/**
 * The trades from a position or a time on, up to before position `to`, in chain order. All of a day are read at every start,
 * some hundred thousand to some millions, so they come as columns: nothing is made of each.
 */
export function readDayTrades(
  engine: Engine,
  from: ({ readonly seq: Seq } | { readonly timestamp: number }) & { readonly to: Seq },
): AsyncGenerator<StoredTrades, void, undefined> {
  const since =
    "seq" in from
      ? `seq >= ${integerLiteral(from.seq)}`
      : `timestamp >= ${integerLiteral(from.timestamp)}`;
  const wanted = `${since} AND seq < ${integerLiteral(from.to)}`;
  // On its way before anybody takes it.
  return pagesFrom(engine, wanted, readPage(engine, wanted));
}

async function* pagesFrom(
  engine: Engine,
  wanted: string,
  first: Promise<Buffer>,
): AsyncGenerator<StoredTrades, void, undefined> {
  let page = first;
  for (;;) {
    const blocks = [...readNativeBlocks(await page, widths)]
      .filter(({ rows }) => rows > 0)
      .map(tradesOf);
    const isLast = blocks.reduce((sum, { length }) => sum + length, 0) < pageRows;
    const last = blocks.at(-1);
    if (!isLast && last !== undefined) {
      const newest = integerLiteral(last.seqs.at(-1) ?? 0);
      page = readPage(engine, `${wanted} AND seq > ${newest}`);
    }
    yield* blocks;
    if (isLast) return;
  }
}

function readPage(engine: Engine, where: string): Promise<Buffer> {
  const page = engine.queryNative(
    `SELECT seq, timestamp, token_id, size, value, side, exchange_version FROM oddwire.fills
     WHERE role != 'taker' AND ${where} ORDER BY seq LIMIT ${pageRows}`,
  );
  // It is awaited later; until then nobody else looks at its failure.
  page.catch(() => {});
  return page;
}

/** Every block has all of its columns. */
const none = Buffer.alloc(0);

function tradesOf({ rows, columns }: NativeBlock): StoredTrades {
  const [seqs = none, timestamps = none, ids = none, ...rest] = columns;
  const [sizes = none, values = none, sides = none, generations = none] = rest;
  const [sizeWords, valueWords] = [wordsOf(sizes), wordsOf(values)];
  return {
    length: rows,
    seqs: positionsOf(wordsOf(seqs), rows),
    timestamps: wordsOf(timestamps),
    tokenIds: wordsOf(ids),
    ...amountsOf(sizeWords, valueWords, rows),
    generations,
    buys: sides.map((side) => (side === enumCodes.side.BUY ? 1 : 0)),
    exactAt: (index) => ({
      size: amountAt(sizeWords, 4 * index),
      value: amountAt(valueWords, 4 * index),
    }),
    tokenIdAt: (index) =>
      `0x${ids.toString("hex", idBytes * index, idBytes * (index + 1))}` as TokenId,
  };
}

/** Columns stand wherever the ones before end; words only where they can be read as such. */
function wordsOf(column: Buffer): Uint32Array {
  const words = new Uint32Array(column.length / 4);
  new Uint8Array(words.buffer).set(column);
  return words;
}

function positionsOf(words: Uint32Array, rows: number): Float64Array {
  const positions = new Float64Array(rows);
  for (let i = 0; i < rows; i += 1) {
    positions[i] = (words[2 * i] ?? 0) + (words[2 * i + 1] ?? 0) * two32;
  }
  return positions;
}

/** Amounts of four words each, of which nearly always the lower two say it all. */
function amountsOf(sizeWords: Uint32Array, valueWords: Uint32Array, rows: number) {
  const [sizes, values] = [new Float64Array(rows), new Float64Array(rows)];
  for (let i = 0; i < rows; i += 1) {
    const isSafe = isSafeAt(sizeWords, 4 * i) && isSafeAt(valueWords, 4 * i);
    sizes[i] = isSafe ? lowOf(sizeWords, 4 * i) : Number.NaN;
    values[i] = isSafe ? lowOf(valueWords, 4 * i) : Number.NaN;
  }
  return { sizes, values };
}

function isSafeAt(words: Uint32Array, at: number): boolean {
  return words[at + 3] === 0 && words[at + 2] === 0 && (words[at + 1] ?? 0) < safeWordMax;
}

function lowOf(words: Uint32Array, at: number): number {
  return (words[at] ?? 0) + (words[at + 1] ?? 0) * two32;
}

function amountAt(words: Uint32Array, at: number): bigint {
  const [low = 0, high = 0, higher = 0, highest = 0] = words.subarray(at, at + 4);
  const upper = (BigInt(highest | 0) << 32n) | BigInt(higher);
  return (upper << 64n) | (BigInt(high) << 32n) | BigInt(low);
}
