/** Columns of the copy of the markets, read from its file as they were saved last. */
import type { DatabaseSync } from "node:sqlite";
import { columnPageBytes } from "./column.ts";

/** Pages of one column at the most: 256 GiB of it. */
export const pagesPerColumn = 2 ** 26;

/** One column; `null` when nothing of it was saved. */
export function readSavedColumn(sql: DatabaseSync, id: number): ArrayBuffer | null {
  const range = [id * pagesPerColumn, (id + 1) * pagesPerColumn] as const;
  const newest = sql
    .prepare("SELECT max(id) AS id FROM pages WHERE id >= ? AND id < ?")
    .get(...range);
  if (typeof newest?.["id"] !== "number") return null;
  const bytes = new Uint8Array((newest["id"] - range[0] + 1) * columnPageBytes);
  const pages = sql.prepare("SELECT id, bytes FROM pages WHERE id >= ? AND id < ?");
  pages.setReturnArrays(true);
  for (const row of pages.iterate(...range)) {
    const [page, content] = row as unknown as [number, Uint8Array];
    bytes.set(content, (page - range[0]) * columnPageBytes);
  }
  return bytes.buffer;
}

/** What the file says about itself under a name; `null` when that was never said. */
export function readSetting(sql: DatabaseSync, name: string): string | null {
  const row = sql.prepare("SELECT value FROM settings WHERE name = ?").get(name);
  return row === undefined ? null : String(row["value"]);
}
