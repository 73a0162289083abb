/**
 * Reads the engine's own format (`Native`): blocks of rows, one column after the other. Columns are used
 * in place, without a pass over the rows.
 */
import { assert } from "../../base/assert.ts";
import type { Engine } from "../engine/engine.ts";
import { RowReader } from "./row-reader.ts";

/** A block: its number of rows, and the name and bytes of each column. */
export type NativeBlock = {
  readonly rows: number;
  readonly names: readonly string[];
  readonly columns: readonly Buffer[];
};

/** Reads the blocks of an answer. All values of a column have the same size: `widths`, in bytes. */
export function* readNativeBlocks(
  bytes: Buffer,
  widths: readonly number[],
): Generator<NativeBlock, void, undefined> {
  const reader = new ByteReader(bytes);
  while (!reader.isAtEnd) {
    const columns = reader.varint();
    const rows = reader.varint();
    assert(columns === widths.length, "an answer has the columns that were asked for");
    const names: string[] = [];
    const bodies = widths.map((width) => {
      names.push(reader.take(reader.varint()).toString());
      // Skips the name of the type.
      reader.take(reader.varint());
      return reader.take(rows * width);
    });
    yield { rows, names, columns: bodies };
  }
}

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
  const bytes = await engine.queryNative(`SELECT ${asked.map(([sql]) => sql).join()} ${clauses}`);
  return [...readNativeBlocks(bytes, widths)].map(({ rows, columns: read }) => {
    const named = read.map((column, index) => [names[index], new RowReader(column)]);
    return { rows, readers: Object.fromEntries(named) as ColumnBlock<Name>["readers"] };
  });
}

class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    assert(taken.length === length, "an answer is not cut short");
    this.#at += length;
    return taken;
  }
}
