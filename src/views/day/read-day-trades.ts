import { blockNumberOf, firstSeqOf, type Seq } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { DayTrade } from "../../market/day-trade.ts";
import { enumCodes } from "../../storage/codec/fill-layout.ts";
import { type ColumnBlock, readColumns } from "../../storage/codec/native-blocks.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";

/** About how many fills a page has by default: 10 MB of columns. */
const pageFillsUsual = 200_000;

/** How many pages are read at the same time. The engine reads them faster than this process handles them. */
const pagesAtOnce = 3;

/** The columns that are read, and how many bytes a value has. */
const columns = {
  seq: ["seq", 8],
  timestamp: ["timestamp", 4],
  tokenId: ["token_id", 32],
  size: ["size", 16],
  value: ["value", 16],
  side: ["side", 1],
} as const;

/** Positions: `from` inclusive, `to` exclusive. */
type DayRange = Range<Seq> & { readonly pageFills?: number };

/** The trades of a range in chain order, page by page. */
export async function* readDayTrades(
  engine: Engine,
  range: DayRange,
): AsyncGenerator<Iterable<DayTrade>, void, undefined> {
  const ends = await readPageEnds(engine, range);
  const starts = [range.from, ...ends];
  const readPage = ([index, end]: [number, Seq]) =>
    readColumns(
      engine,
      columns,
      `FROM fills WHERE role != 'taker'
         AND seq >= ${integerLiteral(starts[index] ?? end)} AND seq < ${integerLiteral(end)} ORDER BY seq`,
    );
  for await (const page of mapInOrder(ends.entries(), readPage, pagesAtOnce)) {
    for (const block of page) yield tradesOf(block);
  }
}

/** Computes where pages end from the counts in commit records. The engine would read a page cut by LIMIT twice. */
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

function* tradesOf({
  rows,
  readers,
}: ColumnBlock<keyof typeof columns>): Generator<DayTrade, void, undefined> {
  for (let row = 0; row < rows; row += 1) {
    yield {
      seq: readers.seq.uint64(8 * row) as Seq,
      timestamp: readers.timestamp.uint32(4 * row),
      tokenId: readers.tokenId.tokenId(32 * row),
      size: readers.size.int128(16 * row),
      value: readers.value.int128(16 * row),
      isBuy: readers.side.uint8(row) === enumCodes.side.BUY,
    };
  }
}
