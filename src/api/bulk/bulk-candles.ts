import { webLimits } from "../../base/config/limits.ts";
import type { CandleRow } from "../../rows/candle-row.ts";
import type { Backend } from "../backend.ts";
import { type CandlePage, readCandlePage } from "../lists/candle-page.ts";
import type { ListParts } from "../lists/row-list.ts";
import type { BulkRows } from "./bulk-answers.ts";

/** A request for candles as a file. */
export type BulkCandles = {
  readonly path: string;
  /** The parameters that cursors are bound to; `order` is the order of the rows. */
  readonly query: { readonly limit?: number | undefined; readonly order: "asc" | "desc" };
  /** `page.order` is the order in which pages follow each other. */
  readonly page: CandlePage;
};

/** Reads one page when `limit` is given, otherwise all candles up to the row cap. */
export async function openBulkCandles(
  parts: ListParts,
  candles: BulkCandles,
): Promise<BulkRows<CandleRow>> {
  const { query, page } = candles;
  const { limit = Infinity } = query;
  if (limit > parts.bulk.rowsMax) return openAll(parts, candles);
  const { rows, edge } = await readCandlePage(parts.store, page);
  return {
    rowCount: rows.length,
    isCut: false,
    nextCursor: edge === null ? null : cursorAt(parts, candles, edge),
    chunks: [page.order === query.order ? rows : rows.toReversed()],
    writer,
  };
}

/** Cuts by time, so that the end is known before rows are read: a range of as many buckets as the row cap. */
async function openAll(parts: ListParts, candles: BulkCandles): Promise<BulkRows<CandleRow>> {
  const { page, query } = candles;
  const { bucketSeconds, now } = page;
  // The range ends with the open bucket, so trades that arrive while rows are sent add no bucket.
  const to = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const whole = { ...page, to };
  const [first] = (await readCandlePage(parts.store, { ...whole, limit: 1 })).rows;
  if (first === undefined)
    return { rowCount: 0, isCut: false, nextCursor: null, chunks: [], writer };
  const bucket = first.timestamp_ms / 1000;
  const span = parts.bulk.rowsMax * bucketSeconds;
  const isRising = page.order === "asc";
  const sent = isRising
    ? { from: bucket, to: Math.min(to, bucket + span) }
    : { from: Math.max(page.from, bucket + bucketSeconds - span), to };
  const left = isRising ? { from: sent.to, to } : { from: page.from, to: sent.from };
  const isCut = await hasRows(parts, { ...whole, ...left });
  const edge = isRising ? sent.to - bucketSeconds : sent.from;
  return {
    rowCount: null,
    isCut,
    nextCursor: isCut ? cursorAt(parts, candles, edge) : null,
    chunks: readChunks(parts, { ...whole, ...sent, order: query.order }),
    writer,
  };
}

function writer() {
  return (row: CandleRow): string => JSON.stringify(row);
}

async function* readChunks(
  { store }: Backend,
  interval: CandlePage,
): AsyncGenerator<readonly CandleRow[], void, undefined> {
  let page = { ...interval, limit: webLimits.exportChunkRows };
  for (;;) {
    const { rows, edge } = await readCandlePage(store, page);
    if (rows.length > 0) yield rows;
    if (edge === null) return;
    page =
      page.order === "asc" ? { ...page, from: edge + page.bucketSeconds } : { ...page, to: edge };
  }
}

async function hasRows({ store }: Backend, page: CandlePage): Promise<boolean> {
  if (page.from >= page.to) return false;
  return (await readCandlePage(store, { ...page, limit: 1 })).rows.length > 0;
}

function cursorAt({ cursors }: Backend, { path, query }: BulkCandles, bucket: number): string {
  return cursors.encode(path, query, [bucket]);
}
