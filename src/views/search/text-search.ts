/**
 * Which things have which words, and in which of their fields. A thing whose text changes becomes a
 * new document; the old one stays without an owner, so that nothing is rewritten and a fork only has to
 * restore the owners of documents.
 */

import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../markets/undo-log.ts";
import { PostingLists } from "./posting-lists.ts";
import { type MatchWay, Terms, type TermsByWay } from "./terms.ts";

/** By the way a word is matched, the score for each combination of fields. */
export type Weights = Readonly<Record<MatchWay, Uint8Array>>;

/** The terms that have a word. */
export type FoundTerms = {
  readonly terms: TermsByWay;
  readonly count: number;
  /** How many documents they have, each counted for itself. */
  readonly postings: number;
  /** How many of these are in lists that are read whole, even for a few documents. */
  readonly short: number;
};

const ways = ["whole", "start", "within"] as const;
const noTerms = new Int32Array(0);
const nothing: FoundTerms = {
  terms: { whole: noTerms, start: noTerms, within: noTerms },
  count: 0,
  postings: 0,
  short: 0,
};

/** Things that are looked at, and their scores, which are only raised. */
type Among = { readonly things: Int32Array; readonly scores: Uint8Array };

export class TextSearch {
  readonly #journal: UndoLog;
  readonly #terms: Terms;
  readonly #postings: PostingLists;
  readonly #documents: Column<"f64">;
  /** Thing plus 1 by document, document plus 1 by thing, and what its text hashed to. */
  readonly #owners: Column<"i32">;
  readonly #documentOf: Column<"i32">;
  readonly #hashOf: Column<"u32">;

  /** `fields` is how many fields a thing has, up to 4. */
  constructor(
    { stateStore, journal }: { stateStore: StateStore; journal: UndoLog },
    name: string,
    fields: number,
  ) {
    this.#journal = journal;
    this.#terms = new Terms(stateStore, name);
    this.#postings = new PostingLists(stateStore, name, fields);
    this.#documents = stateStore.column(`${name}.documents`, "f64");
    this.#owners = stateStore.column(`${name}.owners`, "i32");
    this.#documentOf = stateStore.column(`${name}.document_of`, "i32");
    this.#hashOf = stateStore.column(`${name}.hash_of`, "u32");
  }

  /** Sets the terms of a thing, field by field, in place of those it had. */
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

  /** Raises the scores of the things that have a term, which is exactly `term`. */
  scoreTerm(term: string, weights: Uint8Array, scores: Uint8Array): void {
    const id = this.#terms.find(term);
    if (id === null) return;
    this.#postings.score(Int32Array.of(id), { weights, owners: this.#owners.values, scores });
  }

  /** The terms that have a word, this way or a better; a word without letters is in none. */
  findTerms(word: string, way: MatchWay): FoundTerms {
    if (word === "") return nothing;
    const terms = this.#terms.withWord(word, way);
    let [count, postings, short] = [0, 0, 0];
    for (const one of ways) {
      const counted = this.#postings.countAll(terms[one]);
      count += terms[one].length;
      postings += counted.all;
      short += counted.short;
    }
    return { terms, count, postings, short };
  }

  /** Raises the scores of the things that have a word, whose terms were found. */
  scoreTerms({ terms }: FoundTerms, weights: Weights, scores: Uint8Array): void {
    for (const way of ways) {
      const scoring = { weights: weights[way], owners: this.#owners.values, scores };
      this.#postings.score(terms[way], scoring);
    }
  }

  /** The same for some things only, which rise: the scores are in their order. */
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

  /** The documents of things that have one, rising, and the place of each thing. */
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
    // Texts that have changed have younger documents.
    if (!isRising) sortTogether(found);
    return found;
  }
}

type Placed = { readonly documents: Int32Array; readonly places: Int32Array };

/** Sorts documents and the places that belong to them, which rise before that. */
function sortTogether({ documents, places }: Placed): void {
  // Both as one number, which is exact for tens of millions of things.
  const span = (places.at(-1) ?? 0) + 1;
  const both = Float64Array.from(documents, (document, at) => document * span + (places[at] ?? 0));
  for (const [at, one] of both.toSorted().entries()) {
    documents[at] = Math.floor(one / span);
    places[at] = one % span;
  }
}

/** Never 0, which stands for no text. */
function hashOf(fields: readonly (readonly string[])[]): number {
  let hash = 0x811c9dc5;
  for (const terms of fields) {
    hash = Math.imul(hash ^ 0x100, 0x01000193);
    for (const term of terms) {
      for (let i = 0; i < term.length; i += 1) {
        hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
      }
      hash = Math.imul(hash ^ 0x20, 0x01000193);
    }
  }
  return hash >>> 0 || 1;
}
