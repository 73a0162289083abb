/**
 * What a start verifies and trims, after it has completed an ordered repair. Each insert is one atomic, fsynced block,
 * and the commit record comes last, so a crash leaves nothing but rows without a commit record.
 *
 * 1. Verify: commit records cover their range without a gap, and the newest one counts exactly the rows that are there.
 *    In a data directory the sums of all records must match too, because the engine does not notice a missing part.
 *    Any difference is damage, not a crash, and is refused. Older rows and candles are left to `oddwire check`, so a
 *    start takes the same time whatever the length of the history.
 * 2. Trim, in a data directory: delete the rows above the newest commit record. Rows of a minute merge, so candles
 *    cannot be deleted by position: the affected minutes are deleted and derived again from the fills. Candles go
 *    first, because fills above the record tell the next start that the trim is incomplete. Nothing reads these rows,
 *    so only appends wait for it: a second or more after a kill during a backfill.
 */

import { storeLimits } from "../../base/config/limits.ts";
import { type Hash, toFirstSeq } from "../../base/ids.ts";
import type { BlockRange, Coverage, TimedBlock } from "../../chain/raw-log.ts";
import { toHour, toMinute } from "../../market/minute-candle.ts";
import { countNames } from "../codec/commit-counts.ts";
import { firstSeqAbove } from "../covered-facts.ts";
import { deleteRows } from "../engine/delete-rows.ts";
import { type Engine, prefixed } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import {
  candleTables,
  countIndexes,
  getFactTables,
  isInCandles,
  readFromEach,
} from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";
import { rebuildCandles } from "./rebuild-candles.ts";

const candleSeconds = { minute_candles: 60, hour_candles: 3600 } as const;

/** Fewer rows are there than the commit records count: damage, or replicas that are behind. */
export class MissingRowsError extends StoreDamagedError {
  override name = "MissingRowsError";
  /** The message without the advice for damage. */
  readonly missing: string;

  constructor(missing: string) {
    super(missing);
    this.missing = missing;
  }
}

/**
 * Reads the coverage of all commit records, or of those that match a condition in SQL; `null` when there are none.
 * Throws `MissingRowsError` when they have a gap, and `StoreDamagedError` when they overlap.
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

/** A commit record: its range, and its counts in the order of `countNames`. */
export type Commit = Coverage & { readonly counts: readonly number[] };

