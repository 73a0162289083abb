import { webLimits } from "../../base/config/limits.ts";
import type { BucketCandle } from "../../market/candle.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { FileRows } from "../bulk/bulk-answers.ts";
import { type CandlePage, pageAfter, readCandlePage } from "./candle-page.ts";
import type { CursorPosition } from "./cursor.ts";

/** A request for candles as a file. */
type CandleFile = {
  /** `page.order` is the order in which pages follow each other. */
  readonly page: CandlePage;
  /** `order` is the order of the rows. */
  readonly query: { readonly limit?: number | undefined; readonly order: "asc" | "desc" };
};

/** Returns the position of a candle in its list. */
export function candlePosition({ bucket }: BucketCandle): CursorPosition {
  return [bucket];
}

/** Reads one page when `limit` is given, otherwise all candles of up to `rowsMax` buckets. */
export async function openCandleFile(
  facts: IndexedFacts,
  { page, query }: CandleFile,
  rowsMax: number,
): Promise<FileRows<BucketCandle>> {
  if (query.limit === undefined) return openAll(facts, { page, query }, rowsMax);
  const found = await readCandlePage(facts, { ...page, limit: rowsMax + 1 });
  const rows = found.slice(0, rowsMax);
  const last = found.length > rowsMax ? rows.at(-1) : undefined;
  return {
    rowCount: rows.length,
    edge: last === undefined ? null : candlePosition(last),
    chunks: [page.order === query.order ? rows : rows.toReversed()],
  };
}

/** Cuts by time, so that the end is known before rows are read: a range of `rowsMax` buckets. */
async function openAll(
  facts: IndexedFacts,
  { page, query }: CandleFile,
  rowsMax: number,
): Promise<FileRows<BucketCandle>> {
  const { bucketSeconds, now } = page;
  // The range ends with the open bucket, so trades that arrive while rows are sent add no bucket.
  const to = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const whole = { ...page, to };
  const [first] = await readCandlePage(facts, { ...whole, limit: 1 });
  if (first === undefined) return { rowCount: 0, edge: null, chunks: [] };
  const { bucket } = first;
  const span = rowsMax * bucketSeconds;
  const isRising = page.order === "asc";
  const sent = isRising
    ? { from: bucket, to: Math.min(to, bucket + span) }
    : { from: Math.max(page.from, bucket + bucketSeconds - span), to };
  const left = isRising ? { from: sent.to, to } : { from: page.from, to: sent.from };
  const edge = isRising ? sent.to - bucketSeconds : sent.from;
  const [further] =
    left.from < left.to ? await readCandlePage(facts, { ...whole, ...left, limit: 1 }) : [];
  return {
    rowCount: null,
    edge: further === undefined ? null : [edge],
    chunks: readChunks(facts, { ...whole, ...sent, order: query.order }),
  };
}

async function* readChunks(
  facts: IndexedFacts,
  interval: CandlePage,
): AsyncGenerator<readonly BucketCandle[], void, undefined> {
  let page: CandlePage = { ...interval, limit: webLimits.exportChunkRows };
  for (;;) {
    const rows = await readCandlePage(facts, page);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < page.limit) return;
    page = pageAfter(page, last.bucket);
  }
}
