/**
 * A full-text index: which things have which words, and in which of their fields. When the text of a
 * thing changes, the thing gets a new document, and the old document stays without an owner. So no
 * posting is ever rewritten, and a reorg only has to restore the owners of documents.
 */

import { crc32 } from "node:zlib";
import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { PostingLists } from "./posting-lists.ts";
import { type MatchWay, Terms, type TermsByWay } from "./terms.ts";

/** For each way to match a word, the score by combination of fields (one bit a field). */
export type Weights = Readonly<Record<MatchWay, Uint8Array>>;

/** The terms that match a word. */
export type FoundTerms = {
  readonly terms: TermsByWay;
  readonly count: number;
  /** How many postings these terms have. A document counts once for each of its terms. */
  readonly postings: number;
  /** How many of these postings are of the word itself. */
  readonly whole: number;
};

const ways = ["whole", "start", "within"] as const;

/** The things to score, and the score of each at the same index. Scores are only raised. */
type Among = { readonly things: Int32Array; readonly scores: Uint8Array };

export class TextSearch {
  readonly #journal: UndoLog;
  readonly #terms: Terms;
  readonly #postings: PostingLists;
  readonly #documents: Column<"f64">;
  /** Thing plus 1, by document; 0 for documents without an owner. */
  readonly #owners: Column<"i32">;
  /** Document plus 1, by thing; 0 for things without text. */
  readonly #documentOf: Column<"i32">;
  /** The hash of the text, by thing; 0 for none. */
  readonly #hashOf: Column<"u32">;

  /** `fields` is the number of fields of a thing, at most 4. */
  constructor(stateStore: StateStore, name: string, fields: number) {
    this.#journal = stateStore.journal;
    this.#terms = new Terms(stateStore, name);
    this.#postings = new PostingLists(stateStore, name, fields);
    this.#documents = stateStore.column(`${name}.documents`, "f64");
    this.#owners = stateStore.column(`${name}.owners`, "i32");
    this.#documentOf = stateStore.column(`${name}.document_of`, "i32");
    this.#hashOf = stateStore.column(`${name}.hash_of`, "u32");
  }

  /** Replaces the terms of a thing. There is one list of terms for each field. */
  put(thing: number, fields: readonly (readonly string[])[]): void {
    const hash = hashOf(fields);
    if (this.#hashOf.get(thing) === hash) return;
    this.remove(thing);
    const bits = new Map<string, number>();
    for (const [field, terms] of fields.entries()) {
      for (const term of terms) bits.set(term, (bits.get(term) ?? 0) | (1 << field));
    }
    this.#journal.setAt(this.#hashOf, thing, hash);
    if (bits.size === 0) return;
    const document = this.#documents.get(0);
    this.#documents.set(0, document + 1);
    for (const [term, of] of bits) this.#postings.add(this.#terms.add(term), document, of);
    this.#journal.setAt(this.#owners, document, thing + 1);
    this.#journal.setAt(this.#documentOf, thing, document + 1);
  }

  remove(thing: number): void {
    const document = this.#documentOf.get(thing) - 1;
    if (document >= 0) this.#journal.setAt(this.#owners, document, 0);
    this.#journal.setAt(this.#documentOf, thing, 0);
    this.#journal.setAt(this.#hashOf, thing, 0);
  }

  /** Raises the scores of the things that have exactly this term. */
  scoreTerm(term: string, weights: Uint8Array, scores: Uint8Array): void {
    const id = this.#terms.find(term);
    if (id === null) return;
    this.#postings.score(Int32Array.of(id), { weights, owners: this.#owners.values, scores });
  }

  /** Finds the terms that match a word in this way or a better one. The word must not be empty. */
  findTerms(word: string, way: MatchWay): FoundTerms {
    const terms = this.#terms.withWord(word, way);
    const whole = this.#postings.countAll(terms.whole);
    let [count, postings] = [0, 0];
    for (const one of ways) {
      count += terms[one].length;
      postings += this.#postings.countAll(terms[one]);
    }
    return { terms, count, postings, whole };
  }

  /** Raises the scores of the things that have one of the found terms. */
  scoreTerms({ terms }: FoundTerms, weights: Weights, scores: Uint8Array): void {
    for (const way of ways) {
      const scoring = { weights: weights[way], owners: this.#owners.values, scores };
      this.#postings.score(terms[way], scoring);
    }
  }

  /** Does what `scoreTerms` does, but only for the given things, which are in rising order. */
  scoreTermsAmong({ terms }: FoundTerms, weights: Weights, { things, scores }: Among): void {
    const { documents, places } = this.#documentsOf(things);
    if (documents.length === 0) return;
    const best = new Uint8Array(documents.length);
    for (const way of ways) {
      const among = { weights: weights[way], documents, scores: best };
      for (const term of terms[way]) this.#postings.scoreAmong(term, among);
    }
    for (const [at, place] of places.entries()) {
      scores[place] = Math.max(scores[place] ?? 0, best[at] ?? 0);
    }
  }

  /** Returns the documents of these things in rising order, and for each the index of its thing. */
  #documentsOf(things: Int32Array): Placed {
    const documentOf = this.#documentOf.values;
    const documents = new Int32Array(things.length);
    const places = new Int32Array(things.length);
    let length = 0;
    let isRising = true;
    for (const [place, thing] of things.entries()) {
      const document = (documentOf[thing] ?? 0) - 1;
      if (document < 0) continue;
      isRising &&= length === 0 || document > (documents[length - 1] ?? 0);
      documents[length] = document;
      places[length] = place;
      length += 1;
    }
    const found = { documents: documents.subarray(0, length), places: places.subarray(0, length) };
    // A thing whose text has changed has a newer document, which is out of order.
    if (!isRising) sortTogether(found);
    return found;
  }
}

type Placed = { readonly documents: Int32Array; readonly places: Int32Array };

/** Sorts documents, and moves the place of each with it. Places are in rising order on entry. */
function sortTogether({ documents, places }: Placed): void {
  // Document and place are packed into one number, which is exact for tens of millions of things.
  const span = (places.at(-1) ?? 0) + 1;
  const both = Float64Array.from(documents, (document, at) => document * span + (places[at] ?? 0));
  for (const [at, one] of both.toSorted().entries()) {
    documents[at] = Math.floor(one / span);
    places[at] = one % span;
  }
}

/** Hashes the terms of all fields. Never returns 0, which stands for no text. */
function hashOf(fields: readonly (readonly string[])[]): number {
  return crc32(JSON.stringify(fields)) || 1;
}
