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

/** `meta` of lists that can be asked for rows before the first indexed block. */
export const rangeMeta = Type.Object({
  ...metaSchema.properties,
  truncated_at_start: Type.Optional(Type.Boolean()),
});

/** The shape of every list of `row`. */
export function toListShape<Row extends TSchema>(row: Row) {
  return Type.Object({
    data: Type.Array(row),
    pagination: paginationSchema,
    meta: metaSchema,
  });
}

/** The shape of a response with a single `row`. */
export function toObjectShape<Row extends TSchema>(row: Row) {
  return Type.Object({ data: row, meta: metaSchema });
}

/** A requested page: cursors are bound to the path and to the query. */
type PageRequest = { readonly path: string; readonly query: { readonly limit: number } };

/** Returns the first `limit` rows of those that were read, and the position of the last if more follow. */
export function getPage<Item>(
  read: readonly Item[],
  limit: number,
  toPosition: (row: Item) => CursorPosition,
): { readonly rows: readonly Item[]; readonly edge: CursorPosition | null } {
  const rows = read.slice(0, limit);
  const last = read.length > limit ? rows.at(-1) : undefined;
  return { rows, edge: last === undefined ? null : toPosition(last) };
}

/** Returns the `pagination` of a page, with the cursor of the next one if there are rows after `edge`. */
export function toPagination(
  cursors: Cursors,
  { path, query }: PageRequest,
  edge: CursorPosition | null,
): Static<typeof paginationSchema> {
  const next_cursor = edge === null ? null : cursors.encode(path, query, edge);
  return { limit: query.limit, has_more: edge !== null, next_cursor };
}

/** Returns the value of `Link` (RFC 8288) for the page after the one at a request target, relative to it. */
export function linkToNext(target: string, cursor: string): string {
  const { searchParams } = new URL(target, "http://localhost");
  searchParams.set("cursor", cursor);
  return `<?${searchParams.toString()}>; rel="next"`;
}

/** Returns the response for a page. If `read` has one row more than `limit`, there is a next page. */
export function answerPage<Item, Row>(
  cursors: Cursors,
  page: PageRequest & {
    readonly read: readonly Item[];
    readonly toPosition: (row: Item) => CursorPosition;
  },
  present: (item: Item) => Row,
) {
  const { rows, edge } = getPage(page.read, page.query.limit, page.toPosition);
  return { data: rows.map(present), pagination: toPagination(cursors, page, edge) };
}
