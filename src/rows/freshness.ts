import { type Static, Type } from "typebox";
import { nullable } from "./wire-format.ts";

const count = nullable(Type.Integer({ minimum: 0 }));

/** How far the service is, as in the `meta` of REST answers and in heartbeats; `null` until the first block is indexed. */
export const freshnessRow = Type.Object({
  indexed_block: count,
  indexed_seq: count,
  head_block: count,
  finalized_block: count,
  lag_seconds: count,
});
export type Freshness = Readonly<Static<typeof freshnessRow>>;

/** Before the first block, and in a process that indexes none. */
export const nothingIndexed: Freshness = {
  indexed_block: null,
  indexed_seq: null,
  head_block: null,
  finalized_block: null,
  lag_seconds: null,
};
