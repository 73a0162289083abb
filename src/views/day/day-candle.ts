import { priceMicros } from "../../base/decimal.ts";
import type { Seq } from "../../base/ids.ts";
import type { Candle, Tick } from "../../market/candle.ts";
import type { DayTrade } from "../../market/fill.ts";

type Entry = Pick<DayTrade, "seq" | "size" | "value" | "side">;

/** The candle of a sliding window: trades enter at one end and leave at the other. A step takes constant time. */
export class DayCandle {
  readonly #highs = new ExtremeQueue((price, other) => price >= other);
  readonly #lows = new ExtremeQueue((price, other) => price <= other);
  #volume = 0n;
  #buyVolumeUsd = 0n;
  #sellVolumeUsd = 0n;
  #trades = 0;

  /** Adds a trade that is newer than all before. A trade without a price changes nothing. */
  add({ seq, size, value, side }: Entry): void {
    const price = priceMicros(value, size);
    if (price === null) return;
    this.#highs.push({ seq, price });
    this.#lows.push({ seq, price });
    this.#count({ size, value, side }, 1);
  }

  remove({ seq, size, value, side }: Entry): void {
    if (size === 0n) return;
    this.#highs.dropThrough(seq);
    this.#lows.dropThrough(seq);
    this.#count({ size, value, side }, -1);
  }

  /** Returns the candle with these first and last prices; `null` without them. */
  between([open, close]: readonly Tick[]): Candle | null {
    if (open === undefined || close === undefined) return null;
    return {
      open,
      close,
      high: this.#highs.first ?? open.price,
      low: this.#lows.first ?? open.price,
      volume: this.#volume,
      buyVolumeUsd: this.#buyVolumeUsd,
      sellVolumeUsd: this.#sellVolumeUsd,
      priceVolume: this.#buyVolumeUsd + this.#sellVolumeUsd,
      trades: this.#trades,
    };
  }

  #count({ size, value, side }: Omit<Entry, "seq">, sign: 1 | -1): void {
    const factor = BigInt(sign);
    this.#volume += factor * size;
    if (side === "BUY") this.#buyVolumeUsd += factor * value;
    else this.#sellVolumeUsd += factor * value;
    this.#trades += sign;
  }
}

/** Prices from oldest to newest, without those that a newer price beats. The first one is the extreme. */
class ExtremeQueue {
  #ticks: Tick[] = [];
  /** The index of the first price. Prices before it are gone, and are removed in batches. */
  #start = 0;
  readonly #isBetter: (price: bigint, other: bigint) => boolean;

  constructor(isBetter: (price: bigint, other: bigint) => boolean) {
    this.#isBetter = isBetter;
  }

  get first(): bigint | undefined {
    return this.#ticks[this.#start]?.price;
  }

  push(tick: Tick): void {
    for (;;) {
      const newest = this.#ticks.at(-1);
      if (newest === undefined || this.#ticks.length <= this.#start) break;
      if (!this.#isBetter(tick.price, newest.price)) break;
      this.#ticks.pop();
    }
    this.#ticks.push(tick);
  }

  dropThrough(seq: Seq): void {
    const oldest = this.#ticks[this.#start];
    if (oldest === undefined || oldest.seq > seq) return;
    this.#start += 1;
    if (this.#start * 2 <= this.#ticks.length) return;
    this.#ticks = this.#ticks.slice(this.#start);
    this.#start = 0;
  }
}
