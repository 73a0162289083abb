import { storeLimits } from "../../base/config/limits.ts";
import { firstSeqOf, type Hash } from "../../base/ids.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import { hourOf, minuteOf } from "../../market/minute-candle.ts";
import { prefixed } from "../codec/json-cells.ts";
import type { StoredRange } from "../covered-facts.ts";
import type { Engine } from "../engine/engine.ts";
import { type Coverage, readCoverage } from "../recover.ts";
import { countOfTable, factTables, seqsOf } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";

/** A commit record: a range, and how many rows of fills, of events and in quarantine it has. */
type Commit = StoredRange & { readonly counts: readonly number[] };

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
  last: StoredRange["last"] | null,
  rowsMax = Infinity,
): Promise<StoredRange | null> {
  const next = last === null ? null : last.number + 1;
  const commits = firstOf(await readCommits(engine, next), rowsMax);
  const verified = commits.slice(0, await countVerified(engine, commits, last?.timestamp ?? 0));
  const [first, newest] = [verified[0], verified.at(-1)];
  if (first === undefined || newest === undefined) return null;
  return { fromBlock: first.fromBlock, last: newest.last };
}

/** The first commits, at least one, that have so many rows at most. */
function firstOf(commits: readonly Commit[], rowsMax: number): readonly Commit[] {
  let rows = 0;
  const tooMany = commits.findIndex(({ counts }, index) => {
    rows += counts.reduce((sum, count) => sum + count, 0);
    return index > 0 && rows > rowsMax;
  });
  return tooMany === -1 ? commits : commits.slice(0, tooMany);
}

/** Commit records that follow each other from a block on, or from the oldest one; bounded. */
async function readCommits(engine: Engine, fromBlock: number | null): Promise<readonly Commit[]> {
  const from = fromBlock === null ? "" : `WHERE from_block >= ${integerLiteral(fromBlock)}`;
  const rows = await engine.query(
    `SELECT from_block, to_block, hex(last_hash), last_timestamp, fills, events, quarantined
     FROM commits ${from} ORDER BY from_block LIMIT ${integerLiteral(storeLimits.commitsVerifiedMax)}`,
  );
  const commits: Commit[] = [];
  let next = fromBlock ?? Number(rows[0]?.[0]);
  for (const [first, number, hash, timestamp, ...counts] of rows) {
    // Commit records may arrive in any order where they are replicated.
    if (Number(first) !== next) break;
    next = Number(number) + 1;
    const last = {
      number: Number(number),
      hash: prefixed(hash) as Hash,
      timestamp: Number(timestamp),
    };
    commits.push({ fromBlock: Number(first), last, counts: counts.map(Number) });
  }
  return commits;
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
  const bounds = { from: hourOf(since), to: firstSeqOf(last.number + 1) };
  const { minutes, hours } = await firstIncomplete(engine, { ...bounds, until: last.timestamp });
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
 * The first minute and the first hour whose candles count other trades than the fills. Candles are only read of minutes
 * and hours before the one that the coverage ends in, and all trades of those are in it.
 */
async function firstIncomplete(
  engine: Engine,
  range: { readonly from: number; readonly until: number; readonly to: number },
): Promise<{ readonly minutes: number; readonly hours: number }> {
  const [from, until] = [integerLiteral(range.from), integerLiteral(minuteOf(range.until))];
  const candles = (table: string, seconds: number) =>
    readTrades(
      engine,
      `SELECT intDiv(minute, ${seconds}) * ${seconds} AS time, sum(trades + unpriced_trades)
       FROM ${table} WHERE minute >= ${from} AND minute < ${until} GROUP BY time`,
    );
  const [fills, minutes, hours] = await settleAll([
    readTrades(
      engine,
      `SELECT intDiv(timestamp, 60) * 60 AS time, count() FROM fills
       WHERE role != 'taker' AND timestamp >= ${from} AND timestamp < ${until}
         AND seq < ${integerLiteral(range.to)} GROUP BY time`,
    ),
    candles("minute_candles", 60),
    candles("hour_candles", 3600),
  ]);
  const ofHours = new Map<number, number>();
  for (const [time, trades] of fills) {
    const start = hourOf(time);
    ofHours.set(start, (ofHours.get(start) ?? 0) + trades);
  }
  return { minutes: firstDifference(fills, minutes), hours: firstDifference(ofHours, hours) };
}

async function readTrades(engine: Engine, sql: string): Promise<ReadonlyMap<number, number>> {
  const rows = await engine.query(sql);
  return new Map(rows.map(([time, trades]) => [Number(time), Number(trades)]));
}

function firstDifference(
  wanted: ReadonlyMap<number, number>,
  found: ReadonlyMap<number, number>,
): number {
  const times = new Set([...wanted.keys(), ...found.keys()]);
  const different = [...times].filter((time) => wanted.get(time) !== found.get(time));
  return Math.min(Number.POSITIVE_INFINITY, ...different);
}
