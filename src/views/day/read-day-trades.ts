import { blockNumberOf, firstSeqOf, type Seq } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { enumCodes } from "../../storage/codec/fill-layout.ts";
import { type NativeBlock, readNativeBlocks } from "../../storage/codec/native-blocks.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";
import type { StoredTrades } from "./trade-queue.ts";

/** Fills of a page, about, where nothing else is asked for: 10 MB of columns. */
const pageFillsUsual = 200_000;

/** Pages that are read while one is taken in: the engine is done with them sooner than we are. */
const pagesAhead = 2;

/** Bytes of a position, a time, an id, two decimals of micros, a word, a generation and a hash. */
const widths = [8, 4, 32, 16, 16, 1, 1, 32] as const;
const two32 = 2 ** 32;
/** The highest word of safe integers is below it. */
const safeWordMax = 2 ** 21;

/** Positions: `from` inclusive, `to` exclusive. */
type DayRange = Range<Seq> & { readonly pageFills?: number };

/** Answers the next page, `undefined` when there is none. */
type Pages = () => Promise<Buffer> | undefined;

/**
 * The trades of a range in chain order. All of a day are read at every start, some hundred thousand to
 * some millions, so they come as columns: nothing is made of each.
 */
export function readDayTrades(
  engine: Engine,
  range: DayRange,
): AsyncGenerator<StoredTrades, void, undefined> {
  // On its way before anybody takes it, nor looks at its failure.
  const pages = beginPages(engine, range);
  pages.catch(() => {});
  return tradesFrom(pages);
}

async function* tradesFrom(pages: Promise<Pages>): AsyncGenerator<StoredTrades, void, undefined> {
  const next = await pages;
  for (let page = next(); page !== undefined; page = next()) {
    for (const block of readNativeBlocks(await page, widths)) {
      if (block.rows > 0) yield tradesOf(block);
    }
  }
}

async function beginPages(engine: Engine, range: DayRange): Promise<Pages> {
  const ends = await readPageEnds(engine, range);
  const wanted = ends.map((end, index) => {
    const start = ends[index - 1] ?? range.from;
    return `seq >= ${integerLiteral(start)} AND seq < ${integerLiteral(end)}`;
  });
  const begun: Promise<Buffer>[] = [];
  const beginNext = () => {
    const where = wanted.shift();
    if (where !== undefined) begun.push(readPage(engine, where));
  };
  for (let count = 0; count < pagesAhead; count += 1) beginNext();
  return () => {
    const page = begun.shift();
    beginNext();
    return page;
  };
}

/**
 * Where pages end, by what the commit records count: a page that ended after so many rows would be read twice,
 * as the engine looks for its end in all of the parts.
 */
async function readPageEnds(
  engine: Engine,
  { from, to, pageFills = pageFillsUsual }: DayRange,
): Promise<readonly Seq[]> {
  const since = `to_block >= ${integerLiteral(blockNumberOf(from))}`;
  const rows = await engine.query(
    `SELECT max(to_block) AS last FROM
       (SELECT to_block, sum(fills) OVER (ORDER BY to_block) AS fills_until
        FROM commits WHERE ${since})
     GROUP BY intDiv(fills_until, ${integerLiteral(pageFills)}) ORDER BY last`,
  );
  const ends = rows.map(([last]) => firstSeqOf(Number(last) + 1));
  return [...ends.filter((end) => end < to), to];
}

function readPage(engine: Engine, where: string): Promise<Buffer> {
  const page = engine.queryNative(
    `SELECT seq, timestamp, token_id, size, value, side, exchange_version, tx_hash FROM fills
     WHERE role != 'taker' AND ${where} ORDER BY seq`,
  );
  // It is awaited later; until then no one else looks at its failure.
  page.catch(() => {});
  return page;
}

/** Every block has all of its columns. */
const none = Buffer.alloc(0);

function tradesOf({ rows, columns }: NativeBlock): StoredTrades {
  const [seqs = none, timestamps = none, ids = none, ...rest] = columns;
  const [sizes = none, values = none, sides = none, generations = none, txHashes = none] = rest;
  const [sizeWords, valueWords] = [wordsOf(sizes), wordsOf(values)];
  return {
    length: rows,
    seqs: positionsOf(wordsOf(seqs), rows),
    timestamps: wordsOf(timestamps),
    tokenIds: wordsOf(ids),
    txHashes: wordsOf(txHashes),
    ...amountsOf(sizeWords, valueWords, rows),
    generations,
    buys: sides.map((side) => (side === enumCodes.side.BUY ? 1 : 0)),
    exactAt: (index) => ({
      size: amountAt(sizeWords, 4 * index),
      value: amountAt(valueWords, 4 * index),
    }),
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
