import type { Hash, Seq } from "../../base/ids.ts";
import { type LastTrade, lastTradeOf } from "../../market/last-trade.ts";
import type { QueuedTrade, StoredTrades } from "../day/trade-queue.ts";
import { grown } from "../disk/grown.ts";

/** By slot: position, time, size and value; and the words of the hash of the transaction, and the side. */
const numbersWidth = 4;
const hashWords = 8;
const wordsWidth = hashWords + 1;

/** The last trade of each slot that has a price, as columns: few of them are ever asked for. */
export class LastTrades {
  #numbers = new Float64Array(0);
  #words = new Uint32Array(0);
  /** By slot, amounts that are no safe integers. */
  readonly #large = new Map<number, Pick<QueuedTrade, "size" | "value">>();

  /** Takes note of a trade, which is newer than those before; answers whether it has a price. */
  note(slot: number, trades: StoredTrades, index: number): boolean {
    const size = trades.sizes[index] ?? 0;
    if (size === 0) return false;
    if (Number.isNaN(size)) {
      const exact = trades.exactAt(index);
      if (BigInt(exact.size) === 0n) return false;
      this.#large.set(slot, exact);
    }
    const at = slot * numbersWidth;
    if (at + numbersWidth > this.#numbers.length) this.#grow(slot + 1);
    this.#numbers[at] = trades.seqs[index] ?? 0;
    this.#numbers[at + 1] = trades.timestamps[index] ?? 0;
    this.#numbers[at + 2] = size;
    this.#numbers[at + 3] = trades.values[index] ?? 0;
    const wordsAt = slot * wordsWidth;
    for (let word = 0; word < hashWords; word += 1) {
      this.#words[wordsAt + word] = trades.txHashes[index * hashWords + word] ?? 0;
    }
    this.#words[wordsAt + hashWords] = trades.buys[index] ?? 0;
    return true;
  }

  has(slot: number): boolean {
    return (this.#numbers[slot * numbersWidth] ?? 0) !== 0;
  }

  tradeOf(slot: number): LastTrade | null {
    if (!this.has(slot)) return null;
    const at = slot * numbersWidth;
    const [seq = 0, timestamp = 0, size = 0, value = 0] = this.#numbers.subarray(at);
    const exact = Number.isNaN(size) ? this.#large.get(slot) : { size, value };
    const hash = this.#words.slice(slot * wordsWidth, slot * wordsWidth + hashWords);
    return lastTradeOf({
      seq: seq as Seq,
      timestamp,
      size: BigInt(exact?.size ?? 0),
      value: BigInt(exact?.value ?? 0),
      side: this.#words[slot * wordsWidth + hashWords] === 1 ? "BUY" : "SELL",
      txHash: `0x${Buffer.from(hash.buffer).toString("hex")}` as Hash,
    });
  }

  #grow(slots: number): void {
    this.#numbers = grown(this.#numbers, slots * numbersWidth);
    const words = new Uint32Array((this.#numbers.length / numbersWidth) * wordsWidth);
    words.set(this.#words);
    this.#words = words;
  }
}
