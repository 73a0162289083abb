import { assert } from "../base/assert.ts";
import type { TokenId } from "../base/ids.ts";
import { lastTradeOf } from "../market/last-trades.ts";
import type { MarketState } from "../market/market-state.ts";
import { newestTradePrice } from "../market/price.ts";
import { type BookTop, type PriceRow, presentPrice } from "../rows/price-row.ts";
import type { FactStore } from "./fact-store.ts";
import { fewRowsSettings } from "./few-rows-settings.ts";
import { integerLiteral, listLiteral } from "./sql-literal.ts";
import { readStoredFills } from "./stored-fills.ts";

/** What prices are made of. */
export type PriceSource = {
  readonly store: FactStore;
  readonly state: MarketState;
  /** The best orders of a live book, a new object for every change; `null` without a live one. */
  readonly bookTopOf: (tokenId: TokenId) => BookTop | null;
};

/** Forks and new trades can come between asking and presenting, but not for ever. */
const roundsMax = 10;

/** The price of a token as clients see it; `null` for a token never seen. */
export async function readPrice(source: PriceSource, tokenId: TokenId): Promise<PriceRow | null> {
  const [row = null] = await readPrices(source, [tokenId]);
  return row;
}

/**
 * The prices of several tokens, all of one moment. From memory, but for the last trade of tokens
 * that nobody has traded or asked for lately: one query reads those of all of them.
 */
export async function readPrices(
  source: PriceSource,
  tokenIds: readonly TokenId[],
): Promise<readonly (PriceRow | null)[]> {
  for (let round = 0; round < roundsMax; round += 1) {
    const missing = tokenIds.filter((tokenId) => lastTradeIn(source.state, tokenId) === undefined);
    if (missing.length === 0) return tokenIds.map((tokenId) => presentKnown(source, tokenId));
    await fetchLastTrades(source, missing);
  }
  throw new Error("the trades behind prices are not in the store");
}

/** The trade behind the price, `null` when there is none, `undefined` when it is not in memory. */
function lastTradeIn(state: MarketState, tokenId: TokenId) {
  const newest = newestTradePrice(tokenId, state.directory);
  if (newest === null) return null;
  const complement = state.directory.complementOf(tokenId);
  const madeBy = newest.source === "complement" && complement !== null ? complement : tokenId;
  return state.lastTrades.at(madeBy, newest.seq) ?? undefined;
}

function presentKnown({ state, bookTopOf }: PriceSource, tokenId: TokenId): PriceRow | null {
  if (!state.directory.isKnownToken(tokenId)) return null;
  const lastTrade = lastTradeIn(state, tokenId);
  assert(lastTrade !== undefined, "what was missing has been read");
  return presentPrice({ tokenId, lastTrade, bookTop: bookTopOf(tokenId) }, state);
}

async function fetchLastTrades(
  { store, state }: PriceSource,
  tokenIds: readonly TokenId[],
): Promise<void> {
  const seqs = tokenIds.flatMap((tokenId) => newestTradePrice(tokenId, state.directory)?.seq ?? []);
  const { revision } = store.tail;
  const wanted = new Set(seqs);
  const held = store.tail.fills().filter((fill) => wanted.has(fill.seq));
  const fills = await readStoredFills(
    store.engine,
    `oddwire.fills WHERE seq IN ${listLiteral(seqs.map(integerLiteral))} ${fewRowsSettings}`,
  );
  // What was held may have been taken back meanwhile; the next round finds what took its place.
  const stillHeld = store.tail.revision === revision ? held : [];
  state.lastTrades.add([...fills, ...stillHeld].map(lastTradeOf));
}
