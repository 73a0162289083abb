/** Reads the open interest of a market over time, from its supply and its prices. */
import { microsPerUnit } from "../../base/decimal.ts";
import type { TokenId } from "../../base/ids.ts";
import {
  getCollateral,
  getOutcomeSupplies,
  groupByOutcome,
  valueOutcomes,
} from "../../market/ledger/circulating-shares.ts";
import { collateralPools } from "../../market/ledger/collateral.ts";
import { addSupply, noSupply, type SupplyChange } from "../../market/ledger/holder.ts";
import type { Fraction } from "../../market/ledger/valued-position.ts";
import { getAllTokens, type Market } from "../../market/market.ts";
import type { InterestPoint, TotalInterestPoint } from "../../rows/wallets/open-interest-row.ts";
import { getJoinedPrice } from "../../views/prices/position-value.ts";
import { settlementPrice } from "../../views/prices/token-price.ts";
import { type BucketPage, listBuckets } from "../bucket-page.ts";
import { readCandles } from "../read-candles.ts";
import { readSupply } from "./read-supply.ts";
import type { WalletSources } from "./read-wallet.ts";

/** Returns the first `limit` buckets of a page over all markets, each from the first collateral to the newest block. */
export function getTotalInterest(
  { facts, directory }: WalletSources,
  page: BucketPage,
): readonly TotalInterestPoint[] {
  facts.reads.add("open_interest", "views");
  const { collateral } = directory;
  const { from, to } = collateral.range;
  if (from === to) return [];
  const buckets = listBuckets(page, from);
  const isLegacyComplete = directory.isCompleteContract("conditional_tokens");
  const isGen3Complete = directory.isCompleteContract("position_manager");
  const running = { standard: 0n, neg_risk: 0n, protocol_v2: 0n };
  let before = 0;
  const points = buckets.map((bucket): TotalInterestPoint => {
    let [minted, burnt] = [0n, 0n];
    for (const pool of collateralPools) {
      const earlier = collateral.sum(pool, { from: before, to: bucket });
      const bucketSum = collateral.sum(pool, { from: bucket, to: bucket + page.bucketSeconds });
      running[pool] += earlier.minted - earlier.burnt + bucketSum.minted - bucketSum.burnt;
      minted += bucketSum.minted;
      burnt += bucketSum.burnt;
    }
    before = bucket + page.bucketSeconds;
    const amounts = {
      standard: isLegacyComplete ? running.standard : null,
      neg_risk: isLegacyComplete ? running.neg_risk : null,
      protocol_v2: isGen3Complete ? running.protocol_v2 : null,
    };
    return { bucket, collateral: amounts, minted, burnt };
  });
  return page.order === "asc" ? points : points.toReversed();
}

/** Reads the first `limit` buckets of a page, each from the first mint to the newest block. */
export async function readOpenInterest(
  sources: WalletSources,
  market: Market,
  page: BucketPage,
): Promise<readonly InterestPoint[]> {
  const { bucketSeconds, order, now } = page;
  const tokenIds = getAllTokens(market).map(({ tokenId }) => tokenId);
  if (tokenIds.length === 0) return [];
  // What is in memory is taken before the first read, so that it belongs to one moment.
  const current = groupByOutcome(market).map((ids) => getJoinedPrice(ids, sources.directory));
  const changes = await readSupply(sources, tokenIds, bucketSeconds);
  if (changes.length === 0) return [];
  const first = Math.min(...changes.map(({ bucket }) => bucket));
  const buckets = listBuckets(page, first);
  const [from] = buckets;
  if (from === undefined) return [];
  const getPrices = await readPrices(sources, market, { ...page, from, count: buckets.length });
  const isComplete = tokenIds.every((id) => sources.directory.isCompleteToken(id));
  const byBucket = Map.groupBy(changes, ({ bucket }) => bucket);
  const supplies = new Map<TokenId, SupplyChange>();
  const apply = (change: SupplyChange & { readonly tokenId: TokenId }) =>
    supplies.set(change.tokenId, addSupply(supplies.get(change.tokenId) ?? noSupply, change));
  for (const change of changes) if (change.bucket < from) apply(change);
  const points = buckets.map((bucket): InterestPoint => {
    const bucketChanges = byBucket.get(bucket) ?? [];
    for (const change of bucketChanges) apply(change);
    const isNow = bucket + bucketSeconds > now;
    const { prices, resolution } = getPrices(bucket);
    const supply = getOutcomeSupplies(market, supplies);
    return {
      bucket,
      supply: isComplete ? supply : null,
      openInterest: isComplete ? valueOutcomes(supply, isNow ? current : prices) : null,
      collateral: isComplete ? getCollateral(market, supplies, resolution) : null,
      minted: bucketChanges.reduce((sum, { minted }) => sum + minted, 0n),
      burnt: bucketChanges.reduce((sum, { burnt }) => sum + burnt, 0n),
    };
  });
  return order === "asc" ? points : points.toReversed();
}

/** Returns the prices of the outcomes at the end of each bucket: the last close, or the payout. */
async function readPrices(
  { facts, directory }: WalletSources,
  market: Market,
  { bucketSeconds, from, count }: BucketPage & { readonly count: number },
) {
  const [same = [], inverted = []] = groupByOutcome(market);
  const getTotals = (tokenId: TokenId) => directory.getTotals(tokenId);
  const tokens = { same, inverted, bucketSeconds, getTotals };
  const to = from + count * bucketSeconds;
  const [before, candles] = await Promise.all([
    readCandles(facts, { ...tokens, from: 0, to: from, order: "desc", limit: 1 }),
    readCandles(facts, { ...tokens, from, to, order: "asc", limit: count }),
  ]);
  const closes = new Map(candles.map(({ bucket, candle }) => [bucket, candle.close.price]));
  const settled = settlementPrice(same, directory);
  let close = before[0]?.candle.close.price ?? null;
  return (bucket: number) => {
    close = closes.get(bucket) ?? close;
    const isSettled = settled !== null && settled.resolution.timestamp < bucket + bucketSeconds;
    const resolution = isSettled ? settled.resolution : null;
    const price = isSettled ? settled.price : close;
    return { prices: price === null ? [] : toPair(price), resolution };
  };
}

/** Returns the prices of both outcomes, of which the first is given in micros. */
function toPair(price: bigint): Fraction[] {
  const denominator = microsPerUnit;
  return [
    { numerator: price, denominator },
    { numerator: denominator - price, denominator },
  ];
}
