/**
 * Data folders from before `rest`, in which every field of a fill has a column of its own, are brought to the
 * layout of today by the first start: some 4 s for a million fills, and as much room again as the
 * fills take. Every step can be done again: until the new table is whole, nothing reads it.
 */
import type { Engine } from "./engine.ts";
import { unpackedSql } from "./fill-layout.ts";
import { fillsTable } from "./schema.ts";
import { integerLiteral } from "./sql-literal.ts";

/** What memory has room for. */
const fillsAtOnce = 500_000;

/** Does nothing where that is done. Nobody may append, and nothing half deleted may be left. */
export async function packFills(engine: Engine): Promise<void> {
  const unpacked = await engine.query(
    `SELECT database, table FROM system.columns
     WHERE database IN ('oddwire', 'oddwire_repair') AND name = 'match_seq'`,
  );
  for (const [database, table] of unpacked) {
    const fills = `${String(database)}.fills`;
    const packed = `${fills}_packed`;
    // What stands in the other place was exchanged, and is no longer needed.
    if (table === "fills") {
      await copyPacked(engine, { fills, packed });
      await engine.command(`EXCHANGE TABLES ${fills} AND ${packed}`);
    }
    await engine.command(`DROP TABLE ${packed} SYNC`);
  }
}

async function copyPacked(
  engine: Engine,
  { fills, packed }: { readonly fills: string; readonly packed: string },
): Promise<void> {
  await engine.command(`DROP TABLE IF EXISTS ${packed} SYNC`);
  await engine.command(fillsTable(packed));
  for (let above = ""; ; ) {
    // With ties: a row that is there twice is damage, which is told afterwards.
    const rows = `FROM ${fills} ${above} ORDER BY seq LIMIT ${integerLiteral(fillsAtOnce)} WITH TIES`;
    const [row] = await engine.query(`SELECT count(), max(seq) FROM (SELECT seq ${rows})`);
    const [count, last] = [Number(row?.[0]), Number(row?.[1])];
    if (count === 0) return;
    await engine.command(
      `INSERT INTO ${packed} SELECT ${unpackedSql} ${rows} SETTINGS max_threads = 1`,
    );
    above = `WHERE seq > ${integerLiteral(last)}`;
  }
}
