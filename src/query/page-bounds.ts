/**
 * Where a page of fills is likely to end. A query with such a bound opens one or two parts of a table, without one all
 * of them: at 100 million trades a page of a token takes a third of the time, one of all trades a quarter. A bound that
 * is wrong costs a second query for what is missing.
 */
import { blockNumberOf, firstSeqOf, type Seq, type TokenId } from "../base/ids.ts";
import type { TokenTotals } from "../market/market.ts";
import type { Coverage } from "../storage/recover.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { FillFilter } from "./fill-filter.ts";
import { finalBoundary, type ListOrder } from "./merged-list.ts";

/** A page of fills of a filter. */
export type FillPage = ListOrder & {
  readonly filter: FillFilter;
  readonly limit: number;
  /** How many trades a token has, since when, and where its newest one is. */
  readonly totalsOf?: (tokenId: TokenId) => Totals;
};

type Totals = Pick<TokenTotals, "trades" | "lastTrade" | "firstTimestamp">;

/** How many times the rows of a page are expected within its bound. */
const pagesExpected = 2;
/** Pages of everything: a few hours of Polygon, which is many pages. */
const blocksExpected = 10_000;
/** How many times the blocks are expected that tokens seem to have been traded for. */
const livesExpected = 1.5;

/** What does not narrow a list down beyond its tokens. */
const plainNames = ["roles", "tokenIds", "invertedTokenId"];

/** Whether a filter has no conditions but the roles, the tokens and those named. */
export function asksForAll(filter: FillFilter, besides: readonly string[] = []): boolean {
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || plainNames.includes(name) || besides.includes(name),
  );
}

/**
 * The position that a page is likely to end before, in its direction; `null` where that is the end of the list, and
 * `undefined` where nothing is known of it.
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

/** How many positions a page is likely to take, and the newest one that can be in it. */
type Expected = { readonly span: number; readonly newest: number };

/** Orders, transactions and times are found by indexes, wherever they are. */
function ofEverything(filter: FillFilter): Expected | undefined {
  const { orderHash, txHash, timestampFrom, timestampTo } = filter;
  const isIndexed = [orderHash, txHash, timestampFrom, timestampTo].some(
    (one) => one !== undefined,
  );
  return isIndexed ? undefined : { span: firstSeqOf(blocksExpected), newest: Infinity };
}

/** As if the tokens were traded evenly until their newest trade, since the first block or their own first trade. */
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

/** The positions that tokens were traded for, by the pace of blocks since; `Infinity` where too few have come since. */
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
