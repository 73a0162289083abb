/**
 * Blocks of memory that lists of markets are kept in, megabytes when there are many. They are used
 * again: what comes and goes outside of the heap makes V8 collect all of the heap every few lists,
 * and fresh memory costs more than filling it.
 */
export class Rooms {
  readonly #bytesMax: number;
  /** Those that no one uses, by size; sizes that were asked for last at the end. */
  readonly #spare = new Map<number, ArrayBuffer[]>();
  #spareBytes = 0;

  /** Up to `bytesMax` that no one uses are kept. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A block of at least so many bytes, each whatever it was before. */
  take(bytes: number): ArrayBuffer {
    const size = sizeFor(bytes);
    const spare = this.#spare.get(size) ?? [];
    this.#spare.delete(size);
    this.#spare.set(size, spare);
    const block = spare.pop() ?? this.#largerThan(size)?.pop();
    if (block === undefined) return new ArrayBuffer(size);
    this.#spareBytes -= block.byteLength;
    return block;
  }

  /** Spare blocks of the next size there are any of, unless most of one would be left over. */
  #largerThan(size: number): ArrayBuffer[] | undefined {
    const [nearest] = [...this.#spare]
      .filter(([other, spare]) => other > size && other < size * 2 && spare.length > 0)
      .toSorted(([one], [other]) => one - other);
    return nearest?.[1];
  }

  /** Reverts what no one uses any more, in place of blocks of sizes not asked for lately. */
  give(block: ArrayBuffer): void {
    const size = block.byteLength;
    if (size > this.#bytesMax) return;
    for (const [unused, spare] of this.#spare) {
      if (this.#spareBytes + size <= this.#bytesMax) break;
      this.#spareBytes -= unused * spare.length;
      this.#spare.delete(unused);
    }
    const spare = this.#spare.get(size);
    if (spare === undefined) this.#spare.set(size, [block]);
    else spare.push(block);
    this.#spareBytes += size;
  }
}

const bytesMin = 1024;

/** Four sizes for each power of two: few enough to be found again, and near enough to waste little. */
function sizeFor(bytes: number): number {
  const step = 2 ** (Math.floor(Math.log2(Math.max(bytes, bytesMin))) - 2);
  return Math.max(bytesMin, Math.ceil(bytes / step) * step);
}
