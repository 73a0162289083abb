import { type Seq, toFirstSeq } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { mapInOrder } from "../base/time/map-in-order.ts";
import type { DayTrade } from "../market/fill.ts";
import { enumCodes } from "./codec/fill-layout.ts";
import { type Offsets, readRows } from "./codec/fixed-rows.ts";
import type { RowReader } from "./codec/row-reader.ts";
import type { Engine } from "./engine/engine.ts";
import { integerLiteral } from "./sql-literal.ts";

/** Blocks of a page by default: an hour of Polygon. At 100 fills a block, the rows of a page have 15 MB. */
const pageBlocksUsual = 2000;

/** How many pages are read at the same time. The engine reads them faster than this process handles them. */
const pagesAtOnce = 3;

const columns = {
  seq: ["seq", 8],
  timestamp: ["timestamp", 4],
  tokenId: ["token_id", 32],
  size: ["size", 16],
  value: ["value", 16],
  side: ["side", 1],
} as const;

/** Positions: `from` inclusive, `to` exclusive. */
type DayRange = Range<Seq> & { readonly pageBlocks?: number };

/** The trades of a range in chain order, page by page. */
export async function* readDayTrades(
  engine: Engine,
  range: DayRange,
): AsyncGenerator<Iterable<DayTrade>, void, undefined> {
  const readPage = ({ from, to }: Range<Seq>) => {
    const clauses = `FROM fills WHERE role != 'taker'
      AND seq >= ${integerLiteral(from)} AND seq < ${integerLiteral(to)} ORDER BY seq`;
    return readRows(engine, { columns, clauses }, tradeAt);
  };
  yield* mapInOrder(toPages(range), readPage, pagesAtOnce);
}

/** Returns the last block of the commits that end at or before a time in Unix seconds; -1 for none. */
export async function readLastBlock(engine: Engine, timestamp: number): Promise<number> {
  const [row] = await engine.query(
    `SELECT count(), max(to_block) FROM commits WHERE last_timestamp <= ${integerLiteral(timestamp)}`,
  );
  return Number(row?.[0]) === 0 ? -1 : Number(row?.[1]);
}

/** Splits a range by blocks. The engine would read a page cut by LIMIT twice. */
export function* toPages({
  from,
  to,
  pageBlocks = pageBlocksUsual,
}: DayRange): Generator<Range<Seq>> {
  for (let start = from; start < to; ) {
    const end = Math.min(start + toFirstSeq(pageBlocks), to) as Seq;
    yield { from: start, to: end };
    start = end;
  }
}

function tradeAt(rows: RowReader, row: number, at: Offsets<keyof typeof columns>): DayTrade {
  return {
    seq: rows.uint64(row + at.seq) as Seq,
    timestamp: rows.uint32(row + at.timestamp),
    tokenId: rows.tokenId(row + at.tokenId),
    size: rows.int128(row + at.size),
    value: rows.int128(row + at.value),
    side: rows.uint8(row + at.side) === enumCodes.side.BUY ? "BUY" : "SELL",
  };
}
