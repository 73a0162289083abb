import type { Range } from "../base/range.ts";

/** A page of buckets of time: their starts in Unix seconds, `from` inclusive, `to` exclusive. */
export type BucketPage = Range<number> & {
  readonly bucketSeconds: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** The time of the newest block, Unix seconds. */
  readonly now: number;
};

/** Returns the first `limit` buckets of a page in rising order, of those from that of a time to the newest. */
export function listBuckets(page: BucketPage, firstTime: number): readonly number[] {
  const { bucketSeconds, order, limit, now } = page;
  const end = now - (now % bucketSeconds) + bucketSeconds;
  const lowest = Math.max(firstTime - (firstTime % bucketSeconds), page.from);
  const highest = Math.min(end, page.to);
  const count = Math.min(limit, Math.max(0, Math.ceil((highest - lowest) / bucketSeconds)));
  const from = order === "asc" ? lowest : highest - count * bucketSeconds;
  return Array.from({ length: count }, (_, index) => from + index * bucketSeconds);
}
