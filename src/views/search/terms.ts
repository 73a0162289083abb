/**
 * The dictionary of an index: all terms of its texts, numbered in the order in which they were added.
 * Their bytes lie in one block, so that one scan finds the terms that contain a word. The block is
 * small: a million texts share far fewer words.
 */

import { assert } from "../../base/assert.ts";
import { lowerBound } from "../../base/lower-bound.ts";
import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";

/** How a term matches a word: it is the word, starts with it, or contains it elsewhere. */
export type MatchKind = "whole" | "start" | "within";

/** The terms that match a word, by how they match it. */
export type TermsByKind = Readonly<Record<MatchKind, Int32Array>>;

/** The byte that ends a term. No word contains it. */
const separator = 0;
const slotsMin = 1024;
/** Terms are chained by a hash of their first three bytes. There are 65,536 chains. */
const leadBytes = 3;
/** How many terms of a chain one call examines. Calls are short for the same reason as in `inChunks`. */
const chainedAtOnce = 1024;

export class Terms {
  readonly #bytes: Column<"u8">;
  /** Where the bytes of each term start; at the end, where those of the next term will. */
  readonly #starts: Column<"i32">;
  /** At 0 the number of terms, at 1 the number of slots. */
  readonly #count: Column<"f64">;
  /** A hash table with open addressing: term plus 1. Saved, because rebuilding it with millions of terms takes long. */
  readonly #slots: Column<"i32">;
  /** The newest term of each chain, plus 1. */
  readonly #leads: Column<"i32">;
  /** By term, the term before it in its chain, plus 1. */
  readonly #sameLead: Column<"i32">;

  constructor(stateStore: StateStore, name: string) {
    this.#bytes = stateStore.column(`${name}.terms`, "u8");
    this.#starts = stateStore.column(`${name}.starts`, "i32");
    this.#count = stateStore.column(`${name}.count`, "f64");
    this.#slots = stateStore.column(`${name}.slots`, "i32");
    this.#leads = stateStore.column(`${name}.leads`, "i32");
    this.#sameLead = stateStore.column(`${name}.same_lead`, "i32");
    if (this.#slotCount === 0) this.#makeSlots(slotsMin);
  }

  get size(): number {
    return this.#count.get(0);
  }

  /** A power of two. */
  get #slotCount(): number {
    return this.#count.get(1);
  }

  /** Returns the number of a term; `null` when it is not in the dictionary. */
  find(term: string): number | null {
    const bytes = Buffer.from(term);
    const entry = this.#slots.get(this.#getSlot(bytes));
    return entry === 0 ? null : entry - 1;
  }

