import { storeLimits } from "../../base/config/limits.ts";
import { firstSeqOf } from "../../base/ids.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { Coverage, TimedBlock } from "../../chain/raw-log.ts";
import { hourOf, minuteOf } from "../../market/minute-candle.ts";
import type { Engine } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { type Commit, commitsWithin, readCommits, readCoverage } from "../recover.ts";
import {
  blockRangeSql,
  candleTables,
  countIndexOf,
  factTables,
  readFromEach,
} from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";

/** The seconds that a candle of each table covers. */
const candleSeconds = { minute_candles: 60, hour_candles: 3600 } as const;

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

/** Reads the coverage without the newest `commitsVerifiedMax` commits, whose rows a start counts. */
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
  const hole = commits.findIndex((commit) => {
    const isNext = commit.fromBlock === next;
    next = commit.last.number + 1;
    return !isNext;
  });
  return hole === -1 ? commits : commits.slice(0, hole);
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
    firstIncomplete(engine, "minute_candles", range),
    firstIncomplete(engine, "hour_candles", range),
  ]);
  const isComplete = ({ last: { timestamp } }: Commit) =>
    minuteOf(timestamp) <= minutes && hourOf(timestamp) <= hours;
  const incomplete = commits.slice(0, verified).findIndex((commit) => !isComplete(commit));
  return incomplete === -1 ? verified : incomplete;
}

/**
 * Throws `StoreDamagedError` when the candles up to a block count other trades than the fills: the engine does not
 * notice that a part is gone. Reads the whole history.
 */
export async function verifyCandles(engine: Engine, last: TimedBlock): Promise<void> {
  for (const table of candleTables) {
    const first = await firstIncomplete(engine, table, { since: 0, last });
    if (!Number.isFinite(first)) continue;
    const time = new Date(first * 1000).toISOString();
    throw new StoreDamagedError(`table ${table} does not count the trades of the fills at ${time}`);
  }
}

/** Returns how many of the commits, in order, count exactly the rows that the tables of facts have. */
async function countStored(engine: Engine, commits: readonly Commit[]): Promise<number> {
  const ranges = commits.map(({ fromBlock: from, last: { number: to } }) => ({ from, to }));
  const all = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? -1 };
  const counts = ranges.map((range) => `countIf(${blockRangeSql(range)})`);
  const found = await readFromEach(engine, counts, all);
  const short = commits.findIndex((commit, at) =>
    factTables.some((table) => commit.counts[countIndexOf[table]] !== found[table][at]),
  );
  return short === -1 ? commits.length : short;
}

/**
 * Returns the start of the first minute or hour whose candles count more or fewer trades than the fills, in unix
 * seconds; infinity without one. Looks at those that end within the range: no query reads the candles of the one in
 * which it ends, and earlier ones are complete since an earlier range.
 */
async function firstIncomplete(
  engine: Engine,
  table: keyof typeof candleSeconds,
  { since, last }: { readonly since: number; readonly last: TimedBlock },
): Promise<number> {
  const seconds = candleSeconds[table];
  const startOf = (time: number) => integerLiteral(time - (time % seconds));
  const [from, until] = [startOf(since), startOf(last.timestamp)];
  if (from === until) return Number.POSITIVE_INFINITY;
  const to = integerLiteral(firstSeqOf(last.number + 1));
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
