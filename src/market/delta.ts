import { assert } from "../base/assert.ts";
import type { TokenId } from "../base/ids.ts";
import { type TimedBlock, timedBlockOf } from "../chain/raw-log.ts";
import type { BlockFacts, LocatedEvent, QuarantinedLog } from "./block-facts.ts";
import { type DayTrade, dayTradeOf } from "./day-trade.ts";
import type { MatchAnomaly } from "./derive-fills.ts";
import { isTrade } from "./fill.ts";
import { type LastTrade, lastTradesOf } from "./last-trade.ts";
import { deriveMinuteCandles, type MinuteCandle } from "./minute-candle.ts";

/** What views need of blocks that follow each other, in chain order: a fraction of their fills. */
export type Delta = {
  /** The block that they end with. */
  readonly last: TimedBlock;
  /** Whether they are stored and can never change; else it is one unfinalized block. */
  readonly isFinal: boolean;
  /** The facts of an unfinalized block, which are in memory only. */
  readonly block: BlockFacts | null;
  readonly events: readonly LocatedEvent[];
  readonly candles: readonly MinuteCandle[];
  readonly trades: readonly DayTrade[];
  /** The newest priced trade of each token that has one. */
  readonly lastTrades: ReadonlyMap<TokenId, LastTrade>;
  readonly tally: Tally;
};

/** What is counted and sent to operators. */
export type Tally = {
  readonly fills: number;
  readonly events: number;
  readonly quarantined: readonly Pick<QuarantinedLog, "seq" | "reason">[];
  readonly anomalies: readonly MatchAnomaly[];
};

/** The delta of final blocks that follow each other; `last` is where they end if that is a block without facts. */
export function deltaOf(
  blocks: readonly BlockFacts[],
  last: TimedBlock | undefined = blocks.at(-1),
): Delta {
  assert(last !== undefined, "a delta ends with a block");
  const fills = blocks.flatMap((block) => block.fills);
  return {
    last: timedBlockOf(last),
    isFinal: true,
    block: null,
    events: blocks.flatMap((block) => block.events),
    candles: deriveMinuteCandles(fills),
    trades: fills.filter(isTrade).map(dayTradeOf),
    lastTrades: lastTradesOf(fills),
    tally: tallyOf(blocks),
  };
}

/** The delta of one unfinalized block. */
export function deltaOfBlock(block: BlockFacts): Delta {
  return { ...deltaOf([block]), isFinal: false, block };
}

/** The tally of some blocks. */
export function tallyOf(blocks: readonly BlockFacts[]): Tally {
  return {
    fills: blocks.reduce((sum, block) => sum + block.fills.length, 0),
    events: blocks.reduce((sum, block) => sum + block.events.length, 0),
    quarantined: blocks.flatMap((block) =>
      block.quarantined.map(({ seq, reason }) => ({ seq, reason })),
    ),
    anomalies: blocks.flatMap((block) => block.anomalies),
  };
}

/** One tally of several, of blocks that follow each other. */
export function sumTallies(parts: readonly Tally[]): Tally {
  return {
    fills: parts.reduce((sum, { fills }) => sum + fills, 0),
    events: parts.reduce((sum, { events }) => sum + events, 0),
    quarantined: parts.flatMap(({ quarantined }) => quarantined),
    anomalies: parts.flatMap(({ anomalies }) => anomalies),
  };
}
