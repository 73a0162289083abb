import type { Seq, TokenId } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import type { DayTrade } from "../market/day-trade.ts";
import { dayWindowSeconds } from "../market/day-window.ts";
import type { MarketState } from "../market/market-state.ts";
import { minuteOf, type Tick } from "../market/minute-candle.ts";
import type { Cell, Row } from "./engine.ts";
import { eventColumns, parseEvent } from "./event-columns.ts";
import type { FactStore } from "./fact-store.ts";
import { microsOf, prefixed } from "./fill-columns.ts";
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

/** Brings an empty state to what the store holds: the same as applying every stored block. */
export async function loadMarketState(store: FactStore, state: MarketState): Promise<void> {
  const newest = store.coverage?.last.timestamp;
  if (newest === undefined) return;
  await loadEvents(store, state);
  // From the start of a minute on, because what is before is known by whole minutes.
  const from = minuteOf(newest - dayWindowSeconds);
  const pricesBefore = await loadTotals(store, state, from);
  await loadDayWindow(store, state, { from, newest, pricesBefore });
}

async function loadEvents(store: FactStore, state: MarketState): Promise<void> {
  const kinds = listLiteral(marketEventKinds.map(wordLiteral));
  const pages = readPages(
    store,
    (after) =>
      `SELECT ${eventColumns} FROM oddwire.events WHERE kind IN ${kinds}
       ${after === null ? "" : `AND seq > ${integerLiteral(Number(after))}`} ORDER BY seq`,
  );
  for await (const rows of pages) {
    for (const row of rows) state.directory.applyEvent(parseEvent(row));
  }
}

/** Tells the last prices before `dayFrom` of tokens that were traded since. */
async function loadTotals(
  store: FactStore,
  state: MarketState,
  dayFrom: number,
): Promise<ReadonlyMap<TokenId, Tick>> {
  const before = `minute < ${integerLiteral(dayFrom)}`;
  const pricesBefore = new Map<TokenId, Tick>();
  const pages = readPages(
    store,
    (after) =>
      `SELECT hex(token_id), sum(trades) + sum(unpriced_trades),
         sum(buy_volume_usd) + sum(sell_volume_usd) + sum(unpriced_usd), sum(volume),
         max(close).1, max(close).2, max(last_timestamp), groupBitOr(generations),
         min(first_seq), min(first_timestamp),
         maxIf(close, ${before}).1, maxIf(close, ${before}).2
       FROM oddwire.minute_candles
       ${after === null ? "" : `WHERE token_id > ${hexLiteral(prefixed(after))}`}
       GROUP BY token_id ORDER BY token_id`,
  );
  for await (const rows of pages) {
    for (const row of rows) {
      loadTotal(row, state);
      const [seq, price] = [Number(row[10]) as Seq, microsOf(row[11])];
      const wasTradedSince = Number(row[6]) >= dayFrom;
      if (seq > 0 && wasTradedSince) pricesBefore.set(prefixed(row[0]) as TokenId, { seq, price });
    }
  }
  return pricesBefore;
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
    lastTimestamp: Number(lastTimestamp),
    generations: Number(bits),
  };
  state.directory.loadTotals(prefixed(tokenId) as TokenId, totals, first);
}

async function loadDayWindow(
  store: FactStore,
  state: MarketState,
  day: { from: number; newest: number; pricesBefore: ReadonlyMap<TokenId, Tick> },
): Promise<void> {
  const pages = readPages(
    store,
    (after) =>
      `SELECT seq, timestamp, hex(token_id), size, value, side FROM oddwire.fills
       WHERE role != 'taker' AND timestamp >= ${integerLiteral(day.from)}
       ${after === null ? "" : `AND seq > ${integerLiteral(Number(after))}`} ORDER BY seq`,
  );
  const lastPriceOf = (tokenId: TokenId) => day.pricesBefore.get(tokenId) ?? null;
  for await (const rows of pages) state.dayWindow.add(rows.map(parseDayTrade), lastPriceOf);
  state.dayWindow.moveTo(day.newest);
}

function parseDayTrade([seq, timestamp, tokenId, size, value, side]: Row): DayTrade {
  return {
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    tokenId: prefixed(tokenId) as TokenId,
    size: microsOf(size),
    value: microsOf(value),
    isBuy: side === "BUY",
  };
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
