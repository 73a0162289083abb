/**
 * Estimates where a page of fills ends. A query with this bound opens one or two parts of a table instead of all: with
 * 100 million trades, a page of a token takes a third of the time and a page of all trades a quarter. If the bound is
 * too near, a second query reads the missing rows.
 */
import { blockNumberOf, firstSeqOf, type Seq, type TokenId } from "../base/ids.ts";
import type { TokenTotals } from "../market/market.ts";
import type { Coverage } from "../storage/recover.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { FillFilter } from "./fill-filter.ts";
import { finalBoundary, type ListOrder } from "./merged-list.ts";

/** A page of the fills that pass a filter. */
export type FillPage = ListOrder & {
  readonly filter: FillFilter;
  readonly limit: number;
  /** Returns a token's number of trades, the time of its first and its newest priced trade. */
  readonly totalsOf?: (tokenId: TokenId) => Totals;
};

type Totals = Pick<TokenTotals, "trades" | "lastTrade" | "firstTimestamp">;

/** A safety factor: a bound contains this many times the rows of a page, by expectation. */
const pagesExpected = 2;
/** The blocks that a page of all trades is bound to: a few hours of Polygon, which are many pages. */
const blocksExpected = 10_000;
/** A safety factor for the estimated number of blocks in which tokens were traded. */
const livesExpected = 1.5;

/** Fields of a filter that do not narrow a list beyond its tokens. */
const plainNames = ["roles", "tokenIds", "invertedTokenId"];

/** Whether a filter has only roles, tokens and the fields in `besides`. */
export function asksForAll(filter: FillFilter, besides: readonly string[] = []): boolean {
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || plainNames.includes(name) || besides.includes(name),
  );
}

/**
 * Returns the position before which a page probably ends, in its direction: `null` when the list ends before it,
 * `undefined` when there is no estimate.
 */
export function pageBound(
  store: Pick<IndexedFacts, "coverage">,
  page: FillPage,
): Seq | null | undefined {
  const { filter, order, after } = page;
  const { coverage } = store;
  if (coverage === null) return undefined;
  const oldest = firstSeqOf(coverage.fromBlock);
  const { seqFrom = oldest, seqTo = Infinity } = filter;
  const expected =
    filter.tokenIds === undefined
      ? ofEverything(filter)
      : ofTokens(page, filter.tokenIds, coverage);
  if (expected === undefined) return undefined;
  const { span, newest } = expected;
  const lowest = Math.max(oldest, seqFrom);
  if (order === "desc") {
    const bound = Math.floor(
      Math.min(newest, after ?? Infinity, seqTo, finalBoundary(store)) - span,
    );
    return bound > lowest ? (bound as Seq) : null;
  }
  const bound = Math.ceil(Math.max(lowest, after ?? 0) + span);
  return bound < Math.min(seqTo, finalBoundary(store)) ? (bound as Seq) : null;
}

/** The estimated number of positions that a page covers, and the newest position that can be in it. */
type Expected = { readonly span: number; readonly newest: number };

/** Estimates pages of all tokens. Indexes find orders, transactions and times, so these need no bound. */
function ofEverything(filter: FillFilter): Expected | undefined {
  const { orderHash, txHash, timestampFrom, timestampTo } = filter;
  const isIndexed = [orderHash, txHash, timestampFrom, timestampTo].some(
    (one) => one !== undefined,
  );
  return isIndexed ? undefined : { span: firstSeqOf(blocksExpected), newest: Infinity };
}

/** Estimates pages of tokens, as if traded evenly from the first block, or their first trade, to their newest trade. */
function ofTokens(
  { filter, order, after, limit, totalsOf }: FillPage,
  tokenIds: readonly TokenId[],
  { fromBlock, last }: Coverage,
): Expected | undefined {
  const isKnown = order === "desc" || after !== null;
  const isPlain = tokenIds.length > 0 && asksForAll(filter, ["seqFrom", "seqTo"]);
  if (totalsOf === undefined || !isKnown || !isPlain) return undefined;
  const totals = tokenIds.map(totalsOf);
  const trades = totals.reduce((sum, one) => sum + one.trades, 0);
  const oldest = firstSeqOf(fromBlock);
  const newest = Math.max(oldest, ...totals.map(({ lastTrade }) => lastTrade?.seq ?? 0));
  const evenly = ((newest - oldest) * limit * pagesExpected) / Math.max(1, trades);
  return { newest, span: Math.min(evenly, livedFor(totals, last)) };
}

/** Estimates the positions from first to newest trade, by the pace of blocks since; `Infinity` with too few blocks. */
function livedFor(totals: readonly Totals[], last: Coverage["last"]): number {
  const traded = totals.flatMap(({ lastTrade, firstTimestamp }) =>
    lastTrade === null ? [] : [{ ...lastTrade, firstTimestamp }],
  );
  const [newest] = traded.toSorted((a, b) => b.seq - a.seq);
  if (newest === undefined) return Infinity;
  const blocks = last.number - blockNumberOf(newest.seq);
  const secondsPerBlock = (last.timestamp - newest.timestamp) / blocks;
  if (blocks < blocksExpected || secondsPerBlock <= 0) return Infinity;
  const first = Math.min(...traded.map(({ firstTimestamp }) => firstTimestamp));
  const lived = (newest.timestamp - first) / secondsPerBlock;
  return firstSeqOf(Math.ceil(lived * livesExpected) + blocksExpected);
}
