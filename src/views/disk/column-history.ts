/**
 * What the numbers of a column were before they changed, for those who still reads them as they were.
 * A list of a million markets would else need a copy of them with every block, which takes longer than
 * choosing a page; most lists are never asked for again.
 */
import { marketLimits } from "../../base/config/limits.ts";

/** The numbers of a column, of whatever kind. */
export type Numbers =
  | Float64Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** The numbers of a column as they were when they were held. */
export type ColumnSnapshot = {
  /** What they take at the most, once they have changed a lot. */
  readonly byteLength: number;
  /** Does some work, which must neither wait nor change the column, with the numbers as they were. */
  read(work: (numbers: Numbers) => void): void;
  /** Says, once, that they are not read any more. */
  release(): void;
};

const changesMin = 1024;

export class ColumnHistory {
  /** The numbers as they stand behind the newest change. */
  #numbers: () => Numbers;
  /** Changes, oldest first: where, and the number that stood there. */
  #indexes = new Int32Array(changesMin);
  #befores = new Float64Array(changesMin);
  #length = 0;
  #holders = 0;

  constructor(numbers: () => Numbers) {
    this.#numbers = numbers;
  }

  /** Whether anybody reads what was. */
  get isUnfinalized(): boolean {
    return this.#holders > 0;
  }

  /** Whether no more changes are noted. */
  get isFull(): boolean {
    return this.#length >= marketLimits.snapshotChangesMax;
  }

  /** Holds the numbers as they are now. */
  hold(): ColumnSnapshot {
    this.#holders += 1;
    const since = this.#length;
    return {
      byteLength: this.#numbers().byteLength,
      read: (work) => this.#read(since, work),
      release: () => {
        this.#holders -= 1;
      },
    };
  }

  /** Notes the number that another one is about to replace. */
  note(index: number, before: number): void {
    if (this.#length === this.#indexes.length) this.#grow();
    this.#indexes[this.#length] = index;
    this.#befores[this.#length] = before;
    this.#length += 1;
  }

  /** Goes on with a copy of the numbers: those of the column may change from now on. */
  part(): void {
    const copy = this.#numbers().slice();
    this.#numbers = () => copy;
  }

  #read(since: number, work: (numbers: Numbers) => void): void {
    const numbers = this.#numbers();
    for (let at = this.#length - 1; at >= since; at -= 1) this.#swap(numbers, at);
    try {
      work(numbers);
    } finally {
      for (let at = since; at < this.#length; at += 1) this.#swap(numbers, at);
    }
  }

  #swap(numbers: Numbers, at: number): void {
    const index = this.#indexes[at] ?? 0;
    const now = numbers[index] ?? 0;
    numbers[index] = this.#befores[at] ?? 0;
    this.#befores[at] = now;
  }

  #grow(): void {
    const [indexes, befores] = [this.#indexes, this.#befores];
    this.#indexes = new Int32Array(this.#length * 2);
    this.#befores = new Float64Array(this.#length * 2);
    this.#indexes.set(indexes);
    this.#befores.set(befores);
  }
}
