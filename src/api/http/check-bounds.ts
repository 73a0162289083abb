import { invalid } from "../../base/input/compile-reader.ts";

/** The parameters of a request. Comparisons with an absent one are false. */
type Bounds = Readonly<Record<string, unknown>>;

/** Throws `VALIDATION_ERROR` for an empty time range: when its end is not after its start. */
export function checkRange(query: Bounds, [start, end]: readonly [string, string]): void {
  if ((query[end] as number) <= (query[start] as number))
    throw invalid(end, `must be after ${start}`);
}

/** Throws `VALIDATION_ERROR` when the maximum is below the minimum. */
export function checkBounds(query: Bounds, [least, greatest]: readonly [string, string]): void {
  if ((query[greatest] as bigint) < (query[least] as bigint))
    throw invalid(greatest, `must not be below ${least}`);
}
