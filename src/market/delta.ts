import { type TimedBlock, toTimedBlock } from "../chain/raw-log.ts";
import type { BlockFacts, LocatedEvent, QuarantinedLog } from "./block-facts.ts";
import type { MatchAnomaly } from "./derive-fills.ts";
import { type Trade, toTrades } from "./fill.ts";
import { type HourTotals, mergeHours, sumHours } from "./hour-totals.ts";
import type { BalanceChange, LedgerKind, LedgerRow } from "./ledger/ledger-row.ts";

/** The data that views need of consecutive blocks, in chain order. It is much smaller than their fills. */
export type Delta = {
  /** The number of the first of the blocks. */
  readonly fromBlock: number;
  /** The last of the blocks. */
  readonly last: TimedBlock;
  /** The one block of an unfinalized delta; `null` when the blocks are final, and so are stored and never change. */
  readonly block: BlockFacts | null;
  readonly events: readonly LocatedEvent[];
  readonly trades: readonly Trade[];
  /** The changes of supplies and collateral. */
  readonly supplies: readonly BalanceChange[];
  readonly tally: Tally;
};

/** Counts for metrics and the totals of hours, with the quarantined logs and anomalies to log. */
export type Tally = {
  readonly fills: number;
  readonly events: number;
  readonly ledger: number;
  /** The rows of the ledger by kind. */
  readonly ledgerKinds: Readonly<Partial<Record<LedgerKind, number>>>;
  readonly balances: number;
  readonly hours: readonly HourTotals[];
  readonly quarantined: readonly Pick<QuarantinedLog, "seq" | "reason">[];
  readonly anomalies: readonly MatchAnomaly[];
};

/** Derives the delta of a final block. For several blocks, pass the last of them with the facts of all, and the first. */
export function toFinalDelta(block: BlockFacts, fromBlock: number = block.number): Delta {
  const { fills, events, supplies } = block;
  return {
    fromBlock,
    last: toTimedBlock(block),
    block: null,
    events,
    trades: toTrades(fills),
    supplies,
    tally: toTally(block),
  };
}

/** Derives the delta of one unfinalized block. */
export function toUnfinalizedDelta(block: BlockFacts): Delta {
  return { ...toFinalDelta(block), block };
}

/** Counts the facts of a block. */
export function toTally({ quarantined, anomalies, ...block }: BlockFacts): Tally {
  return {
    fills: block.fills.length,
    events: block.events.length,
    ledger: block.ledger.length,
    ledgerKinds: countKinds(block.ledger),
    balances: block.balances.length,
    hours: sumHours(block.fills),
    quarantined: quarantined.map(({ seq, reason }) => ({ seq, reason })),
    anomalies,
  };
}

/** Adds up tallies. The blocks of one follow those of the tally before it. */
export function sumTallies(parts: readonly Tally[]): Tally {
  return {
    fills: parts.reduce((sum, { fills }) => sum + fills, 0),
    events: parts.reduce((sum, { events }) => sum + events, 0),
    ledger: parts.reduce((sum, { ledger }) => sum + ledger, 0),
    ledgerKinds: sumKinds(parts.map(({ ledgerKinds }) => ledgerKinds)),
    balances: parts.reduce((sum, { balances }) => sum + balances, 0),
    hours: mergeHours(parts.flatMap(({ hours }) => hours)),
    quarantined: parts.flatMap(({ quarantined }) => quarantined),
    anomalies: parts.flatMap(({ anomalies }) => anomalies),
  };
}

function countKinds(rows: readonly LedgerRow[]): Tally["ledgerKinds"] {
  const counts: Partial<Record<LedgerKind, number>> = {};
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function sumKinds(parts: readonly Tally["ledgerKinds"][]): Tally["ledgerKinds"] {
  const sums: Partial<Record<LedgerKind, number>> = {};
  for (const [kind, count] of parts.flatMap((part) => Object.entries(part)))
    sums[kind as LedgerKind] = (sums[kind as LedgerKind] ?? 0) + count;
  return sums;
}
