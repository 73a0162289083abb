import type { TokenId } from "../base/ids.ts";
import { joinTokens } from "../query/markets/read-markets.ts";
import { bookReader } from "../query/markets/read-price.ts";
import type { Freshness } from "../rows/freshness.ts";
import { toMarketFields } from "../rows/trade-row.ts";
import type { StreamSources } from "../stream/hub/channel.ts";
import type { MarketDirectory } from "../views/markets/market-directory.ts";
import type { Cursors } from "./route/cursor.ts";
import type { CachePolicy } from "./route/response-cache.ts";

/** The sources that data endpoints read from. They write nothing. */
export type Backend = StreamSources & {
  readonly cursors: Cursors;
  readonly freshness: () => Freshness;
};

/** Caches a response until anything is indexed, becomes final or is reverted. */
export function untilChange(backend: Backend): CachePolicy {
  return { watch: () => watchRevision(backend) };
}

function watchRevision({ state }: Backend): () => boolean {
  const { revision } = state;
  return () => state.revision === revision;
}

/** Caches a response about candles until a trade of the pair, a resolution, a reorg or the next bucket. */
export function untilCandlesChange(
  backend: Backend,
  { tokenId, bucketSeconds }: { readonly tokenId: TokenId; readonly bucketSeconds: number },
): CachePolicy {
  const { directory, dayWindow } = backend.state;
  return whileEqual(backend, () => [
    ...toTrades(joinedWith(tokenId, directory), backend),
    Math.floor(dayWindow.now / bucketSeconds),
    ...joinedWith(tokenId, directory),
    directory.resolutions.count,
  ]);
}

/** Caches trades of a token or its pair until the trades, their finality or the shown market fields change. */
export function untilTradesChange(
  backend: Backend,
  { tokenId, namesMarkets }: { readonly tokenId: TokenId; readonly namesMarkets: boolean },
): CachePolicy {
  const { directory } = backend.state;
  const { headBuffer } = backend.facts;
  const pair = joinedWith(tokenId, directory);
  return whileEqual(backend, () => [
    ...toTrades(pair, backend),
    ...pair.map((id) => headBuffer.getCount(id)),
    ...pair.map((id) => directory.getToken(id).outcome),
    ...joinedWith(tokenId, directory),
    directory.getSlot(tokenId)?.conditionId,
    ...(namesMarkets ? Object.values(toMarketFields(directory.getToken(tokenId).market)) : []),
  ]);
}

function joinedWith(tokenId: TokenId, directory: MarketDirectory): readonly TokenId[] {
  const { same, inverted } = joinTokens(directory, tokenId, { complement: true, mirror: true });
  return [...same, ...inverted];
}

/** Returns values that change with every trade of the tokens. Trade counts only grow, except in a reorg. */
function toTrades(tokenIds: readonly TokenId[], { facts, state }: Backend): readonly unknown[] {
  return [facts.headBuffer.reorgs, ...tokenIds.map((id) => state.directory.getTotals(id).trades)];
}

/** Caches a response while the values it depends on stay equal. They are read again only after a change. */
function whileEqual(backend: Backend, read: () => readonly unknown[]): CachePolicy {
  const watch = (): (() => boolean) => {
    const before = read();
    let isUnchanged = watchRevision(backend);
    return () => {
      if (isUnchanged()) return true;
      const now = read();
      if (now.length !== before.length) return false;
      if (!now.every((value, index) => value === before[index])) return false;
      isUnchanged = watchRevision(backend);
      return true;
    };
  };
  return { watch };
}

/** Caches a price until anything is indexed or reverted, or the best bid or ask of the token's book changes. */
export function watchPrice(backend: Backend, tokenId: TokenId): CachePolicy["watch"] {
  return () => {
    const isCurrent = watchRevision(backend);
    const readBook = bookReader(tokenId, backend);
    const book = readBook();
    const [bid, ask] = [book?.bids.best, book?.asks.best];
    return () => {
      if (!isCurrent()) return false;
      const now = readBook();
      return now?.bids.best === bid && now?.asks.best === ask;
    };
  };
}
