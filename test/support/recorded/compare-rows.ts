import assert from "node:assert/strict";

/** A row as the API serves it. */
export type Row = Readonly<Record<string, unknown>>;

/** The expected values of a row; other fields are not compared. `name` describes the source of the row. */
export type ExpectedRow = {
  readonly name: string;
  readonly fields: Row & { readonly id: string };
};

const differencesShown = 12;

/** Pairs rows by `id` and fails with the first differences, in readable form, and their number. */
export function assertSameRows(
  what: string,
  expected: readonly ExpectedRow[],
  served: readonly Row[],
): void {
  const servedById = Map.groupBy(served, (row) => row["id"]);
  const differences: string[] = [];
  for (const { name, fields } of expected) {
    const rows = servedById.get(fields.id) ?? [];
    servedById.delete(fields.id);
    if (rows.length === 0) differences.push(`${name}: ${fields.id} is missing`);
    if (rows.length > 1) differences.push(`${name}: ${fields.id} is served ${rows.length} times`);
    for (const row of rows.slice(0, 1)) differences.push(...compare(fields, row, name));
  }
  for (const id of servedById.keys()) differences.push(`${String(id)} is served but not expected`);
  if (differences.length === 0) return;
  const first = differences.slice(0, differencesShown).join("\n  ");
  assert.fail(`${what}: ${differences.length} differences in ${expected.length} rows\n  ${first}`);
}

/** Fails unless every row has exactly the fields `keys`, and `timestamp` equals `timestamp_ms`. */
export function assertShape(what: string, rows: readonly Row[], keys: readonly string[]): void {
  for (const row of rows) {
    assert.deepEqual(Object.keys(row).toSorted(), keys.toSorted(), `fields of ${what}`);
    for (const key of keys.filter((key) => key.endsWith("_ms"))) {
      const text = row[key.slice(0, -"_ms".length)];
      const ms = typeof text === "string" ? Date.parse(text) : text;
      assert.equal(ms, row[key], `${what}: ${key}`);
    }
  }
}

/** Fails unless rows are ordered newest first, without duplicates. */
export function assertFallingSeq(what: string, rows: readonly Row[]): void {
  const seqs = rows.map((row) => Number(row["seq"]));
  const isFalling = seqs.every((seq, index) => index === 0 || seq < (seqs[index - 1] ?? 0));
  assert(isFalling, `${what} are not in falling order of seq`);
}

function compare(expected: unknown, served: unknown, path: string): string[] {
  if (Array.isArray(expected) && Array.isArray(served) && expected.length === served.length) {
    return expected.flatMap((item, index) => compare(item, served[index], `${path}[${index}]`));
  }
  if (isObject(expected) && isObject(served)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      compare(value, served[key], `${path}.${key}`),
    );
  }
  if (Object.is(expected, served)) return [];
  return [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(served)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
