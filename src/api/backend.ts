import type { FastifyRequest } from "fastify";
import type { TokenId } from "../base/ids.ts";
import type { Freshness } from "../rows/freshness.ts";
import { bookTopReader } from "../rows/price-row.ts";
import { marketFieldsOf } from "../rows/trade-row.ts";
import type { StreamSources } from "../stream/hub/channel.ts";
import type { CachePolicy } from "./cache/response-cache.ts";
import type { Cursors } from "./lists/cursor.ts";

/** The sources that data endpoints read from. They write nothing. */
export type Backend = StreamSources & {
  readonly cursors: Cursors;
  readonly freshness: () => Freshness;
};

type CachePolicyOf = (request: FastifyRequest) => CachePolicy;

/** Caches a response until anything is indexed, becomes final or is reverted. */
export function cachedUntilChange(backend: Backend): CachePolicyOf {
  return () => ({ watch: () => watchRevisions(backend) });
}

function watchRevisions({ store, state }: Pick<Backend, "store" | "state">): () => boolean {
  const [stored, known] = [store.revision, state.revision];
  return () => store.revision === stored && state.revision === known;
}

/** Caches a response about candles until a trade of the pair, a resolution, a reorg or the next bucket. */
export function cachedUntilCandlesChange(
  backend: Backend,
  of: (request: FastifyRequest) => { tokenId: TokenId; bucketSeconds: number },
): CachePolicyOf {
  const { directory, dayWindow } = backend.state;
  return cachedWhileEqual(backend, (request) => {
    const { tokenId, bucketSeconds } = of(request);
    const pair = directory.pairOf(tokenId);
    return () => [
      ...tradesOf(pair, backend),
      Math.floor(dayWindow.now / bucketSeconds),
      directory.complementOf(tokenId),
      directory.resolutions.count,
    ];
  });
}

/** Caches trades of a token or its pair until the trades, their finality or the shown market fields change. */
export function cachedUntilTradesChange(
  backend: Backend,
  tokenOf: (request: FastifyRequest) => TokenId,
): CachePolicyOf {
  const { directory } = backend.state;
  const { headBuffer } = backend.store;
  return cachedWhileEqual(backend, (request) => {
    const tokenId = tokenOf(request);
    const pair = directory.pairOf(tokenId);
    const namesMarkets = (request.query as { readonly include?: string }).include !== undefined;
    return () => [
      ...tradesOf(pair, backend),
      ...pair.map((id) => headBuffer.countOf(id)),
      ...pair.map((id) => directory.outcomeOf(id)),
      directory.complementOf(tokenId),
      directory.placeOf(tokenId)?.conditionId,
      ...(namesMarkets ? Object.values(marketFieldsOf(tokenId, directory)) : []),
    ];
  });
}

/** Returns values that change with every trade of the tokens. Trade counts only grow, except in a reorg. */
function tradesOf(tokenIds: readonly TokenId[], { store, state }: Backend): readonly unknown[] {
  return [store.headBuffer.reorgs, ...tokenIds.map((id) => state.directory.totalsOf(id).trades)];
}

/** Caches a response while the values it depends on stay equal. They are read again only after a change. */
function cachedWhileEqual(
  { store, state }: Backend,
  dependenciesOf: (request: FastifyRequest) => () => readonly unknown[],
): CachePolicyOf {
  return (request) => {
    const read = dependenciesOf(request);
    const watch = (): (() => boolean) => {
      const before = read();
      let isUnchanged = watchRevisions({ store, state });
      return () => {
        if (isUnchanged()) return true;
        if (!read().every((value, index) => value === before[index])) return false;
        isUnchanged = watchRevisions({ store, state });
        return true;
      };
    };
    return { watch };
  };
}

/** Caches a price until anything is indexed or reverted, or the best bid or ask of the token's book changes. */
export function watchPrice(backend: Backend, tokenId: TokenId): CachePolicy["watch"] {
  return () => {
    const isCurrent = watchRevisions(backend);
    const readTop = bookTopReader(tokenId, backend);
    const top = readTop();
    return () => isCurrent() && readTop() === top;
  };
}
