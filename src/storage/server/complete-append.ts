import { firstSeqOf } from "../../base/ids.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import { sumTallies } from "../../market/delta.ts";
import { hourOf } from "../../market/minute-candle.ts";
import type { AppendGroup } from "../append-group.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { candleTables, type FactTable, factTables, seqsOf } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";
import { insertUntilThere } from "./insert-until-there.ts";

type Append = {
  readonly group: AppendGroup;
  /** The time of the block before, in unix seconds. */
  readonly since: number;
  readonly isReplicated: boolean;
};

/** Inserts the candles of an append, and whatever else of it is not there. All of its rows are when it resolves. */
export async function completeAppend(engine: Engine, append: Append): Promise<void> {
  let missing: readonly FactTable[] = candleTables;
  await insertUntilThere({
    isReplicated: append.isReplicated,
    insert: (attempt) => append.group.insert(missing, attempt),
    isThere: async () => {
      missing = await readMissing(engine, append);
      return missing.length === 0;
    },
  });
}

/** The tables that do not have the rows of an append. */
async function readMissing(engine: Engine, append: Append): Promise<readonly FactTable[]> {
  const { group, since } = append;
  const { fills, events, quarantined } = sumTallies(group.batches.map(({ tally }) => tally));
  const wanted = { fills, fills_by_token: fills, events, quarantine: quarantined.length } as const;
  const hour = integerLiteral(hourOf(since));
  const facts = factTables.map(async (table) => {
    const found = await readCount(engine, `${table} WHERE ${seqsOf(group.range)}`);
    if (found === wanted[table]) return [];
    // A server alone takes an insert whole, or not at all.
    if (found === 0 || (append.isReplicated && found < wanted[table])) return [table];
    throw new StoreDamagedError(
      `table ${table} holds ${found} rows where ${wanted[table]} were inserted`,
    );
  });
  const inHours = `timestamp >= ${hour} AND seq < ${integerLiteral(firstSeqOf(group.range.to + 1))}`;
  const trades = readCount(engine, `fills WHERE role != 'taker' AND ${inHours}`);
  const candles = candleTables.map(async (table) => {
    const summed = engine.query(
      `SELECT sum(trades + unpriced_trades) FROM ${table} WHERE minute >= ${hour}`,
    );
    // Awaited together: a rejection that is not awaited ends the process.
    const [[row], traded] = await Promise.all([summed, trades]);
    // There are more when another process has appended what follows.
    return Number(row?.[0]) >= traded ? [] : [table];
  });
  return (await settleAll([...facts, ...candles])).flat();
}
