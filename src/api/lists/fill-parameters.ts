/** The parameters of the lists of trades, fills and matches, and the filter of fills that they become. */
import { type Static, type TObject, Type } from "typebox";
import { marketLimits } from "../../base/config/limits.ts";
import { type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import { address, amount, conditionId, hash, namedToken } from "../../base/input/client-texts.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import type { Fill } from "../../market/fill.ts";
import type { FillFilter } from "../../query/fill-filter.ts";
import { storedFills } from "../../query/read-fills.ts";
import type { ListOrder } from "../../query/row-snapshot.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import { tradedMarkets } from "../../views/markets/market-selection.ts";
import { marketsOfEvent } from "../../views/venue-events/event-list.ts";
import type { Backend } from "../backend.ts";
import { checkBounds, checkRange, time } from "../http/parameters.ts";
import { type RowSource, rowListParameters, storedSource } from "./row-list.ts";

/** The maximum is the highest block for which the first position of the next block is a safe integer. */
const blockNumber = Type.Integer({ minimum: 0, maximum: 9_007_199_253 });

/** Parameters of every list of the chain: its range, its order and the page. */
export const rangeParameters = {
  ...rowListParameters,
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
  start: Type.Optional(time),
  end: Type.Optional(time),
  from_block: Type.Optional(blockNumber),
  to_block: Type.Optional(blockNumber),
  after_seq: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 })),
  status: Type.Enum(["confirmed", "finalized"], { default: "confirmed" }),
  tx_hash: Type.Optional(hash),
};

/** Parameters of lists of fills. */
export const fillParameters = {
  ...rangeParameters,
  side: Type.Optional(Type.Enum(["BUY", "SELL"])),
  min_size: Type.Optional(amount),
  max_size: Type.Optional(amount),
  min_value: Type.Optional(amount),
  maker: Type.Optional(address),
  taker: Type.Optional(address),
  wallet: Type.Optional(address),
  condition_id: Type.Optional(conditionId),
  builder: Type.Optional(hash),
  include: Type.Optional(Type.Enum(["market"])),
  exchange: Type.Optional(Type.Enum(["standard", "neg_risk"])),
};

export const names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: 100,
});

/** Further parameters of lists that are not about a single token. */
export const tokenParameters = {
  token_id: Type.Optional(Type.Array(namedToken, { minItems: 1, maxItems: 100 })),
  neg_risk_market_id: Type.Optional(hash),
  slug: Type.Optional(names),
  event_id: Type.Optional(names),
  category: Type.Optional(names),
  tag: Type.Optional(names),
};

export type RangeParameters = Static<TObject<typeof rangeParameters>>;
export type FillParameters = Static<TObject<typeof fillParameters & typeof tokenParameters>>;

/** Returns the part of a filter that selects a range of the chain. Throws `VALIDATION_ERROR` for an empty one. */
export function toRangeFilter(query: RangeParameters): FillFilter {
  const { start, end, from_block, to_block, after_seq, tx_hash } = query;
  checkRange(query, ["start", "end"]);
  checkBounds(query, ["from_block", "to_block"]);
  const first = from_block === undefined ? 0 : toFirstSeq(from_block);
  const seqFrom = Math.max(first, after_seq === undefined ? 0 : after_seq + 1) as Seq;
  return {
    // Block times are whole seconds: rounding up keeps start inclusive and end exclusive.
    timestampFrom: start === undefined ? undefined : Math.ceil(start / 1000),
    timestampTo: end === undefined ? undefined : Math.ceil(end / 1000),
    seqFrom: seqFrom === 0 ? undefined : seqFrom,
    seqTo: to_block === undefined ? undefined : toFirstSeq(to_block + 1),
    txHash: tx_hash,
  };
}

/** Returns the filter of fills of a query. Throws `VALIDATION_ERROR` for contradictory bounds. */
export function toFillFilter(query: FillParameters, { state }: Backend): FillFilter {
  const { min_size: sizeMin, max_size: sizeMax, min_value: valueMin } = query;
  const { side, maker, taker, wallet, exchange, builder } = query;
  checkBounds(query, ["min_size", "max_size"]);
  const amounts = { sizeMin, sizeMax, valueMin };
  const addresses = { maker, taker, wallet, builder };
  const tokenIds = requestedTokens(query, state);
  return { ...toRangeFilter(query), ...amounts, ...addresses, tokenIds, side, exchange };
}

type ListedFills = { readonly path: string; readonly query: RangeParameters };

/** Returns the fills of a filter, from the end of the previous page on. Throws `INVALID_CURSOR`. */
export function fillSource(
  backend: Backend,
  filter: FillFilter,
  listed: ListedFills,
): RowSource<Fill> {
  return storedSource(backend.facts, storedFills(toFillPage(backend, filter, listed)));
}

/** Returns the list that `storedFills` and `storedTrades` take. Throws `INVALID_CURSOR`. */
export function toFillPage(backend: Backend, filter: FillFilter, listed: ListedFills) {
  return { filter, tokens: backend.state.directory, ...listOrder(backend, listed) };
}

/** Returns the order and the start of a list. Throws `INVALID_CURSOR`. */
export function listOrder(
  { cursors }: Backend,
  { path, query }: { readonly path: string; readonly query: RangeParameters },
): ListOrder {
  const [seq, sub] = cursors.decode(path, query) ?? [];
  const after = seq === undefined ? null : (Number(seq) as Seq);
  const afterSub = sub === undefined ? undefined : Number(sub);
  return { order: query.order, after, afterSub, finalizedOnly: query.status === "finalized" };
}

type TokenParameters = Partial<
  Pick<FillParameters, keyof typeof tokenParameters | "condition_id" | "start">
>;

/** Returns the tokens that match all filters by tokens and markets; `undefined` without such a filter. */
export function requestedTokens(
  query: TokenParameters,
  { directory }: Backend["state"],
): readonly TokenId[] | undefined {
  const { token_id, condition_id, neg_risk_market_id } = query;
  const choices = [
    token_id,
    condition_id && directory.getTokenIds(condition_id),
    neg_risk_market_id &&
      marketsOfEvent(directory, neg_risk_market_id).flatMap((market) =>
        directory.getTokenIds(market.conditionId),
      ),
    tokensByLabels(query, directory),
  ];
  const given = choices.filter((ids) => ids !== undefined);
  const [first, ...others] = given.map((ids) => new Set(ids));
  return first && [...first].filter((id) => others.every((ids) => ids.has(id)));
}

/** Returns the tokens of the markets with the labels of a query, those alone that were traded since its start. */
function tokensByLabels(
  { slug, event_id, category, tag, start = 0 }: TokenParameters,
  directory: MarketDirectory,
): readonly TokenId[] | undefined {
  const labels = {
    ...(slug !== undefined && { slug }),
    ...(event_id !== undefined && { event: event_id }),
    ...(category !== undefined && { category }),
    ...(tag !== undefined && { tag }),
  };
  if (Object.keys(labels).length === 0) return undefined;
  const tradedFrom = Math.max(1, Math.floor(start / 1000));
  const markets = tradedMarkets(directory.columns, labels, tradedFrom);
  const { selectedMarketsMax: most } = marketLimits;
  if (markets.length > most) {
    const count = `matches ${markets.length} markets that were traded since then, and at most ${most} are possible`;
    const name = tag ? "tag" : category ? "category" : "event_id";
    throw invalid(name, `${count}; set a later start, or filter by slug`);
  }
  return [...new Set(markets.flatMap((id) => directory.getTokenIds(id)))];
}
