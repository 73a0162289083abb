import type { CursorPosition } from "../route/cursor.ts";
import type { RowSource } from "./row-list.ts";

/** Returns a source of rows that are in memory, in their order. `isAfter` decides which ones follow a cursor. */
export function memorySource<Item>(
  items: readonly Item[],
  {
    after,
    toPosition,
    isAfter,
  }: Pick<RowSource<Item>, "toPosition"> & {
    readonly after: CursorPosition | null;
    readonly isAfter: (item: Item, after: CursorPosition) => boolean;
  },
): RowSource<Item> {
  const rest = after === null ? items : items.filter((item) => isAfter(item, after));
  return { first: async (count) => rest.slice(0, count), toPosition };
}
