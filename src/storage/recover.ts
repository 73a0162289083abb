/**
 * What is true after a start. A crash can leave rows whose commit record was never written, and nothing else: every
 * insert is one atomic, fsynced block, and commit records come last. So, once a repair that was ordered is done:
 *
 * 1. The commit records must cover their range without a hole, and the newest of them must count
 *    exactly the rows that are there; anything else is damage, not a crash, and is refused. Older
 *    rows are for `oddwire check`: a start costs the same however long the history is.
 * 2. In a folder, rows above the newest commit record are deleted. Minute candles cannot be deleted by position (parts
 *    of a minute merge), so the minutes concerned are dropped and made again from the fills; this
 *    goes first, because the fills above show that it is still to be done. Nothing reads any of
 *    these rows, so only an append waits for this: it takes a second or more of waiting for the
 *    disk, as every process that is killed while it catches up has left some.
 */

import { storeLimits } from "../base/config/limits.ts";
import { firstSeqOf, type Hash, type Seq } from "../base/ids.ts";
import { settleAll } from "../base/time/settle-all.ts";
import type { TimedBlock } from "../chain/raw-log.ts";
import { hourOf, minuteOf } from "../market/minute-candle.ts";
import { prefixed } from "./codec/json-cells.ts";
import { remakeCandles } from "./embedded/remake-candles.ts";
import { type Engine, readCount } from "./engine/engine.ts";
import { StoreDamagedError } from "./engine/store-errors.ts";
import { countOfTable, factTables, seqsOf } from "./schema/fact-tables.ts";
import { integerLiteral } from "./sql-literal.ts";

/** Fewer rows are there than the commit records count: damage, or replicas that are behind. */
export class MissingRowsError extends StoreDamagedError {
  override name = "MissingRowsError";
  /** The same without what to do when it is damage. */
  readonly missing: string;

  constructor(missing: string) {
    super(missing);
    this.missing = missing;
  }
}

/** What a store holds for good, or a part of it: every block from `fromBlock` to `last`. */
export type Coverage = {
  readonly fromBlock: number;
  readonly last: TimedBlock;
};

/** Rows from this position on are not covered. */
export function firstSeqAbove(coverage: Coverage | null): Seq {
  return firstSeqOf((coverage?.last.number ?? -1) + 1);
}

/**
 * What the commit records commit, all or those of a condition in SQL; `null` when there are none. Throws
 * `StoreDamagedError`, `MissingRowsError` where they have a hole.
 */
export async function readCoverage(engine: Engine, where = "1"): Promise<Coverage | null> {
  const [summary] = await engine.query(
    `SELECT count(), min(from_block), max(to_block), sum(to_block - from_block + 1),
       hex(argMax(last_hash, to_block)), argMax(last_timestamp, to_block) FROM commits WHERE ${where}`,
  );
  const [commits, fromBlock, toBlock, blocks, lastHash, timestamp] = summary ?? [];
  if (Number(commits) === 0) return null;
  const from = Number(fromBlock);
  const to = Number(toBlock);
  const missing = to - from + 1 - Number(blocks);
  if (missing !== 0) {
    const problem = `the commit records do not cover blocks ${from} to ${to} exactly once`;
    throw missing > 0 ? new MissingRowsError(problem) : new StoreDamagedError(problem);
  }
  return {
    fromBlock: from,
    last: { number: to, hash: prefixed(lastHash) as Hash, timestamp: Number(timestamp) },
  };
}

/** A commit record: a range, and how many rows of fills, of events and in quarantine it has. */
export type Commit = Coverage & { readonly counts: readonly number[] };

/** Commit records that clauses in SQL name and order; bounded. */
export async function readCommits(engine: Engine, clauses: string): Promise<readonly Commit[]> {
  const rows = await engine.query(
    `SELECT from_block, to_block, hex(last_hash), last_timestamp, fills, events, quarantined
     FROM commits ${clauses} LIMIT ${storeLimits.commitsVerifiedMax}`,
  );
  return rows.map(([from, number, hash, timestamp, ...counts]) => ({
    fromBlock: Number(from),
    last: {
      number: Number(number),
      hash: prefixed(hash) as Hash,
      timestamp: Number(timestamp),
    },
    counts: counts.map(Number),
  }));
}

/** The first commits, at least one, that have so many rows at most. */
export function commitsWithin(commits: readonly Commit[], rowsMax: number): readonly Commit[] {
  let rows = 0;
  const tooMany = commits.findIndex(({ counts }, index) => {
    rows += counts.reduce((sum, count) => sum + count, 0);
    return index > 0 && rows > rowsMax;
  });
  return tooMany === -1 ? commits : commits.slice(0, tooMany);
}

/** Throws `StoreDamagedError` when other rows are there than the newest commit records count, `MissingRowsError` when fewer. */
export async function verifyNewestCommits(engine: Engine): Promise<void> {
  const newest = await readCommits(engine, "ORDER BY to_block DESC");
  const commits = commitsWithin(newest, storeLimits.rowsVerifiedMax);
  const [last, first] = [commits[0]?.last, commits.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = { from: first.fromBlock, to: last.number };
  const verify = async (table: (typeof factTables)[number]): Promise<void> => {
    const index = countOfTable[table];
    const claimed = commits.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
    const found = await readCount(engine, `${table} WHERE ${seqsOf(range)}`);
    if (found === claimed) return;
    const blocks = `blocks ${range.from} to ${range.to}`;
    const problem = `table ${table} holds ${found} rows for ${blocks} where ${claimed} were written`;
    throw found < claimed ? new MissingRowsError(problem) : new StoreDamagedError(problem);
  };
  await settleAll(factTables.map(verify));
}

/**
 * Deletes what a crash has left above what is covered, minutes from the one on that coverage ends in
 * included; to be done before anything is appended.
 */
export async function trimAbove(engine: Engine, coverage: Coverage | null): Promise<void> {
  const above = `seq >= ${integerLiteral(firstSeqAbove(coverage))}`;
  await remakeCandlesAbove(engine, above);
  // Fills last: those above are what says that there is something to delete.
  for (const table of factTables.toReversed()) {
    await engine.deleteRows(table, above);
  }
}

/** Drops the candles that fills to be deleted are part of and makes them again of the fills that stay. */
async function remakeCandlesAbove(engine: Engine, above: string): Promise<void> {
  const [row] = await engine.query(`SELECT count(), min(timestamp) FROM fills WHERE ${above}`);
  if (Number(row?.[0]) === 0) return;
  const first = Number(row?.[1]);
  const minute = integerLiteral(minuteOf(first));
  await remakeCandles(engine, {
    minutes: `minute >= ${minute}`,
    hours: `minute >= ${integerLiteral(hourOf(first))}`,
    fills: `timestamp >= ${minute} AND NOT (${above})`,
  });
}