  /** Returns the text of a term. */
  getText(term: number): string {
    const [start, next] = [this.#starts.get(term), this.#starts.get(term + 1)];
    return Buffer.from(this.#bytes.values.buffer, start, next - start - 1).toString();
  }

  /** Returns the number of a term. Adds the term if it is new. */
  add(term: string): number {
    const bytes = Buffer.from(term);
    const slot = this.#getSlot(bytes);
    const entry = this.#slots.get(slot);
    if (entry !== 0) return entry - 1;
    const id = this.size;
    const start = this.#starts.get(id);
    for (const [i, byte] of bytes.entries()) this.#bytes.set(start + i, byte);
    this.#bytes.set(start + bytes.length, separator);
    this.#starts.set(id + 1, start + bytes.length + 1);
    this.#count.set(0, id + 1);
    this.#slots.set(slot, id + 1);
    this.#chain(id);
    if (this.size * 3 > this.#slotCount * 2) this.#makeSlots(this.#slotCount * 2);
    return id;
  }

  /** Returns the terms that match a word by this kind or a better one. The word must not be empty. */
  withWord(word: string, kind: MatchKind): TermsByKind {
    assert(word !== "", "searches have no empty words");
    const requested = Buffer.from(word);
    const id = this.find(word);
    const whole = id === null ? none : Int32Array.of(id);
    const found = { whole, start: none, within: none };
    if (kind === "whole") return found;
    if (kind === "within") return { ...found, ...this.#within(requested) };
    return {
      ...found,
      start:
        requested.length < leadBytes ? this.#startingShort(requested) : this.#starting(requested),
    };
  }

  /** Returns the longer terms that start with `wanted`. Each term of the chain takes some nanoseconds. */
  #starting(requested: Uint8Array): Int32Array {
    const found: number[] = [];
    const first = this.#leads.get(getLead(requested, 0)) - 1;
    for (let id = first; id >= 0; ) id = this.#startingFrom(id, requested, found);
    return new Int32Array(found);
  }

  /** Walks a part of a chain. Returns the term where the next part begins; below 0 at the end of the chain. */
  #startingFrom(first: number, requested: Uint8Array, found: number[]): number {
    const [bytes, starts] = [this.#bytes.values, this.#starts.values];
    const sameLead = this.#sameLead.values;
    const { length } = requested;
    let id = first;
    for (let remaining = chainedAtOnce; remaining > 0 && id >= 0; remaining -= 1) {
      const start = starts[id] ?? 0;
      let same = 0;
      while (same < length && bytes[start + same] === requested[same]) same += 1;
      if (same === length && bytes[start + length] !== separator) found.push(id);
      id = (sameLead[id] ?? 0) - 1;
    }
    return id;
  }

  /** Scans all terms for a prefix of one or two bytes, with which many terms start anyway. */
  #startingShort(requested: Uint8Array): Int32Array {
    const found: number[] = [];
    inChunks(this.size, (step) => this.#startingAmong(step, requested, found));
    return new Int32Array(found);
  }

  /** Scans a chunk of the terms for a prefix of one or two bytes. Returns the size of the chunk. */
  #startingAmong({ from, to }: Chunk, requested: Uint8Array, found: number[]): number {
    const [bytes, starts] = [this.#bytes.values, this.#starts.values];
    const [first, second] = requested;
    for (let id = from; id < to; id += 1) {
      const start = starts[id] ?? 0;
      if (bytes[start] !== first) continue;
      if (second !== undefined && bytes[start + 1] !== second) continue;
      if (bytes[start + requested.length] !== separator) found.push(id);
    }
    return to - from;
  }

  #within(requested: Buffer): { start: Int32Array; within: Int32Array } {
    const end = this.#starts.get(this.size);
    const text = Buffer.from(this.#bytes.values.buffer, 0, end);
    const starts = this.#starts.values;
    const start: number[] = [];
    const within: number[] = [];
    let term = 0;
    for (let at = text.indexOf(requested); at !== -1; ) {
      term = this.#termAt(at, term);
      const next = starts[term + 1] ?? end;
      if (at !== starts[term]) within.push(term);
      else if (next !== at + requested.length + 1) start.push(term);
      at = text.indexOf(requested, next);
    }
    return { start: new Int32Array(start), within: new Int32Array(within) };
  }

  /** Adds a term to its chain. Shorter terms are in none: no prefix of three bytes matches them. */
  #chain(id: number): void {
    const [start, next] = [this.#starts.get(id), this.#starts.get(id + 1)];
    if (next - start - 1 < leadBytes) return;
    const lead = getLead(this.#bytes.values, start);
    this.#sameLead.set(id, this.#leads.get(lead));
    this.#leads.set(lead, id + 1);
  }

  /** Returns the term that a byte belongs to, at or after `from`: doubles its steps, then bisects. */
  #termAt(position: number, from: number): number {
    const starts = this.#starts.values;
    let step = 1;
    while (from + step < this.size && (starts[from + step] ?? 0) <= position) step *= 2;
    const [low, end] = [from + (step >>> 1), Math.min(from + step, this.size)];
    return low + lowerBound(end - low, (index) => (starts[low + index] ?? 0) <= position) - 1;
  }

  /** Returns the slot of a term, or the empty slot where it would go. */
  #getSlot(term: Uint8Array): number {
    const slots = this.#slots.values;
    const mask = this.#slotCount - 1;
    let slot = getHash(term, 0, term.length) & mask;
    for (;;) {
      const entry = slots[slot] ?? 0;
      if (entry === 0 || this.#isTerm(entry - 1, term)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isTerm(id: number, term: Uint8Array): boolean {
    const bytes = this.#bytes.values;
    const start = this.#starts.get(id);
    if (this.#starts.get(id + 1) !== start + term.length + 1) return false;
    for (let i = 0; i < term.length; i += 1) if (bytes[start + i] !== term[i]) return false;
    return true;
  }

  #makeSlots(count: number): void {
    this.#count.set(1, count);
    this.#slots.reserve(count);
    const slots = this.#slots.values.fill(0);
    const bytes = this.#bytes.values;
    const starts = this.#starts.values;
    for (let id = 0; id < this.size; id += 1) {
      const [start = 0, next = 0] = [starts[id], starts[id + 1]];
      let slot = getHash(bytes, start, next - 1) & (count - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (count - 1);
      slots[slot] = id + 1;
    }
    this.#slots.touch(0, count - 1);
  }
}

const none = new Int32Array(0);

/** Hashes bytes with FNV-1a, which is simple and good enough for words. */
function getHash(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Returns the chain of the terms that start with the three bytes at `at`. */
function getLead(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  const lead = Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1);
  return lead >>> 16;
}
