/** Trades of a page, a power of two: what is made, and released, immediately is a megabyte. */
export const pageShift = 15;
export const pageTrades = 2 ** pageShift;

const two32 = 2 ** 32;

/** What every trade of a page is known by, at places that are filled one after the other. */
export class TradePage {
  readonly slots = new Int32Array(pageTrades);
  /** Micros. */
  readonly sizes = new AmountColumn();
  readonly values = new AmountColumn();
  /** 1 for a buy, else 0. */
  readonly buys = new Uint8Array(pageTrades);
  /** How many trades before and after it the nearest one of its token is; 0 for none. */
  readonly before = new Uint32Array(pageTrades);
  readonly after = new Uint32Array(pageTrades);
  /** Trades of the same second share it, and the position that theirs are counted from. */
  readonly #timestamps: number[] = [];
  readonly #starts: number[] = [];
  readonly #secondOf = new Uint16Array(pageTrades);
  readonly #behindStart = new Uint32Array(pageTrades);

  /** Says where and when a trade was made, when that is known of all before it. */
  setPlace(at: number, seq: number, timestamp: number): void {
    const before = at === 0 ? -1 : (this.#secondOf[at - 1] ?? 0);
    const behindStart = seq - (this.#starts[before] ?? 0);
    if (this.#timestamps[before] === timestamp && behindStart < two32) {
      this.#secondOf[at] = before;
      this.#behindStart[at] = behindStart;
      return;
    }
    // What comes behind is of trades that were taken away.
    this.#timestamps.length = before + 1;
    this.#starts.length = before + 1;
    this.#secondOf[at] = this.#starts.push(seq) - 1;
    this.#timestamps.push(timestamp);
    this.#behindStart[at] = 0;
  }

  seqAt(at: number): number {
    return (this.#starts[this.#secondOf[at] ?? 0] ?? 0) + (this.#behindStart[at] ?? 0);
  }

  timestampAt(at: number): number {
    return this.#timestamps[this.#secondOf[at] ?? 0] ?? 0;
  }
}

/** Stands in the upper half of amounts that are not held. */
const notUnfinalized = 0xffff;

/** Amounts from 0 to 281 million, in micros: 6 bytes each. */
class AmountColumn {
  readonly #lower = new Uint32Array(pageTrades);
  readonly #upper = new Uint16Array(pageTrades);

  /** `NaN` for what is not held. */
  get(at: number): number {
    const upper = this.#upper[at] ?? 0;
    return upper === notUnfinalized ? Number.NaN : upper * two32 + (this.#lower[at] ?? 0);
  }

  /** Takes in amounts from a place on; answers whether all are held. */
  setAll(at: number, amounts: Float64Array): boolean {
    let areUnfinalized = true;
    for (let i = 0; i < amounts.length; i += 1) {
      if (!this.set(at + i, amounts[i] ?? 0)) areUnfinalized = false;
    }
    return areUnfinalized;
  }

  /** Takes in an amount, which may be `NaN`; answers whether it is held. */
  set(at: number, amount: number): boolean {
    const isUnfinalized = amount >= 0 && amount < notUnfinalized * two32;
    this.#upper[at] = isUnfinalized ? amount / two32 : notUnfinalized;
    this.#lower[at] = amount;
    return isUnfinalized;
  }
}
