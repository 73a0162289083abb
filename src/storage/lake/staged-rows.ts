/**
 * The rows of wallets for several parts of a lake. Their tables are not sorted by `seq`, so that reading the rows of some
 * blocks takes as long as reading most of a table. Here they are read once, and each part finds its own.
 */
import type { BlockRange } from "../../chain/raw-log.ts";
import { blockRangeSql, walletTables } from "../schema/fact-tables.ts";
import { getPatience, type Part } from "./lake-parts.ts";
import { getLakeTables, type LakeFactTable } from "./lake-tables.ts";

/** Where the rows of each part are. */
export type StagedRows = {
  /** Returns the table with the rows of a part, by its position among those that were staged. */
  readonly getSource: (table: LakeFactTable, index: number) => string;
  /** Frees the memory. */
  drop(): Promise<void>;
};

/** Numbers the databases of this process. */
let count = 0;

/**
 * Reads the rows of wallets of consecutive ranges into memory: 200 bytes for each fill, about. A server, whose tables are
 * those of a cluster, and a single part are read where they are.
 */
export async function stageRows(part: Part, ranges: readonly BlockRange[]): Promise<StagedRows> {
  const { engine } = part;
  const [first, last] = [ranges[0], ranges.at(-1)];
  const isStaged = engine.kind === "embedded" && ranges.length > 1;
  const tables = isStaged ? getLakeTables(engine).filter((one) => walletTables.has(one)) : [];
  // A database without files: a crash leaves nothing but its name.
  const database = `staged_${count}`;
  count += 1;
  const getName = (table: LakeFactTable, index: number) => `${database}.${table}_${index}`;
  const drop = async () => {
    if (tables.length > 0) await engine.command(`DROP DATABASE IF EXISTS ${database} SYNC`);
  };
  try {
    if (tables.length > 0)
      await engine.query(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Memory`);
    for (const table of tables) {
      const all = `${database}.${table}`;
      await engine.query(`CREATE TABLE ${all} ENGINE = Null EMPTY AS SELECT * FROM ${table}`);
      for (const [index, range] of ranges.entries())
        await engine.query(
          `CREATE MATERIALIZED VIEW ${getName(table, index)} ENGINE = Memory SETTINGS compress = 1
           AS SELECT * FROM ${all} WHERE ${blockRangeSql(range)}`,
        );
      const range = { from: first?.from ?? 0, to: last?.to ?? 0 };
      await engine.query(
        `INSERT INTO ${all} SELECT * FROM ${table} WHERE ${blockRangeSql(range)}
         SETTINGS max_insert_threads = 1${getPatience(part)}`,
      );
    }
  } catch (thrown) {
    await drop();
    throw thrown;
  }
  const getSource = (table: LakeFactTable, index: number) =>
    tables.includes(table) ? getName(table, index) : table;
  return { getSource, drop };
}
