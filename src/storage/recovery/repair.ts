/**
 * Repairs the rows of stored blocks. The correct rows are first written to tables of their own; the order to use them
 * is written last. From then on this process or the next start carries out the repair. Every step is idempotent, so a
 * crash in the middle does no harm.
 *
 * Nothing may read or append meanwhile, because rows are missing; `repairs.ts` stops the readers of a shared database.
 */
import { storeLimits } from "../../base/config/limits.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { countNames } from "../codec/commit-counts.ts";
import type { EncodedBatch } from "../codec/encode-facts.ts";
import { deleteRows } from "../engine/delete-rows.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import {
  blockRangeSql,
  getCountName,
  getFactTables,
  readFromEach,
  rowsOfTable,
} from "../schema/fact-tables.ts";
import { longRows } from "../schema/schema.ts";
import { beginRepair, endRepair } from "../server/repairs.ts";
import { integerLiteral, listLiteral } from "../sql-literal.ts";
import { rebuildCandles } from "./rebuild-candles.ts";
import { recordRepairedBlocks } from "./repaired-blocks.ts";

/** An ordered repair: its range, and the minutes (unix seconds) of its fills before and after the repair. */
type Order = BlockRange & {
  readonly minutes: readonly number[];
  /** The time of its last block, in Unix seconds. */
  readonly lastTimestamp: number;
};

/**
 * Orders a repair that replaces the stored rows of a batch's blocks by the rows of the batch. Durable when it resolves;
 * `finishRepair` carries it out, together with those that were ordered before. The blocks must be covered, and not
 * ordered yet.
 */
