import { settleAll } from "../../base/time/settle-all.ts";
import type { Coverage, TimedBlock } from "../../chain/raw-log.ts";
import { toHour, toMinute } from "../../market/minute-candle.ts";
import type { Engine } from "../engine/engine.ts";
import {
  type Commit,
  commitsWithin,
  firstIncompleteCandle,
  readCommits,
  readCoverage,
} from "../recovery/recover.ts";
import { blockRangeSql, countIndexes, getFactTables, readFromEach } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";

/**
 * Reads the coverage of the commit records. It ends before the first of the newest ones with missing rows; `null` when
 * none of the newest is complete.
 */
export async function readVerified(engine: Engine): Promise<Coverage | null> {
  const trusted = await readTrusted(engine);
  const verified = await verifyBehind(engine, trusted?.last ?? null);
  if (verified === null) return null;
  return { fromBlock: trusted?.fromBlock ?? verified.fromBlock, last: verified.last };
}

/** Reads the coverage below the newest commits, whose rows a start counts. */
async function readTrusted(engine: Engine): Promise<Coverage | null> {
  const oldest = (await readCommits(engine, "ORDER BY to_block DESC")).at(-1);
  if (oldest === undefined) return null;
  return readCoverage(engine, `to_block < ${integerLiteral(oldest.fromBlock)}`);
}

/**
 * Returns the next range after a block whose rows are all there: one commit, or several that together have at most
 * `rowsMax` rows; `null` while there is none.
 */
export async function verifyBehind(
  engine: Engine,
  last: TimedBlock | null,
  rowsMax = Infinity,
): Promise<Coverage | null> {
  const next = last === null ? null : last.number + 1;
  const commits = commitsWithin(await readNext(engine, next), rowsMax);
  const verified = commits.slice(0, await countVerified(engine, commits, last?.timestamp ?? 0));
  const [first, newest] = [verified[0], verified.at(-1)];
  if (first === undefined || newest === undefined) return null;
  return { fromBlock: first.fromBlock, last: newest.last };
}

/** Reads consecutive commit records from a block on, or from the oldest record. */
async function readNext(engine: Engine, fromBlock: number | null): Promise<readonly Commit[]> {
  const from = fromBlock === null ? "" : `WHERE from_block >= ${integerLiteral(fromBlock)}`;
  const commits = await readCommits(engine, `${from} ORDER BY from_block`);
  // Replicated commit records can arrive in any order.
  let next = fromBlock ?? commits[0]?.fromBlock;
  const gap = commits.findIndex((commit) => {
    const isNext = commit.fromBlock === next;
    next = commit.last.number + 1;
    return !isNext;
  });
  return gap === -1 ? commits : commits.slice(0, gap);
}

/**
 * Returns how many of these commits, in order, have all of their rows in all tables. `since` is the time of the block
 * before them, in unix seconds.
 */
async function countVerified(
  engine: Engine,
  commits: readonly Commit[],
  since: number,
): Promise<number> {
  if (commits.length === 0) return 0;
  const verified = await countStored(engine, commits);
  const last = commits[verified - 1]?.last;
  if (last === undefined) return 0;
  const range = { since, last };
  const [minutes, hours] = await settleAll([
    firstIncompleteCandle(engine, "minute_candles", range),
    firstIncompleteCandle(engine, "hour_candles", range),
  ]);
  const isComplete = ({ last: { timestamp } }: Commit) =>
    toMinute(timestamp) <= minutes && toHour(timestamp) <= hours;
  const incomplete = commits.slice(0, verified).findIndex((commit) => !isComplete(commit));
  return incomplete === -1 ? verified : incomplete;
}

/** Returns how many of the commits, in order, count exactly the rows that the tables of facts have. */
async function countStored(engine: Engine, commits: readonly Commit[]): Promise<number> {
  const ranges = commits.map(({ fromBlock: from, last: { number: to } }) => ({ from, to }));
  const all = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? -1 };
  const counts = ranges.map((range) => `countIf(${blockRangeSql(range)})`);
  const found = await readFromEach(engine, counts, all);
  const short = commits.findIndex((commit, at) =>
    getFactTables(engine).some((table) => commit.counts[countIndexes[table]] !== found[table][at]),
  );
  return short === -1 ? commits.length : short;
}
