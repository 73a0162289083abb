import { firstSeqOf, type Seq } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { eventColumns, parseEvent } from "../../storage/codec/event-codec.ts";
import type { CoveredFacts } from "../../storage/covered-facts.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { readTotals } from "../../storage/read-totals.ts";
import { type Coverage, firstSeqAbove } from "../../storage/recover.ts";
import { integerLiteral, listLiteral, wordLiteral } from "../../storage/sql-literal.ts";
import { type DayWindow, dayWindowSeconds, type KnownTokens } from "../day/day-window.ts";
import { readDayTrades } from "../day/read-day-trades.ts";
import type { MarketDirectory } from "./market-directory.ts";

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

/** Rows of one answer of the engine, which is one string. The largest rows, texts of questions, have some kilobytes. */
const pageRows = 50_000;

type LoadedState = KnownTokens & {
  readonly directory: MarketDirectory;
  readonly dayWindow: DayWindow;
  readonly savedThrough: number | null;
  markFinal(last: Coverage["last"]): void;
};

/**
 * Loads the facts up to the end of `coverage` into a state, with the same result as applying every
 * block. Facts that are appended above the coverage meanwhile are not read. The state is empty, or has
 * everything up to and including block `savedThrough`.
 */
export async function loadMarketState(
  { engine }: CoveredFacts,
  coverage: Coverage,
  state: LoadedState,
): Promise<void> {
  const { last } = coverage;
  const through = state.savedThrough ?? (await loadUntilDay(engine, state, last.timestamp));
  const fromBlock = Math.max(through + 1, coverage.fromBlock);
  const range = { from: firstSeqOf(fromBlock), to: firstSeqAbove(coverage) };
  state.dayWindow.resume(through, last.timestamp);
  // The prices before the day come from the saved totals, so the totals of the range are added later.
  await settleAll([loadDay(engine, state, range), loadEvents(engine, state, range)]);
  await loadTotals(engine, state, range);
  state.dayWindow.finishLoading(last.timestamp);
  state.markFinal(last);
}

/** Positions: `from` inclusive, `to` exclusive. */
type SeqRange = Range<Seq>;

/** Without a copy, loads what a copy saved 24 hours ago would have. Returns its last block; -1 for none. */
async function loadUntilDay(
  engine: Engine,
  state: LoadedState,
  newestTimestamp: number,
): Promise<number> {
  const [row] = await engine.query(
    `SELECT count(), max(to_block) FROM commits
     WHERE last_timestamp <= ${integerLiteral(newestTimestamp - dayWindowSeconds)}`,
  );
  const through = Number(row?.[0]) === 0 ? -1 : Number(row?.[1]);
  const range = { from: firstSeqOf(0), to: firstSeqOf(through + 1) };
  await loadEvents(engine, state, range);
  await loadTotals(engine, state, range);
  return through;
}

async function loadDay(engine: Engine, state: LoadedState, range: SeqRange): Promise<void> {
  if (range.from >= range.to) return;
  for await (const trades of readDayTrades(engine, range)) {
    state.dayWindow.add(trades, state);
  }
}

async function loadTotals(engine: Engine, state: LoadedState, range: SeqRange): Promise<void> {
  if (range.from >= range.to) return;
  for await (const { tokenId, totals, firstSeq } of readTotals(engine, range)) {
    const first = { seq: firstSeq, timestamp: totals.firstTimestamp };
    state.directory.loadTotals(tokenId, totals, first);
  }
}

async function loadEvents(
  engine: Engine,
  state: LoadedState,
  { from, to }: SeqRange,
): Promise<void> {
  if (from >= to) return;
  const kinds = listLiteral(marketEventKinds.map(wordLiteral));
  for (let next: number = from; ; ) {
    const wanted = `FROM events WHERE kind IN ${kinds} AND seq >= ${integerLiteral(next)}`;
    // The subquery finds the end of the page without reading the contents of events.
    const rows = await engine.query(
      `SELECT ${eventColumns} ${wanted} AND seq <= (SELECT max(seq) FROM (
         SELECT seq ${wanted} AND seq < ${integerLiteral(to)} ORDER BY seq LIMIT ${pageRows}))
       ORDER BY seq`,
    );
    for (const row of rows) state.directory.applyEvent(parseEvent(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    next = Number(last[0]) + 1;
  }
}
