import { webLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import { type BucketCandle, flatCandle } from "../../market/candle.ts";
import type { BucketPage } from "../../query/bucket-page.ts";
import type { JoinedTokens } from "../../query/markets/read-markets.ts";
import { readCandles, readManyCandles } from "../../query/read-candles.ts";
import type { CandleTotals } from "../../query/read-stored-candles.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { FileRows } from "../bulk/bulk-answers.ts";
import type { RowSource } from "./row-list.ts";

/** A page of candles. Buckets that end at or before `now` are closed. */
export type CandlePage = BucketPage &
  JoinedTokens & {
    /** Whether a bucket without trades gets a candle at the previous close, of 0 trades. */
    readonly isFilled: boolean;
    readonly getTotals: (tokenId: TokenId) => CandleTotals;
  };

/** Returns the bucket of the first priced trade of its tokens, Unix seconds; `null` without one. */
export function getFirstBucket(
  page: Pick<CandlePage, keyof JoinedTokens | "bucketSeconds" | "getTotals">,
): number | null {
  const { same, inverted, bucketSeconds, getTotals } = page;
  const firsts = [...same, ...inverted].flatMap((id) => getTotals(id).firstMinute ?? []);
  if (firsts.length === 0) return null;
  const first = Math.min(...firsts);
  return first - (first % bucketSeconds);
}

function pageAfter(page: CandlePage, bucket: number): CandlePage {
  return page.order === "asc"
    ? { ...page, from: Math.max(page.from, bucket + page.bucketSeconds) }
    : { ...page, to: Math.min(page.to, bucket) };
}

async function readCandlePage(
  facts: IndexedFacts,
  page: CandlePage,
): Promise<readonly BucketCandle[]> {
  if (!page.isFilled) return readCandles(facts, page);
  const filled = getFilledRange(page);
  return fillForward(filled, await readCandles(facts, { ...page, ...beforeEnd(filled) }));
}

/** Reads the newest candles of each outcome, newest first, as pages of each alone would have them. */
export async function readNewestCandles(
  facts: IndexedFacts,
  range: Omit<CandlePage, keyof JoinedTokens | "order">,
  outcomes: readonly JoinedTokens[],
): Promise<readonly (readonly BucketCandle[])[]> {
  const pages = outcomes.map((tokens) => ({ ...range, ...tokens, order: "desc" as const }));
  const newest = { ...range, order: "desc" as const };
  if (!range.isFilled) return readManyCandles(facts, newest, outcomes);
  const filled = pages.map(getFilledRange);
  // The ranges of all outcomes end together, and each has at most `limit` buckets.
  const [first] = filled;
  if (first === undefined) return [];
  const read = await readManyCandles(facts, { ...newest, ...beforeEnd(first) }, outcomes);
  return filled.map((page, at) => fillForward(page, read[at] ?? []));
}

/** Returns the range of the page that can have a candle in each bucket, from the first trade to the open bucket. */
function getFilledRange(page: CandlePage): CandlePage {
  const { bucketSeconds, order, limit, now } = page;
  const lowest = Math.max(page.from, getFirstBucket(page) ?? Infinity);
  const highest = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const seconds = limit * bucketSeconds;
  const from = order === "asc" ? lowest : Math.max(lowest, highest - seconds);
  const to = order === "asc" ? Math.min(highest, lowest + seconds) : highest;
  return { ...page, from, to };
}

/** Returns what to read for a filled range: it has at most `limit` buckets, so that includes a candle before it. */
function beforeEnd({ to, limit }: CandlePage) {
  return { from: 0, to, order: "desc", limit: limit + 1 } as const;
}

/** Returns a candle for each bucket of a range, from the first with a price on, in its order. `candles` are newest first. */
function fillForward(
  { from, to, bucketSeconds, order }: CandlePage,
  candles: readonly BucketCandle[],
): BucketCandle[] {
  const byBucket = new Map(candles.map((one) => [one.bucket, one]));
  const filled: BucketCandle[] = [];
  let newest = candles.find(({ bucket }) => bucket < from);
  for (let bucket = from; bucket < to; bucket += bucketSeconds) {
    newest = byBucket.get(bucket) ?? (newest && { bucket, candle: flatCandle(newest.candle) });
    if (newest !== undefined) filled.push(newest);
  }
  return order === "asc" ? filled : filled.toReversed();
}

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
  const fullPage = { ...page, to };
  const [{ bucket } = newest] = await readCandlePage(facts, { ...fullPage, limit: 1 });
  const seconds = rowsMax * bucketSeconds;
  const isRising = page.order === "asc";
  const sent = isRising
    ? { from: bucket, to: Math.min(to, bucket + seconds) }
    : { from: Math.max(page.from, bucket + bucketSeconds - seconds), to };
  const remaining = isRising ? { from: sent.to, to } : { from: page.from, to: sent.from };
  const edge = isRising ? sent.to - bucketSeconds : sent.from;
  const [further] =
    remaining.from < remaining.to
      ? await readCandlePage(facts, { ...fullPage, ...remaining, limit: 1 })
      : [];
  const rows = { ...fullPage, ...sent, order };
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
