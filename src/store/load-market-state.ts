import { allEnded } from "../base/all-ended.ts";
import { firstSeqOf, type Seq, type TokenId } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { dayWindowSeconds } from "../market/day-window.ts";
import { LaterTrades } from "../market/later-trades.ts";
import type { TokenTotals } from "../market/market.ts";
import type { MarketState } from "../market/market-state.ts";
import { minuteOf, type Tick } from "../market/minute-candle.ts";
import type { Cell, Row } from "./engine.ts";
import { eventColumns, parseEvent } from "./event-columns.ts";
import type { FactStore } from "./fact-store.ts";
import { microsOf, prefixed } from "./json-cells.ts";
import { readDayTrades } from "./read-day-trades.ts";
import { firstSeqAbove } from "./recover.ts";
import { hexLiteral, integerLiteral, listLiteral, wordLiteral } from "./sql-literal.ts";

/** Events that the market directory learns from; the others are only served. */
const marketEventKinds: readonly LocatedEvent["event"]["kind"][] = [
  "condition_prepared",
  "condition_resolved",
  "token_registered",
  "question_initialized",
  "question_updated",
  "neg_risk_market_prepared",
  "neg_risk_question_prepared",
  "neg_risk_question_requested",
  "gen3_event_announced",
  "gen3_reporter_added",
  "gen3_text_registered",
  "gen3_condition_migrated",
  "gen3_combo_prepared",
  "gen3_remaining_resolved_no",
  "gen3_other_resolved_yes",
];

/**
 * Rows read at once: a million and a half markets would not fit into one answer of the engine,
 * which is a string. The largest rows, texts of questions, have some kilobytes.
 */
const pageRows = 50_000;

/** New tokens remembered while events are loaded: some 40 MB. */
const newTokensMax = 200_000;

/**
 * Brings a state to what the store holds: the same as applying every stored block. The state is
 * empty, or what it was when everything up to and including block `savedThrough` was applied.
 */
export async function loadMarketState(
  store: FactStore,
  state: MarketState,
  savedThrough: number | null = null,
): Promise<void> {
  const newest = store.coverage?.last;
  if (newest === undefined) return;
  const to = firstSeqAbove(store.coverage);
  state.dayWindow.beginLoading(newest.timestamp);
  if (savedThrough === null) {
    await loadEvents(store, state, { from: firstSeqOf(0), to });
    await loadDay(store, state, { newest: newest.timestamp, to });
    // Minutes from the newest on may hold what is no part of the store.
    await store.trimmed;
    await loadTotals(store, state);
  } else {
    await loadLater(store, state, { from: firstSeqOf(savedThrough + 1), to });
  }
  state.dayWindow.finishLoading();
  state.dayWindow.moveTo(newest.timestamp);
  state.refreshDay();
  state.settleThrough(newest.number, newest.timestamp);
}

/** Positions: `from` inclusive, `to` exclusive. */
type Stretch = { readonly from: Seq; readonly to: Seq };

/**
 * What came after the copy. All of its trades are among those that are read for the last 24 hours, so
 * its totals are added up from these.
 */
async function loadLater(store: FactStore, state: MarketState, stretch: Stretch): Promise<void> {
  const { directory, dayWindow } = state;
  // One is taken in while the other is on its way.
  const loadedDay = loadDayOnCopy(store, state, stretch);
  await allEnded([loadedDay, loadEvents(store, state, stretch)]);
  const later = await loadedDay;
  state.placeTokens();
  directory.loadLater(later, (slot) => dayWindow.tokens.ordinalOf(slot));
}

async function loadEvents(
  store: FactStore,
  state: MarketState,
  { from, to }: Stretch,
): Promise<void> {
  if (from >= to) return;
  const kinds = listLiteral(marketEventKinds.map(wordLiteral));
  const pages = readPages(
    store,
    (after) =>
      `SELECT ${eventColumns} FROM oddwire.events WHERE kind IN ${kinds}
       AND seq ${after === null ? ">=" : ">"} ${integerLiteral(Number(after ?? from))}
       AND seq < ${integerLiteral(to)} ORDER BY seq`,
  );
  for await (const rows of pages) {
    for (const row of rows) state.directory.applyEvent(parseEvent(row));
    // Of more than these, the few that were traded lately are looked up.
    if (state.directory.newTokens.size > newTokensMax) state.placeTokens();
  }
}

