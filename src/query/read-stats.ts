/** Reads the totals of the platform by hour or by day: of all, one generation, a builder or categories. */
import { marketLimits } from "../base/config/limits.ts";
import type { ConditionId, TokenId } from "../base/ids.ts";
import { invalid } from "../base/input/compile-reader.ts";
import { toHour, toMinute } from "../market/minute-candle.ts";
import type { StatsPoint } from "../rows/stats-row.ts";
import { readRows } from "../storage/codec/fixed-rows.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { marketFlags } from "../views/markets/market-columns.ts";
import { tradedMarkets } from "../views/markets/market-selection.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import { type StatsScope, statsSeconds } from "../views/stats/platform-totals.ts";
import { type BucketPage, listBuckets } from "./bucket-page.ts";
import { isIn } from "./condition.ts";

type StatsSources = { readonly facts: IndexedFacts; readonly state: MarketState };

type StatsPage = BucketPage & {
  readonly scope: StatsScope;
  /** Only markets of these categories. */
  readonly categories?: readonly string[] | undefined;
};

/** The trades of a token in a bucket, which begins at `bucket`, Unix seconds. */
type TokenBucket = {
  readonly tokenId: TokenId;
  readonly bucket: number;
  readonly trades: number;
  readonly volumeUsd: bigint;
};

const columns = {
  tokenId: ["token_id", 32],
  bucket: ["bucket", 4],
  trades: ["sum(trades)", 8],
  volumeUsd: ["sum(buy_volume_usd) + sum(sell_volume_usd)", 16],
} as const;

/** Reads the first `limit` buckets of a page, from the first block to the newest. */
export async function readStats(
  sources: StatsSources,
  page: StatsPage,
): Promise<readonly StatsPoint[]> {
  const { first } = sources.facts;
  const buckets = first === null ? [] : listBuckets(page, first.timestamp);
  if (buckets.length === 0) return [];
  const { categories } = page;
  const points =
    categories === undefined
      ? readTotals(sources, page, buckets)
      : await readCategories(sources, { ...page, categories }, buckets);
  return page.order === "asc" ? points : points.toReversed();
}

function readTotals(
  { state: { platform, directory } }: StatsSources,
  { bucketSeconds, scope }: StatsPage,
  buckets: readonly number[],
): readonly StatsPoint[] {
  const hasMarkets = bucketSeconds === statsSeconds["1d"] && typeof scope === "number";
  const created = countCreated(directory.columns, { bucketSeconds, buckets });
  return buckets.map((bucket, index) => {
    const { activeMarkets, traders, ...sums } = platform.get(bucketSeconds, bucket, scope);
    const end = bucket + bucketSeconds;
    return {
      bucket,
      ...sums,
      activeMarkets: hasMarkets ? activeMarkets : null,
      traders: hasMarkets ? traders : null,
      newMarkets: scope === 0 ? (created[index] ?? 0) : null,
      resolvedMarkets: scope === 0 ? directory.resolutions.countBetween(bucket, end) : null,
    };
  });
}

