import { priceMicros } from "../base/decimal.ts";
import type { Seq } from "../base/ids.ts";
import { grown } from "./grown.ts";
import type { Tick } from "./minute-candle.ts";
import type { TradeColumns } from "./trade-queue.ts";

/** Position, size and value stand side by side. */
const width = 3;

/** The last trade of each slot that has a price, kept as it came: few of the prices are ever asked for. */
export class LastPriced {
  #numbers = new Float64Array(0);
  /** By slot, prices of trades whose amounts are no safe integers. */
  readonly #large = new Map<number, bigint>();

  /** Takes note of a trade, which is newer than those before; answers whether it has a price. */
  note(slot: number, trades: TradeColumns, index: number): boolean {
    const size = trades.sizes[index] ?? 0;
    if (size === 0) return false;
    if (Number.isNaN(size)) {
      const exact = trades.exactAt(index);
      const price = priceMicros(BigInt(exact.value), BigInt(exact.size));
      if (price === null) return false;
      this.#large.set(slot, price);
    }
    const at = slot * width;
    if (at + width > this.#numbers.length) this.#numbers = grown(this.#numbers, at + width);
    this.#numbers[at] = trades.seqs[index] ?? 0;
    this.#numbers[at + 1] = size;
    this.#numbers[at + 2] = trades.values[index] ?? 0;
    return true;
  }

  has(slot: number): boolean {
    return (this.#numbers[slot * width] ?? 0) !== 0;
  }

  tickOf(slot: number): Tick | null {
    const at = slot * width;
    const [seq = 0, size = 0, value = 0] = this.#numbers.subarray(at, at + width);
    if (seq === 0) return null;
    const price = Number.isNaN(size)
      ? (this.#large.get(slot) ?? null)
      : priceMicros(BigInt(value), BigInt(size));
    return price === null ? null : { seq: seq as Seq, price };
  }
}
