import { webLimits } from "../../base/config/limits.ts";
import type { CursorPosition } from "../lists/cursor.ts";
import type { BulkRows } from "./bulk-answers.ts";

/** All rows of a list as they are at one moment, however long they are read. */
export type RowsAsOfNow<Item> = {
  /** How many there are; counts no further than `max`. */
  readonly count: (max: number) => Promise<number>;
  /** The position of the row with this number, from 0; there must be one. */
  readonly positionAt: (index: number) => Promise<CursorPosition>;
  /** The first `rowsMax` rows in their order, `chunkRows` at a time. */
  readonly chunks: (size: {
    readonly rowsMax: number;
    readonly chunkRows: number;
  }) => AsyncIterable<readonly Item[]>;
};

/** The rows up to `limit` and the row cap. */
export async function openBulkRows<Item>(
  rows: RowsAsOfNow<Item>,
  { limit, capRows }: { readonly limit: number | undefined; readonly capRows: number },
  cursorOf: (position: CursorPosition) => string,
): Promise<Omit<BulkRows<Item>, "writer">> {
  const rowsMax = Math.min(limit ?? capRows, capRows);
  const found = await rows.count(rowsMax + 1);
  const hasMore = found > rowsMax;
  return {
    rowCount: Math.min(found, rowsMax),
    isCut: hasMore && rowsMax === capRows,
    nextCursor: hasMore ? cursorOf(await rows.positionAt(rowsMax - 1)) : null,
    chunks: rows.chunks({ rowsMax, chunkRows: webLimits.exportChunkRows }),
  };
}
