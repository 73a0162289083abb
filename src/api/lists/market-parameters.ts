/** The parameters of the list of markets, and the selection of markets that they become. */
import { type Static, Type } from "typebox";
import { marketLimits } from "../../base/config/limits.ts";
import { amount, conditionId, hash, namedToken } from "../../base/input/client-texts.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { marketFlags } from "../../views/markets/market-columns.ts";
import { type MarketSelection, sortColumns } from "../../views/markets/market-selection.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { toWords } from "../../views/search/search-words.ts";
import { listParameters } from "../bulk/bulk-format.ts";
import { checkRange, time } from "../http/parameters.ts";

const ids = { minItems: 1, maxItems: 100 };
/** A flag that no market has. */
const nothing = 128;
export const marketPageRows = 50;
const name = Type.String({ minLength: 1, maxLength: 200 });
const sorts = Object.keys(sortColumns) as (keyof typeof sortColumns)[];

const { cursor, ...page } = listParameters({ pageRows: marketPageRows, pageRowsMax: 100 });

export const marketParameters = Type.Object({
  ...page,
  include: Type.Optional(Type.Enum(["event"])),
  cursor,
  active: Type.Optional(Type.Boolean()),
  status: Type.Enum(["open", "resolved", "all"], { default: "all" }),
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 200, examples: ["world cup"] })),
  neg_risk: Type.Optional(Type.Boolean()),
  event_id: Type.Optional(Type.Array(name, ids)),
  neg_risk_market_id: Type.Optional(Type.Array(hash, ids)),
  category: Type.Optional(Type.Array(name, ids)),
  tag: Type.Optional(Type.Array(name, ids)),
  slug: Type.Optional(Type.Array(name, ids)),
  condition_id: Type.Optional(Type.Array(conditionId, ids)),
  token_id: Type.Optional(Type.Array(namedToken, ids)),
  min_volume: Type.Optional(amount),
  min_volume_24h: Type.Optional(amount),
  created_after: Type.Optional(time),
  created_before: Type.Optional(time),
  end_after: Type.Optional(time),
  end_before: Type.Optional(time),
  sort: Type.Enum(sorts, { default: "volume_24h" }),
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
});
export type MarketParameters = Static<typeof marketParameters>;

/**
 * Returns the selection of a query, without its search. Throws `VALIDATION_ERROR` for an empty time range, and for an order by
 * open interest without wallets.
 */
export function toSelection({ directory }: MarketState, query: MarketParameters): MarketSelection {
  const { end_after, end_before, sort } = query;
  if (sort === "open_interest" && !directory.contracts.wallets)
    throw invalid("sort", "cannot be open_interest: ODDWIRE_WALLETS is off");
  checkRange(query, ["created_after", "created_before"]);
  checkRange(query, ["end_after", "end_before"]);
  return {
    hits: null,
    ordinals: requestedOrdinals(directory, query),
    flags: requestedFlags(query),
    labels: {
      ...(query.event_id !== undefined && { event: query.event_id }),
      ...(query.neg_risk_market_id !== undefined && { event_key: query.neg_risk_market_id }),
      ...(query.slug !== undefined && { slug: query.slug }),
      ...(query.category !== undefined && { category: query.category }),
      ...(query.tag !== undefined && { tag: query.tag }),
    },
    minVolume: Number(query.min_volume ?? 0n),
    minDayVolume: Number(query.min_volume_24h ?? 0n),
    createdFrom: query.created_after ?? 0,
    createdBefore: query.created_before ?? Infinity,
    ends:
      end_after !== undefined || end_before !== undefined
        ? { from: end_after ?? 0, before: end_before ?? Infinity }
        : null,
    sort,
  };
}

/** Returns the distinct words of a search. Throws `VALIDATION_ERROR` for more than `searchWordsMax`. */
export function searchedWords(search: string): string[] {
  const words = [...new Set(toWords(search))];
  const { searchWordsMax } = marketLimits;
  if (words.length <= searchWordsMax) return words;
  const issue = `must have at most ${searchWordsMax} different words`;
  throw invalid("search", issue);
}

/** Returns the flags that a query filters by. If filters contradict each other, no market matches. */
function requestedFlags({ active, status, neg_risk }: MarketParameters): MarketSelection["flags"] {
  let [mask, expected] = [0, 0];
  const ask = (flag: number, isRequested: boolean): void => {
    if ((mask & flag) !== 0 && ((expected & flag) !== 0) !== isRequested) expected |= nothing;
    mask |= flag;
    if (isRequested) expected |= flag;
  };
  if (status !== "all") ask(marketFlags.resolved, status === "resolved");
  if (active !== undefined) ask(marketFlags.resolved, !active);
  if (neg_risk !== undefined) ask(marketFlags.negRisk, neg_risk);
  return { mask, expected };
}

/** Looks up the markets of a query with ids, so that not all markets are scanned; `null` for a query without ids. */
function requestedOrdinals(
  directory: MarketState["directory"],
  { condition_id, token_id }: MarketParameters,
): readonly number[] | null {
  if (condition_id === undefined && token_id === undefined) return null;
  const named = condition_id?.map((id) => directory.getMarketId(id));
  const ofTokens = token_id
    ?.flatMap((id) => directory.getSlot(id)?.conditionId ?? [])
    .map((id) => directory.getMarketId(id));
  const requested = named?.filter((id) => ofTokens?.includes(id) ?? true) ?? ofTokens ?? [];
  return requested.flatMap((id) => directory.getOrdinal(id) ?? []);
}
