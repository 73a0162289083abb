import { blockAt, type CompressedBlock, unpackBlock } from "./compressed-block.ts";
import { FileWindow } from "./file-window.ts";
import type { PartLayout } from "./part-layouts.ts";
import { mustBe } from "./part-unreadable-error.ts";

/** Many times what the engine makes. */
const granuleBytesMax = 64 * 1024 ** 2;
const granuleRowsMax = 65_536;

const nothing = Buffer.alloc(0);

/** Where the bytes of a granule are. */
export type GranulePlace = {
  readonly fd: number;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
};

/**
 * Reads one granule after the other, into memory that is used again. It is read whole, as that hardly takes
 * longer than a part of it, and unpacked column by column when they are asked for.
 */
export class GranuleReader {
  readonly #layout: PartLayout;
  readonly #window = new FileWindow();
  #place: GranulePlace = { fd: -1, from: 0, to: 0, rows: 0 };
  #bytes: Buffer = nothing;
  /** Of the columns up to the one furthest behind that was asked for. */
  #blocks: CompressedBlock[] = [];
  readonly #columns: Buffer[] = [];
  /** How many bytes of them are of this granule. */
  #unpacked: number[] = [];

  constructor(layout: PartLayout) {
    this.#layout = layout;
  }

  get rows(): number {
    return this.#place.rows;
  }

  /** Before anything else: no file is what it was. */
  begin(): void {
    this.#window.forget();
  }

  /** Reads granules that follow each other at once, which takes hardly longer than one of them. */
  readAhead({ fd, from, to }: Omit<GranulePlace, "rows">): void {
    mustBe(to > from && to - from <= granuleBytesMax, "granules have a sane length");
    this.#window.bytes(fd, from, to);
  }

  /** Goes to a granule. Throws `PartUnreadableError`, as does reading of it. */
  open(place: GranulePlace): void {
    const length = place.to - place.from;
    mustBe(length > 0 && length <= granuleBytesMax, "a granule has a sane length");
    mustBe(place.rows <= granuleRowsMax, "a granule has a sane number of rows");
    this.#place = place;
    this.#blocks = [];
    this.#unpacked = [];
    this.#bytes = this.#window.bytes(place.fd, place.from, place.to);
  }

  /**
   * The values of a column, of the first `rows` rows at least: those of each of its streams by themselves.
   * Good until the next granule.
   */
  column(index: number, rows: number): Buffer {
    const { widths } = this.#columnAt(index);
    const last = widths.at(-1) ?? 0;
    const before = widths.slice(0, -1).reduce((sum, width) => sum + width, 0);
    const wanted = before * this.rows + last * rows;
    if ((this.#unpacked[index] ?? 0) >= wanted) return this.#columns[index] ?? nothing;
    const block = this.#blockOf(index);
    mustBe(block.unpackedBytes === (before + last) * this.rows, "a column is one block");
    const memory = this.#memoryFor(index, block.unpackedBytes);
    unpackBlock(this.#bytes, block, memory.subarray(0, wanted));
    this.#unpacked[index] = wanted;
    return memory;
  }

  #columnAt(index: number): PartLayout["columns"][number] {
    const column = this.#layout.columns[index];
    mustBe(column !== undefined, "a column is one of the table");
    return column;
  }

  #blockOf(index: number): CompressedBlock {
    while (this.#blocks.length <= index) {
      const from = this.#blocks.at(-1)?.end ?? 0;
      this.#blocks.push(blockAt(this.#bytes, from));
    }
    const block = this.#blocks[index];
    mustBe(block !== undefined, "every column has a block");
    return block;
  }

  #memoryFor(index: number, bytes: number): Buffer {
    const known = this.#columns[index];
    if (known !== undefined && known.length >= bytes) return known;
    const memory = Buffer.alloc(bytes);
    this.#columns[index] = memory;
    return memory;
  }
}
