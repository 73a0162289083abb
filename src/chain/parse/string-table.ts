const prefix = "0x";
/** 2^32 divided by the golden ratio, for Fibonacci hashing: multiples of it spread well over the upper bits. */
const spread = 0x9e3779b1;

/**
 * A cache of ids as strings, found by their digits in a log, so that repeated ids make no garbage. A new id replaces
 * the one with the same slot.
 */
export class StringTable {
  readonly #texts: (string | undefined)[];
  /** The texts as bytes, to compare with the bytes of logs. */
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly digits: number;
  readonly #shift: number;

  /** `digits` is the number of hex digits of an id, a multiple of 8. The table has 2^`slotBits` slots. */
  constructor({ digits, slotBits }: { readonly digits: number; readonly slotBits: number }) {
    const slots = 2 ** slotBits;
    this.#texts = Array.from({ length: slots });
    this.#bytes = Buffer.alloc(slots * (prefix.length + digits));
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    this.digits = digits;
    this.#shift = 32 - slotBits;
  }

  /** Returns `0x` and the digits that begin at `start`, if it is cached. */
  find(view: DataView, start: number): string | undefined {
    const slot = this.#getSlot(view, start);
    const cached = this.#texts[slot];
    return cached !== undefined && this.#isAt(slot, view, start) ? cached : undefined;
  }

  /** Returns `0x` and the digits that begin at `start`, as one string for equal ids while it is cached. */
  read(view: DataView, start: number): string {
    return this.find(view, start) ?? this.#add(view, start);
  }

  #getSlot(view: DataView, start: number): number {
    return Math.imul(view.getUint32(start + this.digits - 4, true), spread) >>> this.#shift;
  }

  /** Compares the digits as floats of eight bytes (see `LogBytes`). */
  #isAt(slot: number, view: DataView, start: number): boolean {
    const cached = this.#view;
    const at = slot * (prefix.length + this.digits) + prefix.length;
    for (let offset = this.digits - 8; offset >= 0; offset -= 8) {
      const float = cached.getFloat64(at + offset, true);
      if (view.getFloat64(start + offset, true) !== float) return false;
    }
    return true;
  }

  #add(view: DataView, start: number): string {
    const slot = this.#getSlot(view, start);
    const at = slot * (prefix.length + this.digits);
    this.#bytes.write(prefix, at, "latin1");
    const digitsAt = at + prefix.length;
    for (let offset = 0; offset < this.digits; offset += 8) {
      this.#view.setFloat64(digitsAt + offset, view.getFloat64(start + offset, true), true);
    }
    const text = this.#bytes.toString("latin1", at, digitsAt + this.digits);
    this.#texts[slot] = text;
    return text;
  }
}
