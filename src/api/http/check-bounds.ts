import { invalid } from "../../base/input/compile-reader.ts";

/** Throws `VALIDATION_ERROR` when a span of time ends where it starts or before: nothing is in it. */
export function checkRange(
  query: Readonly<Record<string, unknown>>,
  [start, end]: readonly [string, string],
): void {
  if (isBelow(query[end], query[start], true)) {
    throw invalid(end, `must be after ${start}`);
  }
}

/** Throws `VALIDATION_ERROR` when the greatest value asked for is below the least. */
export function checkBounds(
  query: Readonly<Record<string, unknown>>,
  [least, greatest]: readonly [string, string],
): void {
  if (isBelow(query[greatest], query[least], false)) {
    throw invalid(greatest, `must not be below ${least}`);
  }
}

/** Whether both are given, and one is below the other, or equal to it. */
function isBelow(one: unknown, other: unknown, orEqual: boolean): boolean {
  if (one === undefined || other === undefined) return false;
  const [upper, lower] = [one as number | bigint, other as number | bigint];
  return upper < lower || (orEqual && upper === lower);
}
