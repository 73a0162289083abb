import { assert } from "../../base/assert.ts";

type Views = {
  u8: Uint8Array<ArrayBuffer>;
  i32: Int32Array<ArrayBuffer>;
  u32: Uint32Array<ArrayBuffer>;
  f64: Float64Array<ArrayBuffer>;
};
type NumberArray = Views[keyof Views];

/** The number types of columns. */
export type ColumnKind = keyof Views;

/** A page of a column: its index, and its current bytes. */
export type ColumnPage = { readonly page: number; readonly bytes: Uint8Array };

/** The unit in which changes of a column are saved. It is small because changes are far apart. */
export const columnPageBytes = 4096;
const pageShift = 12;

const arrays: {
  readonly [Kind in ColumnKind]: {
    new (block: ArrayBuffer): Views[Kind];
    readonly BYTES_PER_ELEMENT: number;
  };
} = { u8: Uint8Array, i32: Int32Array, u32: Uint32Array, f64: Float64Array };

/**
 * Numbers by index in one block outside of the heap, 0 where nothing was set. A column tracks which of
 * its pages have changed, so that saving it costs only as much as was changed.
 */
export class Column<Kind extends ColumnKind = ColumnKind> {
  readonly #kind: Kind;
  #values: Views[Kind];
  #changed: Uint8Array;
  /** Whether a snapshot uses these numbers. If so, the next change copies them first. */
  #isShared = false;

  /** `block` contains the saved pages in order. The column becomes its owner. */
  constructor(kind: Kind, block = new ArrayBuffer(columnPageBytes)) {
    this.#kind = kind;
    this.#values = new arrays[kind](block);
    this.#changed = new Uint8Array(block.byteLength / columnPageBytes);
  }

  /** The numbers, for reading only; longer than what was set. A later `set` can move them to another array. */
  get values(): Views[Kind] {
    return this.#values;
  }

  /** Returns the current numbers. Later changes do not affect them. */
  snapshot(): Views[Kind] {
    this.#isShared = true;
    return this.#values;
  }

  /** Returns 0 where nothing was set. */
  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#unshare();
    const values: NumberArray = this.#values;
    values[index] = value;
    this.#changed[(index * values.BYTES_PER_ELEMENT) >>> pageShift] = 1;
  }

  /** Makes room for `length` elements. A caller that writes them to `values` calls `touch`. */
  reserve(length: number): void {
    if (length <= this.#values.length) return;
    this.#unshare();
    const bytes = Math.max(
      length * arrays[this.#kind].BYTES_PER_ELEMENT,
      this.#values.byteLength * 1.25,
    );
    const pages = Math.ceil(bytes / columnPageBytes);
    this.#values = new arrays[this.#kind](this.#values.buffer.transfer(pages * columnPageBytes));
    const changed = new Uint8Array(pages);
    changed.set(this.#changed);
    this.#changed = changed;
  }

  /** Marks elements as changed, both ends included. */
  touch(from: number, to: number): void {
    assert(!this.#isShared, "numbers of a snapshot are changed one by one");
    const bytes = arrays[this.#kind].BYTES_PER_ELEMENT;
    const last = (to * bytes) >>> pageShift;
    this.#changed.fill(1, (from * bytes) >>> pageShift, last + 1);
  }

  /** Moves `length` elements from `from` to `to`. */
  move(from: number, to: number, length: number): void {
    this.reserve(to + length);
    this.#values.copyWithin(to, from, from + length);
    if (length > 0) this.touch(to, to + length - 1);
  }

  /** Yields the pages changed since the last call. Each must be copied before the next change. */
  *drainChangedPages(): Generator<ColumnPage> {
    for (let page = this.#changed.indexOf(1); page !== -1; page = this.#changed.indexOf(1, page)) {
      this.#changed[page] = 0;
      const start = page * columnPageBytes;
      yield { page, bytes: new Uint8Array(this.#values.buffer, start, columnPageBytes) };
    }
  }

  #unshare(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#values = new arrays[this.#kind](this.#values.buffer.slice());
  }
}

/** The bytes of an id in a column of ids. */
export const idBytes = 32;

/** Reads the id at an index of a column of ids, as `0x` hex. */
export function readId({ values }: Column<"u8">, index: number): string {
  return `0x${Buffer.from(values.buffer, index * idBytes, idBytes).toString("hex")}`;
}

/** Writes an id of 32 bytes at an index of a column of ids. */
export function writeId(column: Column<"u8">, index: number, id: string): void {
  const start = index * idBytes;
  column.reserve(start + idBytes);
  column.values.set(Buffer.from(id.slice(2), "hex"), start);
  column.touch(start, start + idBytes - 1);
}
