/** Lists of trades in the order of their value, within a bounded time. */
import type { AppError } from "../../base/errors.ts";
import type { Seq } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import type { Fill } from "../../market/fill.ts";
import type { FillFilter } from "../../query/fill-filter.ts";
import { getValue, readByValue } from "../../query/read-by-value.ts";
import type { Backend } from "../backend.ts";
import type { RangeParameters } from "./fill-parameters.ts";
import type { RowSource } from "./row-list.ts";

const windowSeconds = 7 * 86_400;

/**
 * Returns the fills of a filter by value, from the end of the previous page on. Without a start, the window is the 7
 * days before its end. Throws `VALIDATION_ERROR` for a longer window, and `INVALID_CURSOR`.
 */
export function valueSource(
  { facts, state, cursors }: Backend,
  filter: FillFilter,
  { path, query }: { readonly path: string; readonly query: RangeParameters },
): RowSource<Fill> {
  refuseOtherBounds(query);
  const position = cursors.decode(path, query);
  const { timestampTo = state.dayWindow.now + 1, txHash } = filter;
  // Later pages have the window of the first, whatever is indexed meanwhile.
  const earliest = position === null ? timestampTo - windowSeconds : Number(position[2]);
  const { timestampFrom = txHash === undefined ? earliest : 0 } = filter;
  if (txHash === undefined && timestampTo - timestampFrom > windowSeconds)
    throw invalid("start", "must be at most 7 days before end (by default now) with sort=value");
  const [value = 0, seq = 0] = position ?? [];
  const list = {
    filter: { ...filter, timestampFrom },
    order: query.order,
    after: position === null ? null : { value: BigInt(value), seq: Number(seq) as Seq },
    finalizedOnly: query.status === "finalized",
  };
  return {
    first: (count) => readByValue(facts, list, count),
    toPosition: (fill) => [String(getValue(fill, filter)), fill.seq, earliest],
    openAll: () => Promise.reject(needsLimit()),
  };
}

function refuseOtherBounds(query: RangeParameters): void {
  for (const name of ["from_block", "to_block", "after_seq"] as const)
    if (query[name] !== undefined)
      throw invalid(name, "cannot be combined with sort=value; use start and end");
}

function needsLimit(): AppError {
  return invalid("limit", "is required with sort=value in formats other than json");
}