async function loadTotals(store: FactStore, state: MarketState): Promise<void> {
  const pages = readPages(
    store,
    (after) =>
      `SELECT hex(token_id), sum(trades) + sum(unpriced_trades),
         sum(buy_volume_usd) + sum(sell_volume_usd) + sum(unpriced_usd), sum(volume),
         max(close).1, max(close).2, max(last_timestamp), groupBitOr(generations),
         min(first_seq), min(first_timestamp), minIf(minute, trades > 0)
       FROM oddwire.minute_candles
       ${after === null ? "" : `WHERE token_id > ${hexLiteral(prefixed(after))}`}
       GROUP BY token_id ORDER BY token_id`,
  );
  for await (const rows of pages) for (const row of rows) loadTotal(row, state);
}

/** The last prices before a minute of the tokens that were traded since. */
async function loadPricesBefore(
  store: FactStore,
  minute: number,
): Promise<ReadonlyMap<TokenId, Tick>> {
  const prices = new Map<TokenId, Tick>();
  const from = integerLiteral(minute);
  const pages = readPages(
    store,
    (after) =>
      `SELECT hex(token_id), max(close).1 AS seq, max(close).2 FROM oddwire.minute_candles
       WHERE minute < ${from}
         AND token_id IN (SELECT token_id FROM oddwire.fills WHERE timestamp >= ${from})
         ${after === null ? "" : `AND token_id > ${hexLiteral(prefixed(after))}`}
       GROUP BY token_id HAVING seq > 0 ORDER BY token_id`,
  );
  for await (const rows of pages) {
    for (const [tokenId, seq, price] of rows) {
      const tick = { seq: Number(seq) as Seq, price: microsOf(price) };
      prices.set(prefixed(tokenId) as TokenId, tick);
    }
  }
  return prices;
}

function loadTotal(row: Row, state: MarketState): void {
  const [tokenId, trades, usd, shares, lastSeq, lastPrice, lastTimestamp, bits] = row;
  const first = { seq: Number(row[8]) as Seq, timestamp: Number(row[9]) };
  const totals = {
    trades: Number(trades),
    volumeUsd: microsOf(usd),
    volumeShares: microsOf(shares),
    lastPrice:
      Number(lastSeq) === 0 ? null : { seq: Number(lastSeq) as Seq, price: microsOf(lastPrice) },
    firstTimestamp: first.timestamp,
    lastTimestamp: Number(lastTimestamp),
    firstMinute: Number(row[10]) === 0 ? null : Number(row[10]),
    generations: Number(bits),
  };
  state.directory.loadTotals(prefixed(tokenId) as TokenId, totals, first);
}

/** The last 24 hours from nothing but the facts. */
async function loadDay(
  store: FactStore,
  state: MarketState,
  { newest, to }: { readonly newest: number; readonly to: Seq },
): Promise<void> {
  // From the start of a minute on, because what is before is known by whole minutes.
  const from = minuteOf(newest - dayWindowSeconds);
  const pricesBefore = await loadPricesBefore(store, from);
  const lastPriceOf = (tokenId: TokenId) => pricesBefore.get(tokenId) ?? null;
  for await (const trades of readDayTrades(store.engine, { timestamp: from, to })) {
    state.dayWindow.load(trades, lastPriceOf);
  }
}

/**
 * The last 24 hours on what the copy has of them; returns what was traded within the stretch, which ends
 * where they do. Prices before are told by the totals of the copy, when somebody asks for one or the other.
 */
async function loadDayOnCopy(
  { engine }: FactStore,
  { dayWindow, directory }: MarketState,
  { from: laterFrom, to }: Stretch,
): Promise<LaterTrades> {
  const from = dayWindow.savedFrom;
  const { tokens } = dayWindow;
  const tellBase = (tokenId: TokenId, { lastPrice }: TokenTotals) =>
    tokens.tellBase(tokenId, lastPrice !== null && lastPrice.seq < from ? lastPrice : null);
  tokens.awaitBases((tokenId) => tellBase(tokenId, directory.totalsOf(tokenId)));
  const later = new LaterTrades(laterFrom, tellBase);
  const day = readDayTrades(engine, { seq: from, to });
  for await (const trades of day) later.add(trades, dayWindow.load(trades, null));
  later.end(tokens.slots);
  return later;
}

/** All rows of a query, page by page; its first column orders them and names where a page ended. */
async function* readPages(
  { engine }: FactStore,
  sqlAfter: (after: Cell | null) => string,
): AsyncGenerator<readonly Row[], void, undefined> {
  let after: Cell | null = null;
  for (;;) {
    const rows: readonly Row[] = await engine.query(`${sqlAfter(after)} LIMIT ${pageRows}`);
    yield rows;
    after = rows.at(-1)?.[0] ?? null;
    if (rows.length < pageRows || after === null) return;
  }
}
