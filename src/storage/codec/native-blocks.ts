/**
 * Reads what the engine gives in its own format (`Native`): blocks of rows, one column after the other,
 * so that it can be taken over without looking at every row.
 */
import { assert } from "../../base/assert.ts";

/** A block: how many rows it has, and of each of its columns the name and the bytes. */
export type NativeBlock = {
  readonly rows: number;
  readonly names: readonly string[];
  readonly columns: readonly Buffer[];
};

/** The blocks of an answer whose columns are of so many bytes a value, which never differ. */
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
      // Its type.
      reader.take(reader.varint());
      return reader.take(rows * width);
    });
    yield { rows, names, columns: bodies };
  }
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
