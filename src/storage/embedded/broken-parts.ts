import type { Engine } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { wordLiteral } from "../sql-literal.ts";

/** A part of a table, which has the rows of all inserts from `first` to `last`, as the engine numbers them. */
type Part = { readonly table: string; readonly first: number; readonly last: number };

/**
 * The engine detaches parts that it cannot read and continues without them. Throws `StoreDamagedError` when rows are
 * missing: a directory without its commit records would look as if nothing had ever been stored. A crash never breaks an
 * inserted part, which is fsynced before it counts. On a full disk, a merge can leave a broken one. The engine then
 * loads the parts that were merged, so nothing is missing, and the broken one is deleted.
 */
export async function refuseBrokenParts(engine: Engine): Promise<void> {
  const rows = await engine.query(
    `SELECT table, min_block_number, max_block_number, name, level, toUnixTimestamp(modification_time)
     FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') ORDER BY table, name`,
  );
  for (const row of rows) {
    const broken = getPart(row);
    const [name = "", level, modifiedAt] = row.slice(3).map(String);
    // Only older parts of a lower level were merged into this one. The engine may have merged others since.
    const older = await engine.query(
      `SELECT table, min_block_number, max_block_number FROM system.parts
       WHERE database = currentDatabase() AND table = ${wordLiteral(broken.table)}
         AND level < ${Number(level)} AND modification_time <= toDateTime(${Number(modifiedAt)})
       ORDER BY min_block_number`,
    );
    if (!areCovered(broken, older.map(getPart))) {
      throw new StoreDamagedError(`part ${name} of table ${broken.table} is broken`);
    }
    const dropped = `DROP DETACHED PART ${wordLiteral(name)}`;
    await engine.command(`ALTER TABLE ${broken.table} ${dropped} SETTINGS allow_drop_detached = 1`);
  }
}

function getPart([table, first, last]: readonly unknown[]): Part {
  return { table: String(table), first: Number(first), last: Number(last) };
}

/** Returns whether parts, by ascending `first`, have all inserts of another one. */
function areCovered({ first, last }: Part, parts: readonly Part[]): boolean {
  let next = first;
  for (const part of parts) {
    if (part.first <= next) next = Math.max(next, part.last + 1);
  }
  return next > last;
}
