/**
 * Estimates where a page of fills ends. A query with this bound opens one or two parts of a table instead of all.
 * With 100 million trades, a page of a token then takes a third of the time, and a page of all trades a quarter. If
 * the bound is too near, a second query reads the missing rows.
 */
import { type Seq, type TokenId, toFirstSeq } from "../base/ids.ts";
import type { TokenTotals } from "../market/market.ts";
import { firstSeqAbove } from "../storage/covered-facts.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketDirectory } from "../views/markets/market-directory.ts";
import type { FillFilter } from "./fill-filter.ts";
import type { ListOrder } from "./row-snapshot.ts";

/** A page of the fills that pass a filter. */
export type FillPage = ListOrder & {
  readonly filter: FillFilter;
  readonly limit: number;
  /** What is known about tokens, as of now. Without it pages are not narrowed. */
  readonly tokens?: PageTokens;
};

type PageTokens = Pick<MarketDirectory, "contracts" | "getPair"> & {
  getTotals(tokenId: TokenId): PageTotals;
};

/** What the totals of a token say about where its trades are. */
export type PageTotals = Pick<
  TokenTotals,
  "trades" | "lastTrade" | "firstTimestamp" | "lastTimestamp"
>;

/** A safety factor: a bound contains this many times the rows of a page, by expectation. */
const rowsMargin = 2;
/** The blocks that a page of all trades is bound to: a few hours of Polygon, which are many pages. */
const pageBlocks = 10_000;

/** Fields of a filter that do not narrow a list beyond its tokens and a range of positions. */
const tokenFieldNames = ["roles", "tokenIds", "invertedTokenIds", "seqFrom", "seqTo"];

/**
 * Narrows a filter of trades to the time in which its tokens were traded. The engine knows the times of each part of a
 * table, so it opens only the parts of that time.
 */
export function withinLifetime(
  filter: FillFilter,
  tokens: Pick<PageTokens, "getTotals"> | undefined,
): FillFilter {
  const { roles = ["taker"], tokenIds = [], timestampFrom = 0, timestampTo = Infinity } = filter;
  // Totals count trades only. The summary of a taker order can be about a token without a trade.
  if (tokens === undefined || roles.includes("taker")) return filter;
  const traded = tokenIds.map((id) => tokens.getTotals(id)).filter(({ trades }) => trades > 0);
  if (traded.length === 0) return filter;
  const first = Math.min(...traded.map(({ firstTimestamp }) => firstTimestamp));
  const last = Math.max(...traded.map(({ lastTimestamp }) => lastTimestamp));
  return {
    ...filter,
    timestampFrom: Math.max(timestampFrom, first),
    timestampTo: Math.min(timestampTo, last + 1),
  };
}

/**
 * Returns the position before which a page probably ends, in its direction: `null` when the list ends before it,
 * `undefined` when there is no estimate.
 */
export function pageBound(
  facts: Pick<IndexedFacts, "coverage">,
  page: FillPage,
): Seq | null | undefined {
  const { filter, order, after } = page;
  const { coverage } = facts;
  if (coverage === null) return undefined;
  const oldest = toFirstSeq(coverage.fromBlock);
  const { seqFrom = oldest, seqTo = Infinity } = filter;
  const estimate =
    filter.tokenIds === undefined
      ? estimateAllTokens(filter)
      : estimateTokens(page, filter.tokenIds, oldest);
  if (estimate === undefined) return undefined;
  const { positions, newest } = estimate;
  const lowest = Math.max(oldest, seqFrom);
  if (order === "desc") {
    const bound = Math.floor(
      Math.min(newest, after ?? Infinity, seqTo, firstSeqAbove(coverage)) - positions,
    );
    return bound > lowest ? (bound as Seq) : null;
  }
  const bound = Math.ceil(Math.max(lowest, after ?? 0) + positions);
  return bound < Math.min(seqTo, firstSeqAbove(coverage)) ? (bound as Seq) : null;
}

/** The estimated number of positions that a page covers, and the newest position that can be in it. */
type Estimate = { readonly positions: number; readonly newest: number };

/** Estimates pages of all tokens. Indexes find orders, transactions and times, so these need no bound. */
function estimateAllTokens(filter: FillFilter): Estimate | undefined {
  const { orderHash, txHash, timestampFrom, timestampTo } = filter;
  const isIndexed = [orderHash, txHash, timestampFrom, timestampTo].some(
    (one) => one !== undefined,
  );
  return isIndexed ? undefined : { positions: toFirstSeq(pageBlocks), newest: Infinity };
}

/** Estimates pages of tokens, as if traded evenly from the first block to their newest trade. */
function estimateTokens(
  { filter, order, after, limit, tokens }: FillPage,
  tokenIds: readonly TokenId[],
  oldest: Seq,
): Estimate | undefined {
  const isKnown = order === "desc" || after !== null;
  const isPlain =
    tokenIds.length > 0 &&
    Object.entries(filter).every(
      ([name, value]) => value === undefined || tokenFieldNames.includes(name),
    );
  if (tokens === undefined || !isKnown || !isPlain) return undefined;
  const totals = tokenIds.map((id) => tokens.getTotals(id));
  const trades = totals.reduce((sum, one) => sum + one.trades, 0);
  const newest = Math.max(oldest, ...totals.map(({ lastTrade }) => lastTrade?.seq ?? 0));
  return { newest, positions: ((newest - oldest) * limit * rowsMargin) / Math.max(1, trades) };
}
