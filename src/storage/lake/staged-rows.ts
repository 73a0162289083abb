/**
 * The rows of wallets, sorted by `seq`, while a lake is written. Their tables are sorted by wallet and by token, so that
 * reading those of some blocks takes as long as reading most of a table. They are copied for many parts at once.
 */
import { randomUUID } from "node:crypto";
import type { BlockRange } from "../../chain/raw-log.ts";
import { blockRangeSql, blockSql, walletTables } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";
import { getPatience, type Part } from "./lake-parts.ts";
import { getLakeTables, type LakeFactTable } from "./lake-tables.ts";

/** Fills of the blocks that are copied together: a few hundred MB. */
const stagedFills = 4_000_000;
/** Rows that are sorted in memory, about 300 MB: with half of them a part takes two fifths longer to read. */
const sortedRows = 524_288;

const prefix = "staged_";

export class StagedRows {
  readonly #part: Part;
  readonly #tables: readonly LakeFactTable[];
  readonly #prefix: string;
  #range: BlockRange | null = null;

  /** In a cluster tables are read where they are, since any server can execute a statement. */
  constructor(part: Part) {
    const { engine } = part;
    this.#part = part;
    this.#tables =
      engine.kind === "cluster" ? [] : getLakeTables(engine).filter((one) => walletTables.has(one));
    this.#prefix = prefix + randomUUID().replaceAll("-", "");
  }

  /** Copies the rows of these blocks and of later ones, up to the block `end`, unless they are there. */
  async cover({ from, to }: BlockRange, end: number): Promise<void> {
    if (this.#tables.length === 0) return;
    if (this.#range !== null && from >= this.#range.from && to <= this.#range.to) return;
    await this.drop();
    const { engine } = this.#part;
    await dropAbandoned(this.#part);
    const [[next] = []] = await engine.query(
      `SELECT ${blockSql} FROM fills WHERE ${blockRangeSql({ from, to: end })}
       ORDER BY seq LIMIT 1 OFFSET ${integerLiteral(stagedFills)}`,
    );
    const range = { from, to: Math.max(to, next === undefined ? end : Number(next) - 1) };
    for (const table of this.#tables) {
      const name = this.#getName(table);
      await engine.command(
        `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY seq SETTINGS max_bytes_to_merge_at_max_space_in_pool = 1
         EMPTY AS SELECT * FROM ${table}`,
      );
      await engine.command(
        `INSERT INTO ${name} SELECT * FROM ${table} WHERE ${blockRangeSql(range)}
         SETTINGS max_threads = 1, max_insert_threads = 1, min_insert_block_size_rows = ${sortedRows}, min_insert_block_size_bytes = 0${getPatience(this.#part)}`,
      );
    }
    this.#range = range;
  }

  /** Returns the table with the rows of blocks that are covered. */
  getSource(table: LakeFactTable): string {
    return this.#tables.includes(table) ? this.#getName(table) : table;
  }

  async drop(): Promise<void> {
    this.#range = null;
    for (const table of this.#tables)
      await this.#part.engine.command(`DROP TABLE IF EXISTS ${this.#getName(table)} SYNC`);
  }

  #getName(table: LakeFactTable): string {
    return `${this.#prefix}_${table}`;
  }
}

/** Drops what exports that were killed have left: in a folder all, and on a server what is older than any export. */
async function dropAbandoned({ engine }: Part): Promise<void> {
  const age =
    engine.kind === "embedded" ? "" : "AND metadata_modification_time < now() - INTERVAL 1 DAY";
  const found = await engine.query(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${prefix}') ${age}`,
  );
  for (const [name] of found) await engine.command(`DROP TABLE IF EXISTS ${String(name)} SYNC`);
}
