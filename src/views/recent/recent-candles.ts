import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { RecentRequests } from "../../base/recent-requests.ts";
import { type Candle, candleOfMinute, mergeCandles } from "../../market/candle.ts";
import type { Delta } from "../../market/delta.ts";
import { FinalView } from "../final-view.ts";

/** A candle and the start of its bucket, unix seconds. */
export type BucketCandle = { readonly bucket: number; readonly candle: Candle };

/** Buckets of one token's own final trades, by their starts in unix seconds: `from` inclusive, `to` exclusive. */
export type BucketRange = Range<number> & {
  readonly tokenId: TokenId;
  readonly bucketSeconds: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
};

/** All buckets from the first one on, in rising order. `isWhole` says that there are no older ones. */
type List = { buckets: BucketCandle[]; isWhole: boolean; size: number };

/**
 * The newest candles of final trades, for recently requested tokens and resolutions. Every minute that
 * becomes final is added to them, so that popular charts are read from the engine only once. The total
 * number of buckets is bounded: the token that was added first is evicted first.
 */
export class RecentCandles extends FinalView {
  readonly #lists = new Map<TokenId, Map<number, List>>();
  readonly #recentRequests = new RecentRequests();
  #buckets = 0;

  /** Returns the candles of a range; `null` when they must be read from the engine. */
  get({ tokenId, bucketSeconds, ...range }: BucketRange): readonly BucketCandle[] | null {
    const list = this.#lists.get(tokenId)?.get(bucketSeconds);
    if (list === undefined) return null;
    const { from, to, order, limit } = range;
    const found = list.buckets.filter(({ bucket }) => bucket >= from && bucket < to);
    const first = list.buckets[0]?.bucket ?? Number.POSITIVE_INFINITY;
    const isFull = order === "desc" && found.length >= limit;
    if (!list.isWhole && from < first && !isFull) return null;
    return order === "desc" ? found.slice(-limit) : found.slice(0, limit);
  }

  /** Keeps candles that were just read, if they were requested before: the newest `limit` or all, in rising order. */
  put({ tokenId, bucketSeconds, limit }: BucketRange, buckets: readonly BucketCandle[]): void {
    if (!this.#recentRequests.isRepeat(`${tokenId} ${bucketSeconds}`)) return;
    const ofToken = this.#lists.get(tokenId) ?? new Map<number, List>();
    this.#buckets += buckets.length - (ofToken.get(bucketSeconds)?.buckets.length ?? 0);
    const list = { buckets: [...buckets], isWhole: buckets.length < limit, size: limit };
    ofToken.set(bucketSeconds, list);
    this.#lists.set(tokenId, ofToken);
    for (const [oldest, lists] of this.#lists) {
      if (this.#buckets <= storeLimits.newestCandlesMax) return;
      this.#lists.delete(oldest);
      for (const { buckets: gone } of lists.values()) this.#buckets -= gone.length;
    }
  }

  /** Loads nothing: lists are read when they are requested. */
  override async load(): Promise<void> {}

  protected override applyFinal({ candles }: Delta): void {
    for (const minute of candles) {
      const candle = candleOfMinute(minute);
      if (candle === null) continue;
      for (const [bucketSeconds, list] of this.#lists.get(minute.tokenId) ?? []) {
        const before = list.buckets.length;
        addTo(list, { bucket: minute.minute - (minute.minute % bucketSeconds), candle });
        this.#buckets += list.buckets.length - before;
      }
    }
  }
}

/** Adds a candle to its bucket. Minutes come nearly in order, so the search starts at the newest bucket. */
function addTo(list: List, { bucket, candle }: BucketCandle): void {
  const at = list.buckets.findLastIndex((one) => one.bucket <= bucket);
  const known = list.buckets[at];
  if (known?.bucket === bucket)
    list.buckets[at] = { bucket, candle: mergeCandles(known.candle, candle) };
  else if (at >= 0 || list.isWhole) list.buckets.splice(at + 1, 0, { bucket, candle });
  // A list is only cut when it is twice as long as it should be, not with every bucket.
  if (list.buckets.length <= 2 * list.size) return;
  list.buckets = list.buckets.slice(-list.size);
  list.isWhole = false;
}
