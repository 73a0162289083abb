import { hexDigitFlags, hexDigitsAll, zeroDigits } from "./parse-hex.ts";
import type { StringTable } from "./string-table.ts";

/** Thrown where bytes are not as expected. One shared error is enough: `parse-body.ts` always catches it. */
export const mismatch = new Error("bytes that are not as expected");

const quote = 0x22;
const prefix = 0x7830; // the bytes of `0x`, read as a little-endian integer
/** A quantity of so many hex digits is always a safe integer. */
const quantityDigitsMax = 13;

/** An ASCII text as bytes, with its length: reading the length of a view costs a call. */
export type Literal = { readonly view: DataView; readonly length: number };

/** Encodes `text`, which must be ASCII. */
export function toLiteral(text: string): Literal {
  return { view: new DataView(new TextEncoder().encode(text).buffer), length: text.length };
}

/**
 * A cursor over the bytes of an answer. Throws `mismatch` where they are not as expected; hex must be lower case.
 * Compares eight bytes as one float, which needs no allocation. If one side is ASCII, two floats are equal only when
 * their bytes are.
 */
export class LogBytes {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  readonly #length: number;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#bytes = bytes;
    this.#length = bytes.length;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** Returns the byte at the cursor and moves over it; -1 at the end. */
  next(): number {
    const byte = this.#bytes[this.#at] ?? -1;
    this.#at += 1;
    return byte;
  }

  /** Moves over `literal`. */
  expect(literal: Literal): void {
    if (!this.skip(literal)) throw mismatch;
  }

  /** Moves over `literal` if it is at the cursor; returns whether it is. */
  skip({ view: expected, length }: Literal): boolean {
    const view = this.#view;
    const start = this.#at;
    if (start + length > this.#length) return false;
    let at = 0;
    for (; at <= length - 8; at += 8) {
      if (view.getFloat64(start + at, true) !== expected.getFloat64(at, true)) return false;
    }
    for (; at < length; at += 1) {
      if (view.getUint8(start + at) !== expected.getUint8(at)) return false;
    }
    this.#at = start + length;
    return true;
  }

  /** Moves over a hex text of `length`, which is 2 more than a multiple of 8. */
  skipHex(length: number): void {
    const start = this.#at;
    const end = start + length;
    if (end > this.#length) throw mismatch;
    const view = this.#view;
    let good = view.getUint16(start, true) === prefix ? hexDigitsAll : 0;
    for (let at = start + 2; at < end; at += 8) {
      if (view.getFloat64(at, true) === zeroDigits) continue;
      good &= hexDigitFlags(view.getInt32(at, true)) & hexDigitFlags(view.getInt32(at + 4, true));
    }
    if (good !== hexDigitsAll) throw mismatch;
    this.#at = end;
  }

  /** Reads a hex text as long as those in `table`. One that is in it needs no check of its digits. */
  readText(table: StringTable): string {
    const view = this.#view;
    const digitsAt = this.#at + 2;
    const end = digitsAt + table.digits;
    if (end > this.#length) throw mismatch;
    const hasPrefix = view.getUint16(this.#at, true) === prefix;
    const cached = hasPrefix ? table.find(view, digitsAt) : undefined;
    if (cached === undefined) this.skipHex(end - this.#at);
    this.#at = end;
    return cached ?? table.read(view, digitsAt);
  }

  /** Moves over the hex text of whole bytes, up to the quote that ends it. */
  skipData(): void {
    const start = this.#at;
    const view = this.#view;
    const wordsEnd = this.#length - 8;
    let end = start + 2;
    if (end > this.#length || view.getUint16(start, true) !== prefix) throw mismatch;
    for (; end <= wordsEnd; end += 8) {
      if (view.getFloat64(end, true) === zeroDigits) continue;
      const first = hexDigitFlags(view.getInt32(end, true));
      if ((first & hexDigitFlags(view.getInt32(end + 4, true))) !== hexDigitsAll) break;
    }
    // Event data usually consists of 32-byte words and ends here. Other data is read to its last digit.
    if (this.#bytes[end] !== quote) end = this.#endOfDigits(end);
    if (end % 2 !== start % 2) throw mismatch;
    this.#at = end;
  }

  #endOfDigits(from: number): number {
    let end = from;
    while (getDigit(this.#bytes[end]) !== -1) end += 1;
    return end;
  }

  /** Reads a quantity of at most 13 digits, which is always a safe integer. */
  readQuantity(): number {
    const bytes = this.#bytes;
    let at = this.#at + 2;
    const digitsEnd = at + quantityDigitsMax;
    let value = 0;
    for (; at < digitsEnd; at += 1) {
      const digit = getDigit(bytes[at]);
      if (digit === -1) break;
      value = value * 16 + digit;
    }
    const hasDigits = at > this.#at + 2;
    if (!hasDigits || bytes[this.#at] !== 0x30 || bytes[this.#at + 1] !== 0x78) throw mismatch;
    this.#at = at;
    return value;
  }
}

function getDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}
