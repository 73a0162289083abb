import { type Static, Type } from "typebox";
import type { Freshness } from "../rows/freshness.ts";

const count = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]);

/** `meta` of every answer but the bare ones. */
export const metaSchema = Type.Object({
  request_id: Type.String(),
  indexed_block: count,
  indexed_seq: count,
  head_block: count,
  finalized_block: count,
  lag_seconds: count,
});

/** `meta` as it is sent. */
export type Meta = Static<typeof metaSchema>;

/** `pagination` of every list. */
export const paginationSchema = Type.Object({
  limit: Type.Integer(),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

/** The `meta` of one answer. */
export function metaOf(requestId: string, freshness: Freshness): Meta {
  return { request_id: requestId, ...freshness };
}
