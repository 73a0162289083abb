/**
 * Reads the engine's own format (`Native`): blocks of rows, one column after the other. Columns are used
 * in place, without a pass over the rows.
 */
import { assert } from "../../base/assert.ts";
import type { Engine } from "../engine/engine.ts";
import { RowReader } from "./row-reader.ts";

/** A block of rows with a reader for each named column. */
export type ColumnBlock<Name extends string> = {
  readonly rows: number;
  readonly readers: Readonly<Record<Name, RowReader>>;
};

/** Selects columns by name, each with its SQL and its bytes per value. `clauses` begins with `FROM`. */
export async function readColumns<Name extends string>(
  engine: Engine,
  columns: Readonly<Record<Name, readonly [sql: string, width: number]>>,
  clauses: string,
): Promise<readonly ColumnBlock<Name>[]> {
  const names = Object.keys(columns);
  const asked = Object.values<readonly [string, number]>(columns);
  const widths = asked.map(([, width]) => width);
  const select = `SELECT ${asked.map(([sql]) => sql).join()} ${clauses}`;
  const bytes = await engine.queryBinary(select, "Native");
  return [...blocksOf(bytes, widths)].map(({ rows, columns: read }) => {
    const named = read.map((column, index) => [names[index], new RowReader(column)]);
    return { rows, readers: Object.fromEntries(named) as ColumnBlock<Name>["readers"] };
  });
}

/** Yields the blocks of an answer. All values of a column have one size in bytes, of `widths`. */
function* blocksOf(bytes: Buffer, widths: readonly number[]) {
  let at = 0;
  const take = (length: number): Buffer => {
    const taken = bytes.subarray(at, at + length);
    assert(taken.length === length, "an answer is not cut short");
    at += length;
    return taken;
  };
  const varint = (): number => {
    const byte = take(1).readUInt8();
    return byte < 128 ? byte : byte - 128 + 128 * varint();
  };
  while (at < bytes.length) {
    assert(varint() === widths.length, "an answer has the columns that were asked for");
    const rows = varint();
    const columns = widths.map((width) => {
      // Skips the names of the column and of its type.
      take(varint());
      take(varint());
      return take(rows * width);
    });
    yield { rows, columns };
  }
}
