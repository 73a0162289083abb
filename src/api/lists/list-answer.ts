import { type Static, type TSchema, Type } from "typebox";
import { freshnessRow } from "../../rows/freshness.ts";
import type { CursorPosition, Cursors } from "./cursor.ts";

/** `meta` of every response but the ones without `data` and `meta`. */
export const metaSchema = Type.Object({
  request_id: Type.String(),
  ...freshnessRow.properties,
});

/** `meta` as it is sent. */
export type Meta = Static<typeof metaSchema>;

/** `pagination` of every list. */
export const paginationSchema = Type.Object({
  limit: Type.Integer(),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

/** The shape of every list of `row`. */
export function listOf<Row extends TSchema>(row: Row) {
  return Type.Object({
    data: Type.Array(row),
    pagination: paginationSchema,
    meta: metaSchema,
  });
}

/** The shape of a response with a single `row`. */
export function oneOf<Row extends TSchema>(row: Row) {
  return Type.Object({ data: row, meta: metaSchema });
}

/** A page to send. If `rows` has one row more than `limit`, there is a next page. */
type Page<Item> = {
  readonly path: string;
  readonly query: { readonly limit: number };
  readonly rows: readonly Item[];
  readonly positionOf: (row: Item) => CursorPosition;
};

/** Returns the response for a page, with the cursor of the next one. */
export function answerPage<Item, Row>(
  cursors: Cursors,
  { path, query, rows, positionOf }: Page<Item>,
  present: (item: Item) => Row,
) {
  const { limit } = query;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map(present),
    pagination: {
      limit,
      has_more: hasMore,
      next_cursor: hasMore ? cursors.encode(path, query, positionOf(last)) : null,
    },
  };
}
