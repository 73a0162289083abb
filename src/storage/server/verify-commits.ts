import { storeLimits } from "../../base/config/limits.ts";
import { firstSeqOf } from "../../base/ids.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { TimedBlock } from "../../chain/raw-log.ts";
import { hourOf, minuteOf } from "../../market/minute-candle.ts";
import type { Engine } from "../engine/engine.ts";
import {
  type Commit,
  type Coverage,
  commitsWithin,
  readCommits,
  readCoverage,
} from "../recover.ts";
import { countOfTable, factTables, seqsOf } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";

/**
 * What the commit records cover, the newest of them as far as all of their rows are there; `null` when nothing of those
 * is.
 */
export async function readVerified(engine: Engine): Promise<Coverage | null> {
  const trusted = await readTrusted(engine);
  const verified = await verifyBehind(engine, trusted?.last ?? null);
  if (verified === null) return null;
  return { fromBlock: trusted?.fromBlock ?? verified.fromBlock, last: verified.last };
}

/** What the commit records cover but for the newest ones, whose rows a start counts; `null` when there are no others. */
async function readTrusted(engine: Engine): Promise<Coverage | null> {
  const newest = integerLiteral(storeLimits.commitsVerifiedMax);
  return readCoverage(
    engine,
    `to_block <= (SELECT min(to_block) FROM
       (SELECT to_block FROM commits ORDER BY to_block DESC LIMIT ${newest} + 1)
     HAVING count() > ${newest})`,
  );
}

/**
 * The range behind a block whose rows are all there, of one commit or several that have `rowsMax` rows; `null` when there
 * is none yet.
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

/** Commit records that follow each other from a block on, or from the oldest one. */
async function readNext(engine: Engine, fromBlock: number | null): Promise<readonly Commit[]> {
  const from = fromBlock === null ? "" : `WHERE from_block >= ${integerLiteral(fromBlock)}`;
  const commits = await readCommits(engine, `${from} ORDER BY from_block`);
  // They may arrive in any order where they are replicated.
  let next = fromBlock ?? commits[0]?.fromBlock;
  const hole = commits.findIndex((commit) => {
    const isNext = commit.fromBlock === next;
    next = commit.last.number + 1;
    return !isNext;
  });
  return hole === -1 ? commits : commits.slice(0, hole);
}

/**
 * How many of these commits, in order, have all of their rows in all tables. `since` is the time of the block before
 * them, in unix seconds.
 */
async function countVerified(
  engine: Engine,
  commits: readonly Commit[],
  since: number,
): Promise<number> {
  if (commits.length === 0) return 0;
  const counted = await settleAll(factTables.map((table) => countRows(engine, table, commits)));
  const verified = Math.min(...counted);
  const last = commits[verified - 1]?.last;
  if (last === undefined) return 0;
  const range = {
    from: hourOf(since),
    until: minuteOf(last.timestamp),
    to: firstSeqOf(last.number + 1),
  };
  const [minutes, hours] = await settleAll([
    firstIncomplete(engine, ["minute_candles", 60], range),
    firstIncomplete(engine, ["hour_candles", 3600], range),
  ]);
  const isComplete = ({ last: { timestamp } }: Commit) =>
    minuteOf(timestamp) <= minutes && hourOf(timestamp) <= hours;
  const incomplete = commits.slice(0, verified).findIndex((commit) => !isComplete(commit));
  return incomplete === -1 ? verified : incomplete;
}

/** How many of the commits, in order, count as many rows as a table has. */
async function countRows(
  engine: Engine,
  table: (typeof factTables)[number],
  commits: readonly Commit[],
): Promise<number> {
  const ranges = commits.map(({ fromBlock: from, last: { number: to } }) => ({ from, to }));
  const all = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? -1 };
  const counts = ranges.map((range) => `countIf(${seqsOf(range)})`);
  const [row = []] = await engine.query(
    `SELECT ${counts.join(", ")} FROM ${table} WHERE ${seqsOf(all)}`,
  );
  const index = countOfTable[table];
  const short = commits.findIndex((commit, at) => commit.counts[index] !== Number(row[at]));
  return short === -1 ? commits.length : short;
}

/**
 * The first minute or hour whose candles count other trades than the fills. Candles are only read of minutes
 * and hours before the one that the coverage ends in, and all trades of those are in it.
 */
async function firstIncomplete(
  engine: Engine,
  [table, seconds]: readonly [table: string, seconds: number],
  range: { readonly from: number; readonly until: number; readonly to: number },
): Promise<number> {
  const [from, until, to] = [range.from, range.until, range.to].map(integerLiteral);
  const bucketOf = (column: string) => `intDiv(${column}, ${seconds}) * ${seconds} AS bucket`;
  const [row] = await engine.query(
    `SELECT minOrNull(bucket) FROM (
       SELECT bucket FROM (
         SELECT ${bucketOf("timestamp")}, toInt64(1) AS trades FROM fills
         WHERE role != 'taker' AND timestamp >= ${from} AND timestamp < ${until} AND seq < ${to}
         UNION ALL
         SELECT ${bucketOf("minute")}, -toInt64(trades + unpriced_trades) FROM ${table}
         WHERE minute >= ${from} AND minute < ${until}
       ) GROUP BY bucket HAVING sum(trades) != 0)`,
  );
  return Number(row?.[0] ?? Number.POSITIVE_INFINITY);
}