export async function orderRepair(
  engine: Engine,
  { fromBlock, last, rows }: EncodedBatch,
): Promise<void> {
  const range = { from: fromBlock, to: last.number };
  for (const table of getFactTables(engine)) {
    await engine.command(`CREATE TABLE IF NOT EXISTS repair_${table} AS ${table}
       ENGINE = MergeTree ORDER BY seq SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ${longRows}`);
    // An order that failed has left its rows.
    await deleteRows(engine, `repair_${table}`, blockRangeSql(range));
    await engine.insert(`repair_${table}`, rows[rowsOfTable[table]]);
  }
  await engine.command(
    `CREATE TABLE IF NOT EXISTS repair_orders
       (from_block UInt64, to_block UInt64, minutes Array(UInt32), last_timestamp UInt32)
     ENGINE = MergeTree ORDER BY from_block
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
  const minutes = (await readMinutes(engine, range)).map(integerLiteral).join(", ");
  await engine.command(
    `INSERT INTO repair_orders
     VALUES (${integerLiteral(range.from)}, ${integerLiteral(range.to)}, [${minutes}],
       ${integerLiteral(last.timestamp)})`,
  );
}

/**
 * Carries out the ordered repair, if any, from its beginning. Calls `dropCopies` first: no copy of the old facts may
 * outlive the order. Serving nodes of a database on a server have `repairNoticeMs` of `clock` to stop reading.
 */
export async function finishRepair(
  engine: Engine,
  dropCopies: () => void,
  clock: Pick<Clock, "sleep"> = systemClock,
): Promise<void> {
  const orders = await readOrders(engine);
  if (orders.length > 0) {
    const announced = engine.kind === "embedded" ? null : await beginRepair(engine, clock);
    dropCopies();
    await announceRepair(engine);
    for (const order of orders) {
      for (const table of getFactTables(engine)) await replaceRows(engine, table, order);
      await rebuildMinutes(engine, order.minutes);
      await correctCommits(engine, order);
    }
    await recordRepairedBlocks(engine);
    if (announced !== null) await endRepair(engine, announced);
    // Orders are dropped before their rows: otherwise a crash in between would leave orders without all rows.
    await engine.command("DROP TABLE repair_orders SYNC");
  }
  await dropRows(engine);
}

/**
 * Logs a reorg from the oldest repaired block to the newest served one, so that stream clients that resume from there
 * rewind. Not when the replay would exceed `repairReplayBlocksMax` (a day): older repairs only affect the lists.
 */
async function announceRepair(engine: Engine): Promise<void> {
  const first = "(SELECT min(from_block) FROM repair_orders)";
  const last =
    "(SELECT max(to_block) FROM (SELECT to_block FROM commits UNION ALL SELECT to_block FROM served_heads))";
  const isAnnounced = `from_block = ${first} AND to_block = ${last}`;
  await engine.command(
    `INSERT INTO reorgs SELECT ${first}, ${last}
     WHERE ${last} - ${first} < ${storeLimits.repairReplayBlocksMax}
       AND NOT EXISTS (SELECT 1 FROM reorgs WHERE ${isAnnounced})`,
  );
}

/** Drops the tables of correct rows, after the order is gone or before it was given. */
async function dropRows(engine: Engine): Promise<void> {
  for (const table of ["orders", ...getFactTables(engine)]) {
    await engine.command(`DROP TABLE IF EXISTS repair_${table} SYNC`);
  }
}

async function readOrders(engine: Engine): Promise<readonly Order[]> {
  const isThere = "system.tables WHERE database = currentDatabase() AND name = 'repair_orders'";
  if ((await readCount(engine, isThere)) === 0) return [];
  const rows = await engine.query(
    "SELECT from_block, to_block, minutes, last_timestamp FROM repair_orders ORDER BY from_block",
  );
  return rows.map(([from, to, minutes, lastTimestamp]) => ({
    from: Number(from),
    to: Number(to),
    minutes: Array.isArray(minutes) ? minutes.map(Number) : [],
    lastTimestamp: Number(lastTimestamp),
  }));
}

async function readMinutes(engine: Engine, range: BlockRange): Promise<number[]> {
  const rows = await engine.query(
    `SELECT DISTINCT intDiv(timestamp, 60) * 60 AS minute FROM (
       SELECT timestamp FROM fills WHERE ${blockRangeSql(range)}
       UNION ALL SELECT timestamp FROM repair_fills WHERE ${blockRangeSql(range)}) ORDER BY minute`,
  );
  return rows.map(([minute]) => Number(minute));
}

/** Replaces the stored rows of an order. Deletes only if a stored row is wrong, since a delete rewrites whole parts. */
async function replaceRows(
  engine: Engine,
  table: ReturnType<typeof getFactTables>[number],
  order: Order,
): Promise<void> {
  const inOrder = blockRangeSql(order);
  const stored = `${table} WHERE ${inOrder}`;
  // A log can have several rows, so rows are compared by all of their fields.
  const right = `SELECT cityHash64(*) FROM repair_${table} WHERE ${inOrder}`;
  const wrong = await readCount(engine, `${stored} AND cityHash64(*) NOT IN (${right})`);
  const [repeated] = await engine.query(`SELECT count() - uniqExact(cityHash64(*)) FROM ${stored}`);
  if (wrong > 0 || Number(repeated?.[0]) > 0) {
    await deleteRows(engine, table, inOrder);
  }
  await engine.command(
    `INSERT INTO ${table} SELECT * FROM repair_${table}
     WHERE ${inOrder} AND cityHash64(*) NOT IN (SELECT cityHash64(*) FROM ${stored})`,
  );
}

async function rebuildMinutes(engine: Engine, minutes: readonly number[]): Promise<void> {
  const [first, last] = [minutes[0], minutes.at(-1)];
  if (first === undefined || last === undefined) return;
  const requested = listLiteral(minutes.map(integerLiteral));
  const hours = new Set(minutes.map((minute) => integerLiteral(Math.floor(minute / 3600))));
  await rebuildCandles(engine, {
    minutes: `minute IN ${requested}`,
    hours: `intDiv(minute, 3600) IN ${listLiteral([...hours])}`,
    fills: `timestamp >= ${integerLiteral(first)} AND timestamp < ${integerLiteral(last + 60)}
      AND intDiv(timestamp, 60) * 60 IN ${requested}`,
  });
}

/** Corrects the counts of commit records, and the times of their last blocks where the order knows them. */
async function correctCommits(engine: Engine, { from, to, lastTimestamp }: Order): Promise<void> {
  const commits = await engine.query(
    `SELECT from_block, to_block, last_timestamp, ${countNames.join()} FROM commits
     WHERE from_block <= ${integerLiteral(to)} AND to_block >= ${integerLiteral(from)}`,
  );
  for (const [fromBlock, toBlock, timestamp, ...reported] of commits) {
    const range = { from: Number(fromBlock), to: Number(toBlock) };
    const lastBlock = { from: range.to, to: range.to };
    const times = Object.values(await readFromEach(engine, ["max(timestamp)"], lastBlock)).flat();
    const factsTime = range.to <= to ? Math.max(...times) : 0;
    const time = range.to === to ? lastTimestamp : factsTime || Number(timestamp);
    const counted = await readFromEach(engine, ["count()"], range);
    const counts = new Map<string, number>(
      getFactTables(engine).map((table) => [getCountName[table], counted[table][0] ?? 0]),
    );
    counts.set("last_timestamp", time);
    const values = [...countNames, "last_timestamp"];
    const before = [...reported, timestamp];
    if (values.every((name, index) => (counts.get(name) ?? 0) === Number(before[index]))) continue;
    const updates = [...counts].map(([name, count]) => `${name} = ${integerLiteral(count)}`);
    await engine.command(
      `ALTER TABLE commits UPDATE ${updates.join()}
       WHERE to_block = ${integerLiteral(range.to)} SETTINGS mutations_sync = 2`,
    );
  }
}