/** Counts the markets that were created in each bucket, and are marked if there are marks. */
function countCreated(
  { count, createdAt, flags }: MarketState["directory"]["columns"],
  request: { readonly bucketSeconds: number; readonly buckets: readonly number[] },
  marks?: Uint8Array,
): readonly number[] {
  const { bucketSeconds, buckets } = request;
  const counts = buckets.map(() => 0);
  const [from = 0] = buckets;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const at = Math.floor((createdAt.get(ordinal) - from) / bucketSeconds);
    const isCounted = (flags.get(ordinal) & marketFlags.listed) !== 0 && marks?.[ordinal] !== 0;
    if (isCounted && at >= 0 && at < counts.length) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** Adds up the candles of the markets of categories. They have no fees, no wallets and no trades of 0 shares. */
async function readCategories(
  { facts, state: { directory } }: StatsSources,
  { categories, bucketSeconds }: StatsPage & { readonly categories: readonly string[] },
  buckets: readonly number[],
): Promise<readonly StatsPoint[]> {
  const [from = 0] = buckets;
  const marketIds = tradedMarkets(directory.columns, { category: categories }, Math.max(1, from));
  const { statsMarketsMax: most, selectedMarketsMax: atOnce } = marketLimits;
  if (marketIds.length > most) {
    const count = `matches ${marketIds.length} markets that were traded since then`;
    throw invalid("category", `${count}, and at most ${most} are possible; set a later start`);
  }
  const markets = new Map<TokenId, ConditionId | undefined>();
  for (const tokenId of marketIds.flatMap((id) => directory.getTokenIds(id))) {
    markets.set(tokenId, directory.getSlot(tokenId)?.conditionId);
  }
  const marks = directory.columns.getMarks("category", categories);
  const created = countCreated(directory.columns, { bucketSeconds, buckets }, marks);
  const sums = buckets.map(() => ({ trades: 0, volumeUsd: 0n, active: new Set<ConditionId>() }));
  const tokenIds = [...markets.keys()];
  const range = { bucketSeconds, from, to: (buckets.at(-1) ?? 0) + bucketSeconds };
  const add = ({ tokenId, bucket, trades, volumeUsd }: TokenBucket): void => {
    const sum = sums[(bucket - from) / bucketSeconds];
    const market = markets.get(tokenId);
    if (sum === undefined || market === undefined) return;
    sum.trades += trades;
    sum.volumeUsd += volumeUsd;
    sum.active.add(market);
  };
  // What is in memory is taken before the first read, so that it belongs to one moment.
  const { coverage, headBuffer } = facts;
  for (const { tokenId, minute, candle } of headBuffer.minutes()) {
    const { trades, buyVolumeUsd, sellVolumeUsd } = candle;
    const bucket = minute - (minute % bucketSeconds);
    add({ tokenId, bucket, trades, volumeUsd: buyVolumeUsd + sellVolumeUsd });
  }
  const openFrom = toMinute(coverage?.last.timestamp ?? 0);
  facts.reads.add("stats", "engine");
  for (let at = 0; at < tokenIds.length; at += 2 * atOnce) {
    const some = tokenIds.slice(at, at + 2 * atOnce);
    for (const row of await readTokenBuckets(facts, { ...range, tokenIds: some, openFrom }))
      add(row);
  }
  return buckets.map((bucket, index) => {
    const { trades = 0, volumeUsd = 0n, active } = sums[index] ?? {};
    const activeMarkets = active?.size ?? 0;
    const counted = { bucket, trades, volumeUsd, activeMarkets, newMarkets: created[index] ?? 0 };
    return { ...counted, feesUsd: null, traders: null, resolvedMarkets: null };
  });
}

/** Reads the buckets of tokens: closed hours from `hour_candles`, the minutes after them from `minute_candles`. */
async function readTokenBuckets(
  { engine }: IndexedFacts,
  request: {
    readonly tokenIds: readonly TokenId[];
    readonly bucketSeconds: number;
    readonly from: number;
    readonly to: number;
    readonly openFrom: number;
  },
): Promise<Iterable<TokenBucket>> {
  const { tokenIds, bucketSeconds, from, to, openFrom } = request;
  const openHour = toHour(openFrom);
  const start = `toUInt32(intDiv(minute, ${bucketSeconds}) * ${bucketSeconds})`;
  const isToken = isIn("token_id", tokenIds.map(hexLiteral));
  const select = (table: string, first: number, end: number) => `
    SELECT token_id, ${start} AS bucket, trades, buy_volume_usd, sell_volume_usd FROM ${table}
    WHERE ${isToken} AND minute >= ${integerLiteral(first)} AND minute < ${integerLiteral(end)}`;
  const hours = select("hour_candles", from, Math.min(to, openHour));
  const minutes = select("minute_candles", Math.max(from, openHour), Math.min(to, openFrom));
  const clauses = `FROM (${hours} UNION ALL ${minutes}) GROUP BY token_id, bucket`;
  return readRows(engine, { columns, clauses }, (reader, row, at) => ({
    tokenId: reader.tokenId(row + at.tokenId),
    bucket: reader.uint32(row + at.bucket),
    trades: reader.uint64(row + at.trades),
    volumeUsd: reader.int128(row + at.volumeUsd),
  }));
}
