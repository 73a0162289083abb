import { hexDigitFlags, hexDigitsAll } from "./parse-hex.ts";

/** Thrown where bytes are not as expected. One for all: it goes no further than `scan-logs.ts`. */
export const mismatch = new Error("bytes that are not as expected");

const quote = 0x22;
const prefix = 0x7830; // `0x`, as its bytes are read
/** As many hex digits are always a safe integer. */
const quantityDigitsMax = 13;
/**
 * A text of the whole answer would lie outside the young generation, and as garbage call for a
 * collection of the old one; one of so many bytes is moved, or let go, with what is cut from it.
 */
const windowBytes = 64 * 1024;

/** A text, and where in the bytes it stands. */
export type TextAt = { readonly text: string; readonly at: number };

/** Equals no text that stands anywhere. */
export const nothingBefore: TextAt = { text: "", at: 0 };

/**
 * A place in the bytes of an answer that moves over what it reads. Throws `mismatch` where the bytes
 * are not as asked for; hex is lower case here. Every log of a backfill comes by with a thousand
 * bytes, so four are looked at at once, and a text is a slice of a much longer one.
 */
export class LogBytes {
  /** The bytes from `#windowAt` on as text. */
  #window = "";
  #windowAt = 0;
  readonly #view: DataView;
  readonly #body: Buffer;
  #at: number;

  constructor(body: Buffer, at: number) {
    this.#view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    this.#body = body;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** The byte here; -1 at the end. */
  next(): number {
    const byte = this.#body[this.#at] ?? -1;
    this.#at += 1;
    return byte;
  }

  /** Moves over `literal`. */
  expect(literal: Uint8Array): void {
    if (!this.skip(literal)) throw mismatch;
  }

  /** Moves over `literal`, if it is what stands here. */
  skip(literal: Uint8Array): boolean {
    const body = this.#body;
    const at = this.#at;
    for (let index = 0; index < literal.length; index += 1) {
      if (body[at + index] !== literal[index]) return false;
    }
    this.#at = at + literal.length;
    return true;
  }

  /** A hex text of `length`, which is 2 more than a multiple of 4. */
  hex(length: number): string {
    const start = this.#at;
    const end = start + length;
    if (end > this.#body.length) throw mismatch;
    const view = this.#view;
    let good = view.getUint16(start, true) === prefix ? hexDigitsAll : 0;
    for (let at = start + 2; at < end; at += 4) good &= hexDigitFlags(view.getInt32(at, true));
    if (good !== hexDigitsAll) throw mismatch;
    this.#at = end;
    return this.#textOf(start, end);
  }

  /** The same, where it is most often what `before` is: then that is answered, and nothing new made. */
  known(length: number, before: TextAt): TextAt {
    const start = this.#at;
    if (!this.#repeats(length, before)) return { text: this.hex(length), at: start };
    this.#at = start + length;
    return before;
  }

  /** The same, where it is one of a few. They are told apart by their last digits. */
  oneOf(length: number, few: Map<number, TextAt>): string {
    const end = this.#at + length;
    if (end > this.#body.length) throw mismatch;
    const key = this.#view.getInt32(end - 4, true);
    const before = few.get(key);
    const one = this.known(length, before ?? nothingBefore);
    if (one !== before) few.set(key, one);
    return one.text;
  }

  /** Whether the bytes here are those of `before`. */
  #repeats(length: number, { text, at }: TextAt): boolean {
    const start = this.#at;
    if (text.length !== length || start + length > this.#body.length) return false;
    const view = this.#view;
    // The last digits first: they differ where others, as of addresses that begin with zeros, do not.
    for (let offset = length - 4; offset > 0; offset -= 4) {
      if (view.getInt32(start + offset, true) !== view.getInt32(at + offset, true)) return false;
    }
    return view.getUint16(start, true) === prefix;
  }

  /** Hex of whole bytes, up to the quote that ends it. */
  data(): string {
    const start = this.#at;
    const view = this.#view;
    const wordsEnd = this.#body.length - 4;
    let end = start + 2;
    if (end > wordsEnd || view.getUint16(start, true) !== prefix) throw mismatch;
    while (end <= wordsEnd && hexDigitFlags(view.getInt32(end, true)) === hexDigitsAll) end += 4;
    // Data of an event is whole words of the chain, and so ends here; other data need not.
    if (this.#body[end] !== quote) end = this.#endOfDigits(end);
    if (end % 2 !== start % 2) throw mismatch;
    this.#at = end;
    return this.#textOf(start, end);
  }

  #textOf(start: number, end: number): string {
    if (end > this.#windowAt + this.#window.length) {
      this.#windowAt = start;
      this.#window = this.#body.toString("latin1", start, Math.max(end, start + windowBytes));
    }
    return this.#window.slice(start - this.#windowAt, end - this.#windowAt);
  }

  #endOfDigits(from: number): number {
    let end = from;
    while (digitOf(this.#body[end]) !== -1) end += 1;
    return end;
  }

  /** A quantity that is surely a safe integer. */
  quantity(): number {
    const body = this.#body;
    let at = this.#at + 2;
    const digitsEnd = at + quantityDigitsMax;
    let value = 0;
    for (; at < digitsEnd; at += 1) {
      const digit = digitOf(body[at]);
      if (digit === -1) break;
      value = value * 16 + digit;
    }
    const hasDigits = at > this.#at + 2;
    if (!hasDigits || body[this.#at] !== 0x30 || body[this.#at + 1] !== 0x78) throw mismatch;
    this.#at = at;
    return value;
  }
}

function digitOf(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}
