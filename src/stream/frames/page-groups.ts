/**
 * The first rows of a sorted list, `limit` or somewhat more: rows that share a position stay
 * together, because a page ends at a position.
 */
export function firstGroups<Row>(
  rows: readonly Row[],
  limit: number,
  seqOf: (row: Row) => number,
): readonly Row[] {
  let end = Math.min(limit, rows.length);
  const last = rows[end - 1];
  if (last === undefined) return [];
  for (let next = rows[end]; next !== undefined; next = rows[end]) {
    if (seqOf(next) !== seqOf(last)) break;
    end += 1;
  }
  return rows.slice(0, end);
}
