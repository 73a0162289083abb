const prefix = "0x";
/** 2^32 divided by the golden ratio, for Fibonacci hashing: multiples of it spread well over the upper bits. */
const spread = 0x9e3779b1;

/**
 * A cache of ids as strings, found by their digits in a log, so that repeated ids make no garbage. A new id replaces
 * the one with the same place.
 */
export class StringTable {
  /** The text of each place. */
  readonly #texts: (string | undefined)[];
  /** The texts as bytes, to compare with the bytes of logs. */
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #digits: number;
  readonly #shift: number;

  /** `digits` is the number of hex digits of an id, a multiple of 8. The table has 2^`placeBits` places. */
  constructor({ digits, placeBits }: { readonly digits: number; readonly placeBits: number }) {
    const places = 2 ** placeBits;
    this.#texts = Array.from({ length: places });
    this.#bytes = Buffer.alloc(places * (prefix.length + digits));
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    this.#digits = digits;
    this.#shift = 32 - placeBits;
  }

  /** Returns `0x` and the digits that begin at `start`, as one string for equal ids while it is cached. */
  read(view: DataView, start: number): string {
    const digits = this.#digits;
    const place = Math.imul(view.getUint32(start + digits - 4, true), spread) >>> this.#shift;
    const at = place * (prefix.length + digits);
    const known = this.#texts[place];
    if (known !== undefined && this.#isSame(view, start, at + prefix.length)) return known;
    this.#copy(view, start, at + prefix.length);
    const text = this.#bytes.toString("latin1", at, at + prefix.length + digits);
    this.#texts[place] = text;
    return text;
  }

  /** Compares the digits as floats of eight bytes (see `LogBytes` in `chain/parse/log-bytes.ts`). */
  #isSame(view: DataView, start: number, at: number): boolean {
    const known = this.#view;
    for (let offset = this.#digits - 8; offset >= 0; offset -= 8) {
      const float = known.getFloat64(at + offset, true);
      if (view.getFloat64(start + offset, true) !== float) return false;
    }
    return true;
  }

  #copy(view: DataView, start: number, at: number): void {
    this.#bytes.write(prefix, at - prefix.length, "latin1");
    for (let offset = 0; offset < this.#digits; offset += 8) {
      this.#view.setFloat64(at + offset, view.getFloat64(start + offset, true), true);
    }
  }
}
