/** Reads markets and events from the views alone. */
import { AppError } from "../../base/errors.ts";
import { parseConditionId, parseTokenId, type TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { truncate } from "../../base/near-name.ts";
import { yieldToEventLoop } from "../../base/time/turns.ts";
import type { Market, MarketToken } from "../../market/market.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import { listMarkets, type MarketList } from "../../views/markets/market-list.ts";
import type { MarketSelection } from "../../views/markets/market-selection.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import type { Hits } from "../../views/search/market-search.ts";
import { type EventSelection, listEvents } from "../../views/venue-events/event-list.ts";

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/**
 * Finds a market by its condition id, a token id, its slug, or the name of a token; `null` when there is none. Throws
 * `VALIDATION_ERROR` like `readNamedToken`.
 */
function readMarket(sources: Sources, id: string): Market | null {
  if (id.includes(":")) return readNamedToken(sources, id, "id")?.market ?? null;
  sources.facts.reads.add("market", "views");
  return findMarket(sources.state.directory, id);
}

/** Returns the market in the name of a token: what is before its last colon. */
export function getMarketName(name: string): string {
  return name.slice(0, name.lastIndexOf(":"));
}

/**
 * Finds the token of `<slug>:<outcome>` or `<condition_id>:<outcome>`, and its market; `null` without such a market.
 * Throws `VALIDATION_ERROR` about `parameter` for an outcome that the market has not.
 */
export function readNamedToken(
  { facts, state }: Sources,
  name: string,
  parameter: string,
): { readonly market: Market; readonly token: MarketToken } | null {
  facts.reads.add("market", "views");
  const id = getMarketName(name);
  const market = findMarket(state.directory, id);
  if (market === null) return null;
  const { mirror, tokens } = market;
  const isMirror = mirror !== null && parseConditionId(id) === mirror.conditionId;
  const own = isMirror ? mirror.tokens : tokens;
  const outcome = name.slice(id.length + 1).toLowerCase();
  const token =
    own.find((one) => one.outcome?.toLowerCase() === outcome) ??
    own.find((_, index) => String(index) === outcome);
  if (token !== undefined) return { market, token };
  const outcomes = own.map((one, index) => one.outcome ?? index).join(", ");
  throw invalid(parameter, `has an outcome that ${truncate(id)} has not: it has ${outcomes}`);
}

function findMarket(directory: MarketDirectory, id: string): Market | null {
  const conditionId = parseConditionId(id);
  if (conditionId !== null) return directory.market(conditionId);
  const tokenId = parseTokenId(id);
  const slot = tokenId === null ? null : directory.getSlot(tokenId);
  const named = slot?.conditionId ?? directory.bySlug(id)[0];
  return named === undefined ? null : directory.market(named);
}

/** Returns the error for a token that no market or trade has. */
export function unknownToken(): AppError {
  return new AppError("NOT_FOUND", "No market or trade has this token id");
}

/** Finds a market like `readMarket`. Throws `NOT_FOUND` when there is none. */
export function requireMarket(sources: Sources, id: string): Market {
  const market = readMarket(sources, id);
  if (market === null) throw new AppError("NOT_FOUND", "No market has this id, token id or slug");
  return market;
}

/** Finds the markets that contain all words. Yields to the event loop after each word. No words find no market. */
export async function searchMarkets(
  { facts, state }: Sources,
  words: readonly string[],
): Promise<Hits> {
  facts.reads.add("search", "views");
  const { columns } = state.directory;
  const corrected = columns.search.corrected(words);
  const steps = columns.search.find(corrected, () => columns.count);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await yieldToEventLoop();
  }
}

/** Returns the selected markets as they are now. */
export function readMarketList({ facts, state }: Sources, selection: MarketSelection): MarketList {
  facts.reads.add("markets", "views");
  return listMarkets(state.directory.columns, selection);
}

/** Returns the selected events as they are now, each represented by its first market. */
export function readEventList({ facts, state }: Sources, selection: EventSelection): MarketList {
  facts.reads.add("market_events", "views");
  return listEvents(state.directory.columns, selection);
}

/** What a request about one token includes besides its own trades. */
type Included = { readonly complement: boolean; readonly mirror: boolean };

/** The tokens of the requested outcome, the requested one first, and those of the other outcome, to be inverted. */
export type JoinedTokens = {
  readonly same: readonly TokenId[];
  readonly inverted: readonly TokenId[];
};

/** Returns the tokens that a request joins. The mirror repeats the outcome of a token on the other ledger. */
export function joinTokens(
  directory: MarketDirectory,
  tokenId: TokenId,
  { complement, mirror }: Included,
): JoinedTokens {
  const mirrored = mirror ? directory.getMirroredToken(tokenId) : null;
  const same = mirrored === null ? [tokenId] : [tokenId, mirrored];
  const inverted = complement ? same.flatMap((id) => directory.getComplement(id) ?? []) : [];
  return { same, inverted };
}
