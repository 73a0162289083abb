import { assert } from "../base/assert.ts";
import type { Seq } from "../base/ids.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import {
  countFinalRows,
  finalBoundary,
  readFinalRows,
  readFinalSeqAt,
  type StoredList,
  unfinalizedRows,
} from "./merged-list.ts";

/**
 * A snapshot of all rows of a list, however long the reading takes: final rows never change, and the few
 * unfinalized rows are copied when it is made. Every read is one query of bounded size.
 */
export class RowSnapshot<Item extends { readonly seq: Seq }> {
  readonly #store: IndexedFacts;
  readonly #list: StoredList<Item>;
  readonly #boundary: Seq;
  readonly #unfinalized: readonly Item[];

  constructor(store: IndexedFacts, list: StoredList<Item>) {
    this.#store = store;
    this.#list = list;
    this.#boundary = finalBoundary(store);
    this.#unfinalized = unfinalizedRows(store, list);
  }

  /** Counts the rows, up to `max`. */
  async count(max: number): Promise<number> {
    const unfinalized = this.#unfinalized.length;
    return Math.min(max, unfinalized + (await this.#countFinal(Math.max(0, max - unfinalized))));
  }

  /** Returns the position of the row at an index, counted from 0, which must exist. */
  async seqAt(index: number): Promise<Seq> {
    const unfinalized = this.#unfinalized;
    if (this.#list.order === "desc") {
      return (
        unfinalized[index]?.seq ?? (await this.#finalSeqAt(index - unfinalized.length)) ?? missing()
      );
    }
    const final = await this.#finalSeqAt(index);
    if (final !== null) return final;
    const finalCount = await this.#countFinal(index + 1);
    return unfinalized[index - finalCount]?.seq ?? missing();
  }

  /** Reads the first `rowsMax` rows in order, `chunkRows` at a time. */
  async *chunks(size: {
    readonly rowsMax: number;
    readonly chunkRows: number;
  }): AsyncGenerator<readonly Item[], void, undefined> {
    let left = size.rowsMax;
    for await (const chunk of this.#all(size.chunkRows)) {
      if (left <= 0) return;
      yield chunk.slice(0, left);
      left -= chunk.length;
    }
  }

  async *#all(chunkRows: number): AsyncGenerator<readonly Item[], void, undefined> {
    if (this.#list.order === "desc") yield* this.#unfinalizedChunks(chunkRows);
    let { after } = this.#list;
    for (;;) {
      const page = { boundary: this.#boundary, limit: chunkRows };
      const chunk = await readFinalRows(this.#store, { ...this.#list, after }, page);
      if (chunk.length > 0) yield chunk;
      if (chunk.length < chunkRows) break;
      after = chunk.at(-1)?.seq ?? after;
    }
    if (this.#list.order === "asc") yield* this.#unfinalizedChunks(chunkRows);
  }

  *#unfinalizedChunks(chunkRows: number): Generator<readonly Item[], void, undefined> {
    for (let at = 0; at < this.#unfinalized.length; at += chunkRows)
      yield this.#unfinalized.slice(at, at + chunkRows);
  }

  async #countFinal(max: number): Promise<number> {
    const page = { boundary: this.#boundary, limit: max };
    return countFinalRows(this.#store, this.#list, page);
  }

  async #finalSeqAt(index: number): Promise<Seq | null> {
    return readFinalSeqAt(this.#store, this.#list, { boundary: this.#boundary, index });
  }
}

function missing(): never {
  assert(false, "the row is one of those that were counted");
}
