/**
 * A full-text index: which items have which words, and in which of their fields. When the text of a
 * item changes, the item gets a new document, and the old document stays without an owner. So no
 * posting is ever rewritten, and a reorg only has to restore the owners of documents.
 */

import { crc32 } from "node:zlib";
import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { PostingLists, toGroup } from "./posting-lists.ts";
import { type MatchKind, Terms, type TermsByKind } from "./terms.ts";

/** For each kind of match, the score by combination of fields (one bit a field). */
export type Weights = Readonly<Record<MatchKind, Uint8Array>>;

/** The terms that match a word. */
export type FoundTerms = {
  readonly terms: TermsByKind;
  /** How many postings these terms have. A document counts once for each of its terms. */
  readonly postings: number;
  /** How many of these postings are of the word itself. */
  readonly whole: number;
};

const matchKinds = ["whole", "start", "within"] as const;

/** The scores by item, which are only raised. Those of items that are not `among` these are incomplete. */
type Raised = { readonly scores: Uint8Array; readonly among: Iterable<number> | null };

export class TextSearch {
  readonly #journal: UndoLog;
  readonly #terms: Terms;
  readonly #postings: PostingLists;
  readonly #documents: Column<"f64">;
  /** Item plus 1, by document; 0 for documents without an owner. */
  readonly #owners: Column<"i32">;
  /** Document plus 1, by item; 0 for items without text. */
  readonly #documentByItem: Column<"i32">;
  /** The hash of the text, by item; 0 for none. */
  readonly #hashByItem: Column<"u32">;

  /** `fields` is the number of fields of a item, at most 4. */
  constructor(stateStore: StateStore, name: string, fields: number) {
    this.#journal = stateStore.journal;
    this.#terms = new Terms(stateStore, name);
    this.#postings = new PostingLists(stateStore, name, fields);
    this.#documents = stateStore.column(`${name}.documents`, "f64");
    this.#owners = stateStore.column(`${name}.owners`, "i32");
    this.#documentByItem = stateStore.column(`${name}.document_of`, "i32");
    this.#hashByItem = stateStore.column(`${name}.hash_of`, "u32");
  }

  /** Replaces the terms of a item. There is one list of terms for each field. */
  put(item: number, fields: readonly (readonly string[])[]): void {
    const hash = getHash(fields);
    if (this.#hashByItem.get(item) === hash) return;
    const before = this.#documentByItem.get(item) - 1;
    if (before >= 0) this.#journal.setAt(this.#owners, before, 0);
    this.#journal.setAt(this.#documentByItem, item, 0);
    this.#journal.setAt(this.#hashByItem, item, hash);
    const bits = new Map<string, number>();
    for (const [field, terms] of fields.entries()) {
      for (const term of terms) bits.set(term, (bits.get(term) ?? 0) | (1 << field));
    }
    if (bits.size === 0) return;
    const document = this.#documents.get(0);
    this.#documents.set(0, document + 1);
    for (const [term, of] of bits) this.#postings.add(this.#terms.add(term), document, of);
    this.#journal.setAt(this.#owners, document, item + 1);
    this.#journal.setAt(this.#documentByItem, item, document + 1);
  }

  /** Finds the terms that match a word in this way or a better one. The word must not be empty. */
  findTerms(word: string, kind: MatchKind): FoundTerms {
    const terms = this.#terms.withWord(word, kind);
    const whole = this.#postings.countAll(terms.whole);
    const postings = matchKinds.reduce((sum, one) => sum + this.#postings.countAll(terms[one]), 0);
    return { terms, postings, whole };
  }

  /** Returns the terms that are longer than a prefix and start with it, by their numbers. */
  termsAfter(prefix: string): ReadonlyMap<number, string> {
    const { start } = this.#terms.withWord(prefix, "start");
    return new Map(Array.from(start, (term) => [term, this.#terms.getText(term)]));
  }

  /** Calls `visit` with each item that has a term. Each takes some nanoseconds. */
  forEachItem(term: number, visit: (item: number) => void): void {
    const owners = this.#owners.values;
    this.#postings.forEach(term, (document) => {
      const owner = owners[document] ?? 0;
      if (owner !== 0) visit(owner - 1);
    });
  }

  /** Raises the scores of the items that have one of the found terms; of all items if `among` is `null`. */
  scoreTerms({ terms }: FoundTerms, weights: Weights, { scores, among }: Raised): void {
    const owners = this.#owners.values;
    const groups = among === null ? null : this.#toGroups(among);
    for (const kind of matchKinds) {
      this.#postings.score(terms[kind], { weights: weights[kind], owners, scores, groups });
    }
  }

  #toGroups(items: Iterable<number>): Uint8Array {
    const groups = new Uint8Array(toGroup(this.#documents.get(0)) + 1);
    for (const item of items) {
      const document = this.#documentByItem.get(item) - 1;
      if (document >= 0) groups[toGroup(document)] = 1;
    }
    return groups;
  }
}

/** Hashes the terms of all fields. Never returns 0, which stands for no text. */
function getHash(fields: readonly (readonly string[])[]): number {
  return crc32(JSON.stringify(fields)) || 1;
}
