import { webLimits } from "../../base/config/limits.ts";
import type { BucketCandle } from "../../market/candle.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { FileRows } from "../bulk/bulk-answers.ts";
import { type CandlePage, pageAfter, readCandlePage } from "./candle-page.ts";
import type { RowSource } from "./row-list.ts";

/** Returns a source of candles. `page.order` is the order in which pages follow each other, `order` that of the rows. */
export function candleSource(
  facts: IndexedFacts,
  page: CandlePage,
  order: "asc" | "desc",
): RowSource<BucketCandle> {
  return {
    first: (count) => readCandlePage(facts, { ...page, limit: count }),
    toPosition: ({ bucket }) => [bucket],
    openAll: (rowsMax) => openAll(facts, { page, order }, rowsMax),
    isReversed: page.order !== order,
  };
}

/** Cuts by time, so that the end is known before rows are read: a range of `rowsMax` buckets. */
async function openAll(
  facts: IndexedFacts,
  { page, order }: { readonly page: CandlePage; readonly order: "asc" | "desc" },
  rowsMax: number,
): Promise<FileRows<BucketCandle>> {
  const { bucketSeconds } = page;
  const [newest] = await readCandlePage(facts, { ...page, order: "desc", limit: 1 });
  if (newest === undefined) return { rowCount: 0, edge: null, chunks: [] };
  // The range ends with the newest candle, so trades that arrive while rows are sent add no row.
  const to = newest.bucket + bucketSeconds;
  const whole = { ...page, to };
  const [{ bucket } = newest] = await readCandlePage(facts, { ...whole, limit: 1 });
  const seconds = rowsMax * bucketSeconds;
  const isRising = page.order === "asc";
  const sent = isRising
    ? { from: bucket, to: Math.min(to, bucket + seconds) }
    : { from: Math.max(page.from, bucket + bucketSeconds - seconds), to };
  const left = isRising ? { from: sent.to, to } : { from: page.from, to: sent.from };
  const edge = isRising ? sent.to - bucketSeconds : sent.from;
  const [further] =
    left.from < left.to ? await readCandlePage(facts, { ...whole, ...left, limit: 1 }) : [];
  const rows = { ...whole, ...sent, order };
  let rowCount = 0;
  for await (const chunk of readChunks(facts, rows)) rowCount += chunk.length;
  return {
    rowCount,
    edge: further === undefined ? null : [edge],
    chunks: readChunks(facts, rows),
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
