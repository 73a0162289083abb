/** The first `limit` rows of a sorted list, or more: rows of one position stay together. */
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
