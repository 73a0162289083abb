import { webLimits } from "../../base/config/limits.ts";
import type { CandleRow } from "../../rows/candle-row.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import { type CandlePage, readCandlePage } from "./candle-page.ts";
import type { FileRows } from "./row-list.ts";

/** A request for candles as a file. */
type CandleFile = {
  /** `page.order` is the order in which pages follow each other. */
  readonly page: CandlePage;
  /** `order` is the order of the rows. */
  readonly query: { readonly limit?: number | undefined; readonly order: "asc" | "desc" };
};

/** Reads one page when `limit` is given, otherwise all candles of up to `rowsMax` buckets. */
export async function openCandleFile(
  facts: IndexedFacts,
  { page, query }: CandleFile,
  rowsMax: number,
): Promise<FileRows<CandleRow>> {
  if (query.limit === undefined) return openAll(facts, { page, query }, rowsMax);
  const { rows, edge } = await readCandlePage(facts, { ...page, limit: rowsMax });
  return {
    rowCount: rows.length,
    edge: edge === null ? null : [edge],
    chunks: [page.order === query.order ? rows : rows.toReversed()],
  };
}

/** Cuts by time, so that the end is known before rows are read: a range of `rowsMax` buckets. */
async function openAll(
  facts: IndexedFacts,
  { page, query }: CandleFile,
  rowsMax: number,
): Promise<FileRows<CandleRow>> {
  const { bucketSeconds, now } = page;
  // The range ends with the open bucket, so trades that arrive while rows are sent add no bucket.
  const to = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const whole = { ...page, to };
  const [first] = (await readCandlePage(facts, { ...whole, limit: 1 })).rows;
  if (first === undefined) return { rowCount: 0, edge: null, chunks: [] };
  const bucket = first.timestamp_ms / 1000;
  const span = rowsMax * bucketSeconds;
  const isRising = page.order === "asc";
  const sent = isRising
    ? { from: bucket, to: Math.min(to, bucket + span) }
    : { from: Math.max(page.from, bucket + bucketSeconds - span), to };
  const left = isRising ? { from: sent.to, to } : { from: page.from, to: sent.from };
  const isCut = await hasRows(facts, { ...whole, ...left });
  const edge = isRising ? sent.to - bucketSeconds : sent.from;
  return {
    rowCount: null,
    edge: isCut ? [edge] : null,
    chunks: readChunks(facts, { ...whole, ...sent, order: query.order }),
  };
}

async function* readChunks(
  facts: IndexedFacts,
  interval: CandlePage,
): AsyncGenerator<readonly CandleRow[], void, undefined> {
  let page = { ...interval, limit: webLimits.exportChunkRows };
  for (;;) {
    const { rows, edge } = await readCandlePage(facts, page);
    if (rows.length > 0) yield rows;
    if (edge === null) return;
    page =
      page.order === "asc" ? { ...page, from: edge + page.bucketSeconds } : { ...page, to: edge };
  }
}

async function hasRows(facts: IndexedFacts, page: CandlePage): Promise<boolean> {
  if (page.from >= page.to) return false;
  return (await readCandlePage(facts, { ...page, limit: 1 })).rows.length > 0;
}
