import type { Seq, TokenId } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { dayTradeOf, dayWindowSeconds } from "../market/day-window.ts";
import type { MarketState } from "../market/market-state.ts";
import { eventColumns, parseEvent } from "./event-columns.ts";
import type { FactStore } from "./fact-store.ts";
import { microsOf, prefixed } from "./fill-columns.ts";
import { readFills } from "./read-fills.ts";
import { listLiteral, wordLiteral } from "./sql-literal.ts";

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

/** Brings an empty state to what the store holds: the same as applying every stored block. */
export async function loadMarketState(store: FactStore, state: MarketState): Promise<void> {
  const newest = store.coverage?.last.timestamp;
  if (newest === undefined) return;
  const events = await store.engine.query(
    `SELECT ${eventColumns} FROM oddwire.events
     WHERE kind IN ${listLiteral(marketEventKinds.map(wordLiteral))} ORDER BY seq`,
  );
  for (const row of events) state.directory.applyEvent(parseEvent(row));
  await loadTotals(store, state);
  await loadDayWindow(store, state, newest);
}

async function loadTotals(store: FactStore, state: MarketState): Promise<void> {
  const rows = await store.engine.query(
    `SELECT hex(token_id), sum(trades) + sum(unpriced_trades),
       sum(buy_volume_usd) + sum(sell_volume_usd) + sum(unpriced_usd), sum(volume),
       max(close).1, max(close).2, max(last_timestamp), groupBitOr(generations),
       min(first_seq), min(first_timestamp)
     FROM oddwire.minute_candles GROUP BY token_id`,
  );
  for (const row of rows) {
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
}

async function loadDayWindow(store: FactStore, state: MarketState, newest: number): Promise<void> {
  const fills = await readFills(store, {
    filter: { roles: ["maker", "direct"], timestampFrom: newest - dayWindowSeconds },
    order: "asc",
    after: null,
    limit: Number.MAX_SAFE_INTEGER,
    finalizedOnly: true,
  });
  state.dayWindow.add(fills.map(dayTradeOf));
  state.dayWindow.moveTo(newest);
}
