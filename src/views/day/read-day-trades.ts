import { blockNumberOf, firstSeqOf, type Seq } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import type { DayTrade } from "../../market/day-trade.ts";
import { enumCodes } from "../../storage/codec/fill-layout.ts";
import { type NativeBlock, readNativeBlocks } from "../../storage/codec/native-blocks.ts";
import { RowReader } from "../../storage/codec/row-reader.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";

/** Fills of a page, about, where nothing else is asked for: 10 MB of columns. */
const pageFillsUsual = 200_000;

/** Pages that are read while one is taken in: the engine is done with them sooner than we are. */
const pagesAhead = 2;

/** Bytes of a position, a time, an id, two decimals of micros and a side. */
const widths = [8, 4, 32, 16, 16, 1] as const;

/** Positions: `from` inclusive, `to` exclusive. */
type DayRange = Range<Seq> & { readonly pageFills?: number };

/** Answers the next page, `undefined` when there is none. */
type Pages = () => Promise<Buffer> | undefined;

/** The trades of a range in chain order, page by page. */
export function readDayTrades(
  engine: Engine,
  range: DayRange,
): AsyncGenerator<Iterable<DayTrade>, void, undefined> {
  // Begun before the first page is taken; its failure is thrown then.
  const pages = beginPages(engine, range);
  pages.catch(() => {});
  return tradesFrom(pages);
}

async function* tradesFrom(
  pages: Promise<Pages>,
): AsyncGenerator<Iterable<DayTrade>, void, undefined> {
  const next = await pages;
  for (let page = next(); page !== undefined; page = next()) {
    for (const block of readNativeBlocks(await page, widths)) yield tradesOf(block);
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

/** Where pages end, by what the commit records count: a page cut by LIMIT would be read twice. */
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
    `SELECT seq, timestamp, token_id, size, value, side FROM fills
     WHERE role != 'taker' AND ${where} ORDER BY seq`,
  );
  // It is awaited later; until then nothing else handles its failure.
  page.catch(() => {});
  return page;
}

/** Every block has all of its columns. */
const none = new RowReader(Buffer.alloc(0));

function* tradesOf({ rows, columns }: NativeBlock): Generator<DayTrade, void, undefined> {
  const readers = columns.map((column) => new RowReader(column));
  const [seqs = none, timestamps = none, tokenIds = none, ...rest] = readers;
  const [sizes = none, values = none, sides = none] = rest;
  for (let row = 0; row < rows; row += 1) {
    yield {
      seq: seqs.uint64(8 * row) as Seq,
      timestamp: timestamps.uint32(4 * row),
      tokenId: tokenIds.tokenId(32 * row),
      size: sizes.int128(16 * row),
      value: values.int128(16 * row),
      isBuy: sides.uint8(row) === enumCodes.side.BUY,
    };
  }
}
