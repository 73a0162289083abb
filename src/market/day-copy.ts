/**
 * What a start needs to know of the last 24 hours besides the trades: from where on they are to be
 * read, and which price each token had before them, which may be as old as the chain.
 */
import { firstSeqOf, type Seq, type TokenId } from "../base/ids.ts";
import type { Column } from "./column.ts";
import type { DayWindow } from "./day-window.ts";
import type { Codec, Depot, Shelf } from "./depot.ts";
import type { Tick } from "./minute-candle.ts";

export class DayCopy {
  /** The last prices before the window of the tokens in it, those without one left out. */
  readonly #bases: Shelf<TokenId, Tick>;
  /** One number: the position from which on the trades were held. */
  readonly #start: Column<"f64">;
  /** Tokens that came from the copy as they are there. */
  readonly #unchanged = new Set<TokenId>();

  constructor(depot: Depot) {
    this.#bases = depot.shelf("day_bases", tickCodec);
    this.#start = depot.column("day_start", "f64");
  }

  /** The position from which on trades are needed to go on from the copy. */
  get firstSeq(): Seq {
    return this.#start.get(0) as Seq;
  }

  /**
   * The last price of a token before `firstSeq`; to be asked once for each token, while loading.
   * `lastPrice` is its last price of all as the copy has it: a token that was not in the window then
   * had none since.
   */
  baseOf(tokenId: TokenId, lastPrice: () => Tick | null): Tick | null {
    const base = this.#bases.get(tokenId);
    if (base !== undefined) {
      this.#unchanged.add(tokenId);
      return base;
    }
    const last = lastPrice();
    return last !== null && last.seq < this.firstSeq ? last : null;
  }

  /** Takes over what has changed in the window; often, as that costs as much as has changed. */
  follow(window: DayWindow): void {
    for (const [tokenId, base] of window.takeChangedBases()) {
      if (this.#unchanged.delete(tokenId)) continue;
      if (base === null) this.#bases.delete(tokenId);
      else this.#bases.set(tokenId, base);
    }
  }

  /** Makes it what the window is now, but for what the blocks above `settled` may still change. */
  finish(window: DayWindow, settled: number): void {
    this.follow(window);
    const next = firstSeqOf(settled + 1);
    this.#start.set(0, Math.min(window.firstSeq ?? next, next));
  }
}

const tickCodec: Codec<Tick> = {
  encode: ({ seq, price }) => `${seq},${price}`,
  decode: (text) => {
    const [seq, price] = text.split(",");
    return { seq: Number(seq) as Seq, price: BigInt(price ?? 0) };
  },
};
