/** Reads rows whose values have fixed lengths. Values are read in place, by their offsets. */
import { assert } from "../../base/assert.ts";
import type { Engine } from "../engine/engine.ts";
import { RowReader } from "./row-reader.ts";

/** The columns of a query by name, each with its SQL and its bytes per value. `clauses` begins with `FROM`. */
type Selection<Name extends string> = {
  readonly columns: Readonly<Record<Name, readonly [sql: string, bytes: number]>>;
  readonly clauses: string;
};

/** The offset of each value in a row, in bytes. */
export type Offsets<Name extends string> = Readonly<Record<Name, number>>;

/** Decodes a row of `rows`. `row` is where it begins. */
type Decode<Name extends string, Row> = (rows: RowReader, row: number, at: Offsets<Name>) => Row;

/** Selects rows, which are decoded one by one as they are taken. */
export async function readRows<Name extends string, Row>(
  engine: Engine,
  { columns, clauses }: Selection<Name>,
  decode: Decode<Name, Row>,
): Promise<Iterable<Row>> {
  const offsets: Record<string, number> = {};
  const selected: string[] = [];
  let rowBytes = 0;
  for (const [name, [sql, bytes]] of Object.entries<readonly [string, number]>(columns)) {
    offsets[name] = rowBytes;
    selected.push(sql);
    rowBytes += bytes;
  }
  const bytes = await engine.queryBinary(`SELECT ${selected.join()} ${clauses}`, "RowBinary");
  assert(bytes.length % rowBytes === 0, "values have the lengths that were given");
  const rows = new RowReader(bytes);
  const starts = Array.from({ length: bytes.length / rowBytes }, (_, index) => index * rowBytes);
  return starts.values().map((row) => decode(rows, row, offsets as Offsets<Name>));
}