/** Reads commit records by SQL clauses that filter and order them, at most `commitsVerifiedMax`. */
export async function readCommits(engine: Engine, clauses: string): Promise<readonly Commit[]> {
  const rows = await engine.query(
    `SELECT from_block, to_block, hex(last_hash), last_timestamp, ${countNames.join()}
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

/** Returns the first commits that together have at most `rowsMax` rows, but at least one. */
export function commitsWithin(commits: readonly Commit[], rowsMax: number): readonly Commit[] {
  let rows = 0;
  const tooMany = commits.findIndex(({ counts }, index) => {
    rows += counts.reduce((sum, count) => sum + count, 0);
    return index > 0 && rows > rowsMax;
  });
  return tooMany === -1 ? commits : commits.slice(0, tooMany);
}

/** Throws `MissingRowsError` when a table has fewer rows than the newest commits say, `StoreDamagedError` when more. */
export async function verifyNewestCommits(engine: Engine): Promise<void> {
  const newest = await readCommits(engine, "ORDER BY to_block DESC");
  const commits = commitsWithin(newest, storeLimits.rowsVerifiedMax);
  const [last, first] = [commits[0]?.last, commits.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = { from: first.fromBlock, to: last.number };
  const counted = await readFromEach(engine, ["count()"], range);
  for (const table of getFactTables(engine)) {
    const index = countIndexes[table];
    const claimed = commits.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
    const [found = 0] = counted[table];
    refuseOtherCount({ table, found, claimed }, range);
  }
}

/**
 * Throws as `verifyNewestCommits` when the rows of a table are not those that all commit records count. The engine
 * counts parts without reading them. Nothing may be written meanwhile, so this is for data directories only.
 */
export async function verifyAllCommits(engine: Engine, coverage: Coverage | null): Promise<void> {
  if (coverage === null || engine.kind !== "embedded") return;
  const above = `seq >= ${integerLiteral(firstSeqAbove(coverage))}`;
  const tables = getFactTables(engine);
  const counts = tables.map(
    (table) => `(SELECT count() FROM ${table}) - (SELECT count() FROM ${table} WHERE ${above})`,
  );
  const [row = []] = await engine.query(
    `SELECT ${counts.join()}, ${countNames.map((name) => `sum(${name})`).join()} FROM commits`,
  );
  const numbers = row.map(Number);
  const range = { from: coverage.fromBlock, to: coverage.last.number };
  for (const [index, table] of tables.entries()) {
    const claimed = numbers[tables.length + countIndexes[table]] ?? 0;
    refuseOtherCount({ table, found: numbers[index] ?? 0, claimed }, range);
  }
}

function refuseOtherCount(
  { table, found, claimed }: { table: string; found: number; claimed: number },
  { from, to }: BlockRange,
): void {
  if (found === claimed) return;
  const problem = `table ${table} holds ${found} rows for blocks ${from} to ${to} where ${claimed} were written`;
  throw found < claimed ? new MissingRowsError(problem) : new StoreDamagedError(problem);
}

/**
 * Throws `StoreDamagedError` when the candles up to a block count other trades than the fills: the engine does not
 * notice that a part is gone. Reads the whole history.
 */
export async function verifyCandles(engine: Engine, last: TimedBlock): Promise<void> {
  for (const table of candleTables) {
    const first = await firstIncompleteCandle(engine, table, { since: 0, last });
    if (!Number.isFinite(first)) continue;
    const time = new Date(first * 1000).toISOString();
    throw new StoreDamagedError(`table ${table} does not count the trades of the fills at ${time}`);
  }
}

/**
 * Returns the start, in Unix seconds, of the first minute or hour whose candles count other trades than the fills;
 * infinity without one. Checks candles that end within the range: earlier ones were checked with an earlier range, and
 * nothing reads the unfinished last one.
 */
export async function firstIncompleteCandle(
  engine: Engine,
  table: keyof typeof candleSeconds,
  { since, last }: { readonly since: number; readonly last: TimedBlock },
): Promise<number> {
  const seconds = candleSeconds[table];
  const getStart = (time: number) => integerLiteral(time - (time % seconds));
  const [from, until] = [getStart(since), getStart(last.timestamp)];
  if (from === until) return Number.POSITIVE_INFINITY;
  const to = integerLiteral(toFirstSeq(last.number + 1));
  const toBucket = (column: string) => `intDiv(${column}, ${seconds}) * ${seconds} AS bucket`;
  const [row] = await engine.query(
    `SELECT minOrNull(bucket) FROM (
       SELECT bucket FROM (
         SELECT ${toBucket("timestamp")}, toInt64(1) AS trades FROM fills
         WHERE ${isInCandles} AND timestamp >= ${from} AND timestamp < ${until} AND seq < ${to}
         UNION ALL
         SELECT ${toBucket("minute")}, -toInt64(trades) FROM ${table}
         WHERE minute >= ${from} AND minute < ${until}
       ) GROUP BY bucket HAVING sum(trades) != 0)`,
  );
  return Number(row?.[0] ?? Number.POSITIVE_INFINITY);
}

/**
 * Deletes the rows that a crash has left above the coverage, and derives again the candles that contain
 * them. Must finish before the next append.
 */
export async function trimAbove(engine: Engine, coverage: Coverage | null): Promise<void> {
  const above = `seq >= ${integerLiteral(firstSeqAbove(coverage))}`;
  await rebuildCandlesAbove(engine, above);
  // Fills last: while fills are left above, an interrupted trim is started again.
  for (const table of getFactTables(engine).toReversed()) {
    await deleteRows(engine, table, above);
  }
}

/** Deletes the candles that contain fills above, and derives them again from the fills that stay. */
async function rebuildCandlesAbove(engine: Engine, above: string): Promise<void> {
  const [row] = await engine.query(`SELECT count(), min(timestamp) FROM fills WHERE ${above}`);
  if (Number(row?.[0]) === 0) return;
  const first = Number(row?.[1]);
  const minute = integerLiteral(toMinute(first));
  await rebuildCandles(engine, {
    minutes: `minute >= ${minute}`,
    hours: `minute >= ${integerLiteral(toHour(first))}`,
    fills: `timestamp >= ${minute} AND NOT (${above})`,
  });
}

/**
 * Reads the time of the first row, or of the end of the first commit when that has no rows, in Unix seconds; `null`
 * when nothing is stored. The time of a first block without rows is not stored.
 */
export async function readFirstTimestamp({
  engine,
  coverage,
}: {
  readonly engine: Engine;
  readonly coverage: Coverage | null;
}): Promise<number | null> {
  const [first] = coverage === null ? [] : await readCommits(engine, "ORDER BY from_block");
  if (first === undefined) return null;
  const { fromBlock: from, last } = first;
  const read = await readFromEach(engine, ["count()", "min(timestamp)"], { from, to: last.number });
  const times = Object.values(read).flatMap(([count, time]) =>
    count === 0 || time === undefined ? [] : [time],
  );
  return Math.min(last.timestamp, ...times);
}
