import { invalid } from "../../base/input/compile-reader.ts";

/** What was asked for; comparisons with what was not are false. */
type Bounds = Readonly<Record<string, unknown>>;

/** Throws `VALIDATION_ERROR` when a span of time ends where it starts or before: nothing is in it. */
export function checkRange(query: Bounds, [start, end]: readonly [string, string]): void {
  if ((query[end] as number) <= (query[start] as number))
    throw invalid(end, `must be after ${start}`);
}

/** Throws `VALIDATION_ERROR` when the greatest value asked for is below the least. */
export function checkBounds(query: Bounds, [least, greatest]: readonly [string, string]): void {
  if ((query[greatest] as bigint) < (query[least] as bigint))
    throw invalid(greatest, `must not be below ${least}`);
}
