import { toFirstSeq } from "../../base/ids.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import { sumTallies } from "../../market/delta.ts";
import { toHour } from "../../market/minute-candle.ts";
import type { AppendGroup } from "../append/append-group.ts";
import { getCount } from "../codec/commit-counts.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { insertUntilThere } from "../engine/insert-until-there.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import {
  candleTables,
  type FactTable,
  getCountName,
  getFactTables,
  isInCandles,
  readFromEach,
} from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";

/**
 * Inserts the candles of an append, then any rows of it that are missing. All its rows are there when it resolves.
 * `since` is the time of the block before, in unix seconds.
 */
export async function completeAppend(
  engine: Engine,
  group: AppendGroup,
  since: number,
): Promise<void> {
  let missing: readonly FactTable[] = candleTables;
  const insert = (attempt: number) => group.insert(missing, attempt);
  await insertUntilThere(engine, insert, async () => {
    missing = await readMissing(engine, group, since);
    return missing.length === 0;
  });
}

async function readMissing(
  engine: Engine,
  group: AppendGroup,
  since: number,
): Promise<readonly FactTable[]> {
  const tally = sumTallies(group.batches.map((batch) => batch.tally));
  const hour = integerLiteral(toHour(since));
  const readFacts = async () => {
    const counted = await readFromEach(engine, ["count()"], group.range);
    return getFactTables(engine).filter((table) => {
      const [found = 0] = counted[table];
      const inserted = getCount(tally, getCountName[table]);
      if (found === inserted) return false;
      // A single server stores an insert completely or not at all.
      if (found === 0 || (engine.kind === "cluster" && found < inserted)) return true;
      throw new StoreDamagedError(
        `table ${table} holds ${found} rows where ${inserted} were inserted`,
      );
    });
  };
  const inHours = `timestamp >= ${hour} AND seq < ${integerLiteral(toFirstSeq(group.range.to + 1))}`;
  const trades = readCount(engine, `fills WHERE ${isInCandles} AND ${inHours}`);
  const candles = candleTables.map(async (table) => {
    const summed = engine.query(`SELECT sum(trades) FROM ${table} WHERE minute >= ${hour}`);
    // Awaited together: a rejection that is not awaited ends the process.
    const [[row], traded] = await Promise.all([summed, trades]);
    // Another process may have appended later blocks, so the candles can count more trades.
    return Number(row?.[0]) >= traded ? [] : [table];
  });
  return (await settleAll([readFacts(), ...candles])).flat();
}
