import { assert } from "../base/assert.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import { lastTradeOf } from "../market/last-trades.ts";
import type { MarketState } from "../market/market-state.ts";
import { newestTradePrice } from "../market/price.ts";
import { type BookTop, type PriceRow, presentPrice } from "../rows/price-row.ts";
import type { FactStore } from "./fact-store.ts";
import { fewRowsSettings } from "./few-rows-settings.ts";
import { integerLiteral, listLiteral } from "./sql-literal.ts";
import { readStoredFills, readTokenFills } from "./stored-fills.ts";

/** What prices are made of. */
export type PriceParts = {
  readonly store: FactStore;
  readonly state: MarketState;
  /** The best orders of a live book, a new object for every change; `null` without a live one. */
  readonly bookTopOf: (tokenId: TokenId) => BookTop | null;
};

/** Forks and new trades can come between asking and presenting, but not for ever. */
const roundsMax = 10;

/** The price of a token as clients see it; `null` for a token never seen. */
export async function readPrice(source: PriceParts, tokenId: TokenId): Promise<PriceRow | null> {
  const [row = null] = await readPrices(source, [tokenId]);
  return row;
}

/**
 * The prices of several tokens, all of one moment. From memory, but for the last trade of tokens
 * that nobody has traded or asked for lately.
 */
export async function readPrices(
  source: PriceParts,
  tokenIds: readonly TokenId[],
): Promise<readonly (PriceRow | null)[]> {
  for (let round = 0; round < roundsMax; round += 1) {
    const known = pricesAtOnce(source, tokenIds);
    if (known !== null) return known;
    await fetchLastTrades(source, missingTrades(source, tokenIds));
  }
  throw new Error("the trades behind prices are not in the store");
}

/** The same when all of it is in memory, else `null`. */
export function pricesAtOnce(
  source: PriceParts,
  tokenIds: readonly TokenId[],
): readonly (PriceRow | null)[] | null {
  if (missingTrades(source, tokenIds).length > 0) return null;
  return tokenIds.map((tokenId) => presentKnown(source, tokenId));
}

/** The trades behind prices that are not in memory. */
function missingTrades({ state }: PriceParts, tokenIds: readonly TokenId[]): TradePlace[] {
  return tokenIds.flatMap((tokenId) => {
    const isMissing = lastTradeIn(state, tokenId) === undefined;
    return isMissing ? (placeOfLastTrade(state, tokenId) ?? []) : [];
  });
}

/** Where a trade is: its own token, and its position. */
type TradePlace = { readonly tokenId: TokenId; readonly seq: Seq };

/** Of the trade behind the price, `null` when there is none. */
function placeOfLastTrade({ directory }: MarketState, tokenId: TokenId): TradePlace | null {
  const newest = newestTradePrice(tokenId, directory);
  if (newest === null) return null;
  const complement = directory.complementOf(tokenId);
  const madeBy = newest.source === "complement" && complement !== null ? complement : tokenId;
  return { tokenId: madeBy, seq: newest.seq };
}

/** The trade behind the price, `null` when there is none, `undefined` when it is not in memory. */
function lastTradeIn(state: MarketState, tokenId: TokenId) {
  const place = placeOfLastTrade(state, tokenId);
  if (place === null) return null;
  return state.lastTrades.at(place.tokenId, place.seq) ?? undefined;
}

function presentKnown({ state, bookTopOf }: PriceParts, tokenId: TokenId): PriceRow | null {
  if (!state.directory.isKnownToken(tokenId)) return null;
  const lastTrade = lastTradeIn(state, tokenId);
  assert(lastTrade !== undefined, "what was missing has been read");
  return presentPrice({ tokenId, lastTrade, bookTop: bookTopOf(tokenId) }, state);
}

async function fetchLastTrades(
  { store, state }: PriceParts,
  places: readonly TradePlace[],
): Promise<void> {
  const { revision } = store.tail;
  const wanted = new Set(places.map(({ seq }) => seq));
  const held = store.tail.fills().filter((fill) => wanted.has(fill.seq));
  const fills = await readTradesAt(store, places);
  // What was held may have been taken back meanwhile; the next round finds what took its place.
  const stillHeld = store.tail.revision === revision ? held : [];
  state.lastTrades.add([...fills, ...stillHeld].map(lastTradeOf));
}

/** The final trades at some places; one after the other, so that many prices do not fill the line for everybody. */
async function readTradesAt(
  { engine, reader }: FactStore,
  places: readonly TradePlace[],
): Promise<readonly Fill[]> {
  const read: Fill[] = [];
  const unread: Seq[] = [];
  // Both tokens of a pair mostly have their price of one trade.
  for (const { tokenId, seq } of new Map(places.map((place) => [place.seq, place])).values()) {
    const found = await readTokenFills(reader, { ...oneFill, tokenId, from: seq, to: seq + 1 });
    if (found === null) unread.push(seq);
    else read.push(...found);
  }
  if (unread.length === 0) return read;
  const seqs = listLiteral(unread.map(integerLiteral));
  const from = `oddwire.fills WHERE seq IN ${seqs} ${fewRowsSettings}`;
  return [...read, ...(await readStoredFills(engine, from))];
}

const oneFill = {
  times: { firstTimestamp: 0, lastTimestamp: Number.MAX_SAFE_INTEGER },
  roles: null,
  order: "desc",
  limit: 1,
} as const;
