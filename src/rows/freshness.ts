import { type Static, Type } from "typebox";
import { nullable } from "./wire-format.ts";

const count = nullable(Type.Integer({ minimum: 0 }));

/** What the service has indexed and how current it is, as in `meta` of REST responses and in heartbeats. All `null` before the first block. */
export const freshnessRow = Type.Object({
  first_block: count,
  first_timestamp_ms: count,
  indexed_block: count,
  indexed_seq: count,
  head_block: count,
  finalized_block: count,
  lag_seconds: count,
});
export type Freshness = Readonly<Static<typeof freshnessRow>>;

/** The freshness before the first block, and of a process that indexes no blocks. */
export const nothingIndexed: Freshness = {
  first_block: null,
  first_timestamp_ms: null,
  indexed_block: null,
  indexed_seq: null,
  head_block: null,
  finalized_block: null,
  lag_seconds: null,
};
