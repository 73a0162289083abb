/**
 * Reads the last trade of each outcome up to a moment. One query reads nearly all of them, from as many rows as a few
 * granules of the table have, whatever the number of trades: from the time shortly before the moment in which the tokens
 * were probably traded. The rest are read in order, outcome by outcome.
 */
import { type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { Fill } from "../../market/fill.ts";
import { getLastTrade, type LastTrade, type TokenTotals } from "../../market/market.ts";
import { toHour } from "../../market/minute-candle.ts";
import { readRows } from "../../storage/codec/fixed-rows.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import { fewRowsSettings, inOrderSettings } from "../../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../../storage/sql-literal.ts";
import { readStoredFills } from "../../storage/stored-fills.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { isIn, type RangeFilter } from "../condition.ts";
import { type FillFilter, toFillCondition } from "../fill-filter.ts";
import { readFills } from "../read-fills.ts";

/** What had happened by a moment: before a position or before a time, both exclusive. */
export type Past = Pick<RangeFilter, "seqTo" | "timestampTo">;

/** A trade with a price, and its token. */
export type TokenTrade = { readonly tokenId: TokenId; readonly trade: LastTrade };

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/** The last trade of an outcome as far as memory has it, and what to read. `totals` are those of the tokens to read. */
type Search = {
  readonly newest: TokenTrade | null;
  readonly filter: FillFilter & { readonly tokenIds: readonly TokenId[] };
  readonly totals: readonly TokenTotals[];
};

/** The trades that the time read first has, by expectation: few for the engine, which reads hundreds of rows at once. */
const recentTrades = 32;
const recentSecondsMin = 60;
/** Up to this many trades, two granules, all trades before a position are read. */
const fewTrades = 512;
/** From this many trades on, a hundred granules, the index of times takes longer than candles around the moment. */
const manyTrades = 25_000;
/** The hours before and after a moment in which the candles of often traded tokens are read. */
const hoursAround = 720;
const readsAtOnceMax = 4;

/** The fills that are trades with a price: one of no shares has none. */
const priced = { roles: ["maker", "direct"], sizeMin: 1n } as const;

/** Returns whether something happened by a moment. */
export function isPast(
  { seq, timestamp }: { readonly seq: Seq; readonly timestamp: number },
  { seqTo, timestampTo = Infinity }: Past,
): boolean {
  return (seqTo === undefined || seq < seqTo) && timestamp < timestampTo;
}

/** Reads the last trade with a price of each outcome, of all its tokens; `null` without one. */
export async function readLastTrades(
  { facts, state: { directory } }: Sources,
  outcomes: readonly (readonly TokenId[])[],
  past: Past,
): Promise<readonly (TokenTrade | null)[]> {
  facts.reads.add("price", "engine");
  const unfinalized = getUnfinalized(facts, past);
  const searches = outcomes.map((tokenIds) => {
    const search = toSearch(tokenIds, past, (id) => directory.getTotals(id));
    const trades = search.filter.tokenIds.map((id) => unfinalized.get(id) ?? null);
    // Unfinalized trades are newer than all that could be read.
    return trades.some((trade) => trade !== null)
      ? { ...search, newest: trades.reduce(getNewer, search.newest), totals: [] }
      : search;
  });
  const recent = await readRecent(
    facts,
    searches.filter(({ totals }) => totals.length > 0),
    past,
  );
  const read = async ({ newest, filter, totals }: Search): Promise<TokenTrade | null> => {
    if (totals.length === 0) return newest;
    const found = recent.find(({ tokenId }) => filter.tokenIds.includes(tokenId));
    const isComplete = found !== undefined || isReadWhole(filter, totals);
    return getNewer(newest, isComplete ? (found ?? null) : await readInOrder(facts, filter));
  };
  const trades: (TokenTrade | null)[] = [];
  for await (const trade of mapInOrder(searches, read, readsAtOnceMax)) trades.push(trade);
  return trades;
}

function getUnfinalized(
  { headBuffer }: IndexedFacts,
  past: Past,
): ReadonlyMap<TokenId, TokenTrade> {
  const { holds } = toFillCondition({ ...past, ...priced });
  const trades = headBuffer
    .fills()
    .filter(holds)
    .flatMap((fill) => toTokenTrade(fill) ?? []);
  return new Map(trades.map((trade) => [trade.tokenId, trade]));
}

function toSearch(
  tokenIds: readonly TokenId[],
  past: Past,
  getTotals: (tokenId: TokenId) => TokenTotals,
): Search {
  let newest: TokenTrade | null = null;
  const unread: TokenId[] = [];
  for (const tokenId of new Set(tokenIds)) {
    const { lastTrade, firstTimestamp } = getTotals(tokenId);
    if (lastTrade === null || firstTimestamp >= (past.timestampTo ?? Infinity)) continue;
    if (isPast(lastTrade, past)) newest = getNewer(newest, { tokenId, trade: lastTrade });
    else unread.push(tokenId);
  }
  return {
    newest,
    filter: { ...past, ...priced, tokenIds: unread },
    totals: unread.map(getTotals),
  };
}

/** Reads the last trades in the time shortly before the moment, the newest first. */
async function readRecent(
  facts: IndexedFacts,
  searches: readonly Search[],
  past: Past,
): Promise<readonly TokenTrade[]> {
  if (searches.length === 0) return [];
  const boundary = firstSeqAbove(facts.coverage);
  const neighbors = await readNeighbors(facts, searches, past);
  const parts = searches.map((search) => {
    const recent = getRecentRange(facts, search, neighbors);
    return `(${toFillCondition({ ...search.filter, ...recent }).sql})`;
  });
  const settings = past.timestampTo === undefined ? inOrderSettings : fewRowsSettings;
  const fills = await readStoredFills(
    facts.engine,
    "fills_by_token",
    `PREWHERE (${parts.join(" OR ")}) AND seq < ${integerLiteral(boundary)}
     ORDER BY seq DESC LIMIT 1 BY token_id SETTINGS ${settings}`,
  );
  return fills.flatMap((fill) => toTokenTrade(fill) ?? []);
}

/** The positions of trades around a moment: the last one of a token an hour before it at most, the first one after it. */
type Neighbors = { readonly tokenId: TokenId; readonly before: Seq; readonly after: Seq };

/** Reads where often traded tokens were traded around a time: without positions the engine compares all their granules. */
async function readNeighbors(
  facts: IndexedFacts,
  searches: readonly Search[],
  { timestampTo }: Past,
): Promise<readonly Neighbors[]> {
  const often = searches.filter(({ totals }) => countTrades(totals) >= manyTrades);
  if (timestampTo === undefined || often.length === 0) return [];
  const hour = toHour(timestampTo - 1);
  const at = "intDiv(minute, 3600)";
  const around = hoursAround * 3600;
  const clauses = `FROM hour_candles
    WHERE ${isIn("token_id", often.flatMap(({ filter }) => filter.tokenIds).map(hexLiteral))}
      AND ${at} >= ${integerLiteral(Math.max(0, hour - around) / 3600)} AND ${at} <= ${integerLiteral((hour + around) / 3600)}
    GROUP BY token_id SETTINGS ${inOrderSettings}`;
  const columns = {
    tokenId: ["token_id", 32],
    before: [`maxIf(close, minute < ${integerLiteral(hour)})`, 32],
    after: [`minIf(open, minute >= ${integerLiteral(hour + 3600)})`, 32],
  } as const;
  const rows = await readRows(facts.engine, { columns, clauses }, (reader, row, offset) => ({
    tokenId: reader.tokenId(row + offset.tokenId),
    before: reader.tick(row + offset.before).seq,
    after: reader.tick(row + offset.after).seq,
  }));
  return [...rows];
}

/** Returns the bounds of the time in which tokens were probably traded before a moment. */
function getRecentRange(
  { first, coverage }: IndexedFacts,
  { filter, totals }: Search,
  neighbors: readonly Neighbors[],
): FillFilter {
  const { seqTo, timestampTo } = filter;
  // Any trade after a moment bounds the positions of all that were before it.
  const after = neighbors.map((one) => one.after).filter((seq) => seq > 0);
  const end = after.length === 0 ? {} : { seqTo: Math.min(...after) as Seq };
  const own = neighbors.filter(({ tokenId }) => filter.tokenIds.includes(tokenId));
  const before = Math.max(0, ...own.map((one) => one.before)) as Seq;
  if (before > 0) return { ...end, seqFrom: before };
  const from = Math.min(...totals.map(({ firstTimestamp }) => firstTimestamp));
  const to = Math.max(...totals.map(({ lastTimestamp }) => lastTimestamp));
  const seconds = Math.max(recentSecondsMin, ((to - from) * recentTrades) / countTrades(totals));
  if (timestampTo !== undefined)
    return { ...end, timestampFrom: Math.max(0, Math.floor(timestampTo - seconds)) };
  if (isReadWhole(filter, totals)) return {};
  if (seqTo === undefined || first === null || coverage === null) return {};
  const positions = firstSeqAbove(coverage) - toFirstSeq(first.number);
  const perSecond = positions / Math.max(1, coverage.last.timestamp - first.timestamp);
  return { seqFrom: Math.max(0, Math.floor(seqTo - seconds * perSecond)) as Seq };
}

/** Returns whether the first query reads all trades of some tokens before the moment. A time bounds them better. */
function isReadWhole({ timestampTo }: Past, totals: readonly TokenTotals[]): boolean {
  return timestampTo === undefined && countTrades(totals) <= fewTrades;
}

async function readInOrder(facts: IndexedFacts, filter: FillFilter): Promise<TokenTrade | null> {
  const page = { filter, order: "desc", after: null, finalizedOnly: false, limit: 1 } as const;
  const [fill] = await readFills(facts, page);
  return fill === undefined ? null : toTokenTrade(fill);
}

function toTokenTrade(fill: Fill): TokenTrade | null {
  const trade = getLastTrade(fill);
  return trade && { tokenId: fill.tokenId, trade };
}

function getNewer(one: TokenTrade | null, other: TokenTrade | null): TokenTrade | null {
  if (one === null || other === null) return one ?? other;
  return other.trade.seq > one.trade.seq ? other : one;
}

function countTrades(totals: readonly TokenTotals[]): number {
  return totals.reduce((sum, { trades }) => sum + trades, 0);
}
