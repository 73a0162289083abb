/** The parameters of the lists of trades, fills and matches, and the filter of fills that they become. */
import { type Static, type TObject, Type } from "typebox";
import { type Address, type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import { address, amount, conditionId, hash, tokenId } from "../../base/input/client-texts.ts";
import type { Fill } from "../../market/fill.ts";
import { hasWholeLedger } from "../../market/ledger/token-flow.ts";
import { getAllTokens, type Market } from "../../market/market.ts";
import type { FillFilter } from "../../query/fill-filter.ts";
import { storedFills } from "../../query/read-fills.ts";
import type { ListOrder } from "../../query/row-snapshot.ts";
import { marketsOfEvent } from "../../views/venue-events/event-list.ts";
import type { Backend } from "../backend.ts";
import { checkBounds, checkRange, cursor, time } from "../http/parameters.ts";
import { type RowSource, rowListQuery, storedSource } from "./row-list.ts";

/** The maximum is the highest block for which the first position of the next block is a safe integer. */
const blockNumber = Type.Integer({ minimum: 0, maximum: 9_007_199_253 });

/** Parameters of every list of the chain: its range, its order and the page. */
export const rangeQuery = {
  ...rowListQuery,
  cursor: Type.Optional(cursor),
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
export const fillQuery = {
  ...rangeQuery,
  side: Type.Optional(Type.Enum(["BUY", "SELL"])),
  min_size: Type.Optional(amount),
  max_size: Type.Optional(amount),
  min_value: Type.Optional(amount),
  maker: Type.Optional(address),
  taker: Type.Optional(address),
  wallet: Type.Optional(address),
  condition_id: Type.Optional(conditionId),
  include: Type.Optional(Type.Enum(["market"])),
  exchange: Type.Optional(Type.Enum(["standard", "neg_risk"])),
};

/** Further parameters of lists that are not about a single token. */
export const tokenListQuery = {
  token_id: Type.Optional(Type.Array(tokenId, { minItems: 1, maxItems: 100 })),
  neg_risk_market_id: Type.Optional(hash),
};

export type RangeQuery = Static<TObject<typeof rangeQuery>>;
export type FillQuery = Static<TObject<typeof fillQuery & typeof tokenListQuery>>;

/** Returns the part of a filter that selects a range of the chain. Throws `VALIDATION_ERROR` for an empty one. */
export function rangeFilter(query: RangeQuery): FillFilter {
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
export function fillFilter(query: FillQuery, { state }: Backend): FillFilter {
  const { min_size: sizeMin, max_size: sizeMax, min_value: valueMin } = query;
  const { side, maker, taker, wallet, exchange } = query;
  checkBounds(query, ["min_size", "max_size"]);
  const amounts = { sizeMin, sizeMax, valueMin };
  const tokenIds = requestedTokens(query, state);
  return { ...rangeFilter(query), ...amounts, tokenIds, side, maker, taker, wallet, exchange };
}

/** Returns the fills of a filter, from the end of the previous page on. Throws `INVALID_CURSOR`. */
export function fillSource(
  backend: Backend,
  filter: FillFilter,
  place: { readonly path: string; readonly query: RangeQuery },
): RowSource<Fill> {
  const getTotals = (tokenId: TokenId) => backend.state.directory.getTotals(tokenId);
  const isTraced = (wallet: Address) => hasWholeLedger(backend.state.directory.contracts, wallet);
  const list = { filter, getTotals, isTraced, ...listOrder(backend, place) };
  return storedSource(backend.facts, storedFills(list));
}

/** Returns the order and the start of a list. Throws `INVALID_CURSOR`. */
export function listOrder(
  { cursors }: Backend,
  { path, query }: { readonly path: string; readonly query: RangeQuery },
): ListOrder {
  const [seq, sub] = cursors.decode(path, query) ?? [];
  const after = seq === undefined ? null : (Number(seq) as Seq);
  const afterSub = sub === undefined ? undefined : Number(sub);
  return { order: query.order, after, afterSub, finalizedOnly: query.status === "finalized" };
}

/** Returns the tokens that match all of `token_id`, `condition_id` and `neg_risk_market_id`; `undefined` for any. */
export function requestedTokens(
  {
    token_id,
    condition_id,
    neg_risk_market_id,
  }: Pick<FillQuery, "token_id" | "condition_id" | "neg_risk_market_id">,
  { directory }: Backend["state"],
): readonly TokenId[] | undefined {
  const choices = [
    token_id,
    condition_id && getTokens([directory.market(condition_id)]),
    neg_risk_market_id && getTokens(marketsOfEvent(directory, neg_risk_market_id)),
  ];
  const given = choices.filter((ids) => ids !== undefined);
  const [first, ...others] = given.map((ids) => new Set(ids));
  return first && [...first].filter((id) => others.every((ids) => ids.has(id)));
}

function getTokens(markets: readonly (Market | null)[]): readonly TokenId[] {
  const known = markets.filter((market) => market !== null);
  return known.flatMap(getAllTokens).map((token) => token.tokenId);
}
