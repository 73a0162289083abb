/** What the list of markets can be asked for, how rows are chosen and in which order they stand. */
import { type Static, Type } from "typebox";
import type { ConditionId } from "../base/ids.ts";
import { isGiven } from "../base/optional.ts";
import type { Market } from "../market/market.ts";
import type { MarketState } from "../market/market-state.ts";
import { sumsOf } from "../rows/market-row.ts";
import { amount, conditionId, cursor, time, tokenId } from "./parameters.ts";

const ids = { minItems: 1, maxItems: 100 };
const name = Type.String({ minLength: 1, maxLength: 200 });

export const marketQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(cursor),
  active: Type.Optional(Type.Boolean({ description: "true: markets that can still trade" })),
  status: Type.Enum(["open", "resolved", "all"], { default: "all" }),
  search: Type.Optional(name),
  neg_risk: Type.Optional(Type.Boolean()),
  event_id: Type.Optional(Type.Array(name, ids)),
  category: Type.Optional(Type.Array(name, ids)),
  tag: Type.Optional(Type.Array(name, ids)),
  slug: Type.Optional(Type.Array(name, ids)),
  condition_id: Type.Optional(Type.Array(conditionId, ids)),
  token_id: Type.Optional(Type.Array(tokenId, ids)),
  min_volume: Type.Optional(amount),
  min_volume_24h: Type.Optional(amount),
  created_after: Type.Optional(time),
  created_before: Type.Optional(time),
  end_after: Type.Optional(time),
  end_before: Type.Optional(time),
  sort: Type.Enum(
    ["volume_24h", "volume", "trades_24h", "created_at", "end_date", "last_trade_at"],
    { default: "volume_24h" },
  ),
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
});
export type MarketQuery = Static<typeof marketQuery>;

/** Where a market stands in a list: keys that say it fully, whatever else the list holds. */
export type MarketPlace = {
  /** How well it answers the search; 0 without one. Higher is better and comes first. */
  readonly rank: number;
  /** What `sort` orders by, as an integer; 0 where a market has no value. */
  readonly key: bigint;
  readonly conditionId: ConditionId;
};

/** The places of the listed markets that a query asks for, in its order. */
export function selectMarkets(state: MarketState, query: MarketQuery): readonly MarketPlace[] {
  const words = wordsOf(query.search ?? "");
  // A search for signs alone is no wish to see everything.
  if (query.search !== undefined && words.length === 0) return [];
  const places: MarketPlace[] = [];
  for (const conditionId of conditionsAsked(state, query)) {
    const market = state.directory.market(conditionId);
    if (market === null || !isOfKind(market, query)) continue;
    const rank = words.length === 0 ? 0 : rankOf(market, words);
    if (words.length > 0 && rank === 0) continue;
    const sums = sumsOf(market, state);
    if (!hasVolume(sums, query)) continue;
    places.push({ rank, key: sortKey({ market, sums }, query), conditionId });
  }
  return places.toSorted(placeOrder(query));
}

/** Compares places in the order of the list: by rank, by `sort`, then by id. */
export function placeOrder({ order }: MarketQuery): (a: MarketPlace, b: MarketPlace) => number {
  const sign = order === "asc" ? 1 : -1;
  return (a, b) =>
    b.rank - a.rank || sign * compare(a.key, b.key) || compare(a.conditionId, b.conditionId);
}

function sortKey(
  { market, sums }: { market: Market; sums: ReturnType<typeof sumsOf> },
  { sort }: MarketQuery,
): bigint {
  switch (sort) {
    case "volume_24h":
      return sums.dayVolumeUsd;
    case "volume":
      return sums.volumeUsd;
    case "trades_24h":
      return BigInt(sums.dayTrades);
    case "created_at":
      return BigInt(market.createdAt);
    case "last_trade_at":
      return BigInt(sums.lastTimestamp);
    case "end_date":
      return 0n;
  }
}

/** Ids name few markets: those are looked up, and nothing else is looked at. */
function* conditionsAsked({ directory }: MarketState, query: MarketQuery) {
  const { condition_id, token_id } = query;
  if (!isGiven(condition_id) && !isGiven(token_id)) return yield* directory.listed();
  const ofTokens = token_id?.flatMap((id) => directory.placeOf(id)?.conditionId ?? []);
  const asked = condition_id?.filter((id) => ofTokens?.includes(id) ?? true) ?? ofTokens ?? [];
  return yield* new Set(asked);
}

/** The venue's facts (slug, category, tags, end date) are unknown, so asking for them finds none. */
function isOfKind(market: Market, query: MarketQuery): boolean {
  const status = market.resolution === null ? "open" : "resolved";
  const { created_after, created_before, event_id } = query;
  const createdMs = market.createdAt * 1000;
  const asksForVenueFacts = [
    query.slug,
    query.category,
    query.tag,
    query.end_after,
    query.end_before,
  ];
  return (
    (query.status === "all" || query.status === status) &&
    (!isGiven(query.active) || query.active === (status === "open")) &&
    (!isGiven(query.neg_risk) || query.neg_risk === market.negRisk) &&
    (!isGiven(event_id) || event_id.includes(market.eventId ?? "")) &&
    (!isGiven(created_after) || createdMs >= created_after) &&
    (!isGiven(created_before) || createdMs < created_before) &&
    !asksForVenueFacts.some(isGiven)
  );
}

function hasVolume(
  sums: ReturnType<typeof sumsOf>,
  { min_volume, min_volume_24h }: MarketQuery,
): boolean {
  return (
    (!isGiven(min_volume) || sums.volumeUsd >= min_volume) &&
    (!isGiven(min_volume_24h) || sums.dayVolumeUsd >= min_volume_24h)
  );
}

/** All words must be found; the question counts most, then outcomes, then the description. */
function rankOf({ question, description, tokens }: Market, words: readonly string[]): number {
  const outcomes = tokens.map((token) => token.outcome ?? "").join(" ");
  const texts: [string, number][] = [
    [question ?? "", 100],
    [outcomes, 30],
    [description ?? "", 10],
  ];
  const folded = texts.map(([text, weight]) => [fold(text), weight] as const);
  let rank = 0;
  for (const word of words) {
    const best = Math.max(...folded.map(([text, weight]) => weight * matchOf(text, word)));
    if (best === 0) return 0;
    rank += best;
  }
  return rank;
}

/** 3 for a whole word, 2 for the start of one, 1 for anything within. */
function matchOf(text: string, word: string): number {
  const at = ` ${text} `;
  if (at.includes(` ${word} `)) return 3;
  if (at.includes(` ${word}`)) return 2;
  return at.includes(word) ? 1 : 0;
}

function wordsOf(text: string): string[] {
  return fold(text)
    .split(" ")
    .filter((word) => word !== "");
}

/** Lower case, without accents, everything that is neither letter nor digit a space. */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
