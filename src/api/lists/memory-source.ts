import type { CursorPosition } from "../route/cursor.ts";
import type { RowSource } from "./row-list.ts";

/** Returns a source of rows that are in memory, in their order. `isAfter` decides which ones follow a cursor. */
export function memorySource<Item>(
  items: readonly Item[],
  {
    after,
    toPosition,
    isAfter,
  }: {
    readonly after: CursorPosition | null;
    readonly toPosition: (item: Item) => CursorPosition;
    readonly isAfter: (item: Item, after: CursorPosition) => boolean;
  },
): RowSource<Item> {
  const rest = after === null ? items : items.filter((item) => isAfter(item, after));
  return {
    first: async (count) => rest.slice(0, count),
    toPosition,
    openAll: async (rowsMax) => {
      const sent = rest.slice(0, rowsMax);
      const last = rest.length > rowsMax ? sent.at(-1) : undefined;
      const edge = last === undefined ? null : toPosition(last);
      return { rowCount: sent.length, edge, chunks: [sent] };
    },
  };
}
