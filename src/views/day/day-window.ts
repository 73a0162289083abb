/**
 * The trades of the last 24 hours of chain time, exact to the second: `(now - 24 h, now]`, where
 * now is the time of the newest block. A reorg can set time back, so trades that have left the window
 * are kept until it is final that they have left.
 *
 * The cost of a step is proportional to the trades that enter or leave in it.
 */
import { type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import type { Candle, Tick } from "../../market/candle.ts";
import type { DayTrade } from "../../market/fill.ts";
import { type Column, readId, writeId } from "../disk/column.ts";
import { type Amount, ExactColumn } from "../disk/exact-column.ts";
import type { StateStore } from "../disk/state-store.ts";
import { DayCandle } from "./day-candle.ts";
import { getTick, type TradedAmounts, TradeQueue } from "./trade-queue.ts";

export const dayWindowSeconds = 86_400;

/** Sums of a token's own trades within the window, including trades without a price. Micros. */
export type DayVolume = { readonly trades: number; readonly volumeUsd: bigint };

/** What is known of a token that is new to the window: its last priced trade, and the ordinal of its market. */
export type KnownTokens = {
  lastTrade(tokenId: TokenId): TradedAmounts | null;
  getOrdinal(tokenId: TokenId): number | null;
};

/** Sums over the tokens of each market, by ordinal. Lists of markets are ordered by them. Each start rebuilds them. */
type MarketSums = {
  readonly dayVolumeUsd: Column<"f64">;
  readonly dayTrades: Column<"f64">;
  /** 1 for markets whose trades within the window, or whose last trade before it, have changed. */
  readonly isDayStale: Column<"u8">;
};

const noVolume: DayVolume = { trades: 0, volumeUsd: 0n };

export class DayWindow {
  readonly #trades: TradeQueue;
  /** The number of the oldest trade within the window; the next number when there is none. */
  #first: number;
  readonly #tokens: DayTokens;
  /** By slot: the number of the newest trade; 0 for none. */
  readonly #newestBySlot: Column<"f64">;
  /** By slot: the number of the oldest trade within the window; 0 for none. */
  readonly #firstBySlot: Column<"f64">;
  /** By slot: the count and value of the trades within the window. */
  readonly #count: Column<"f64">;
  readonly #usd: ExactColumn;
  readonly #marketTrades: Column<"f64">;
  readonly #marketUsd: ExactColumn;
  readonly #isMarketStale: Column<"u8">;
  /** Candles by slot: built when requested, updated while time advances, dropped when it goes back. */
  readonly #candles = new Map<number, DayCandle>();
  /** `#first`, as `prepareSave` writes it. */
  readonly #savedFirst: Column<"f64">;
  #now = 0;

  /** The window continues from what the state store contains, after a call of `resume`. */
  constructor(stateStore: StateStore, markets: MarketSums) {
    this.#tokens = new DayTokens(stateStore);
    this.#trades = new TradeQueue(stateStore);
    this.#newestBySlot = stateStore.column("day.newest", "f64");
    this.#firstBySlot = stateStore.column("day.first", "f64");
    this.#count = stateStore.column("day.count", "f64");
    this.#usd = ExactColumn.open(stateStore, "day.usd");
    this.#savedFirst = stateStore.column("day.saved", "f64");
    this.#first = Math.max(this.#savedFirst.get(0), this.#trades.oldest);
    this.#marketTrades = markets.dayTrades;
    this.#marketUsd = new ExactColumn(markets.dayVolumeUsd);
    this.#isMarketStale = markets.isDayStale;
    for (const slot of this.#tokens.slots) this.#addAllToMarket(slot, 1);
  }

  /** Unix seconds at which the window ends. */
  get now(): number {
    return this.#now;
  }

  /**
   * Continues from what the state store contains of the blocks up to and including `through`, for a window that ends
   * at `now`, the time of a final block. The trades above `through` have to be loaded.
   */
  resume(through: number, now: number): void {
    this.removeFrom(toFirstSeq(through + 1));
    this.moveTo(now);
    this.finalize(now);
  }

  /** Adds trades that are newer than all before. */
  add(trades: Iterable<DayTrade>, states: KnownTokens): void {
    for (const trade of trades) {
      const { tokenId } = trade;
      let slot = this.#tokens.find(tokenId);
      if (slot === -1) {
        slot = this.#tokens.begin(tokenId, states.lastTrade(tokenId), states.getOrdinal(tokenId));
      }
      if (trade.timestamp > this.#now - dayWindowSeconds) this.#push(slot, trade);
      else this.#tokens.setBase(slot, trade);
      this.#addToMarket(slot, 0, 0);
    }
  }

  /** Sets the market of a token. Ignores tokens that the window does not have. */
  assignMarket(tokenId: TokenId, ordinal: number): void {
    const slot = this.#tokens.find(tokenId);
    // Setting an unchanged ordinal would cause it to be saved again.
    if (slot === -1 || this.#tokens.getOrdinal(slot) === ordinal) return;
    this.#addAllToMarket(slot, -1);
    this.#tokens.setOrdinal(slot, ordinal);
    this.#addAllToMarket(slot, 1);
  }

  /** Ends loading: forgets the tokens that were not traded in the window. */
  finishLoading(): void {
    for (const slot of this.#tokens.slots) {
      if (this.#newestBySlot.get(slot) === 0) this.#tokens.end(slot);
    }
  }

  removeFrom(seq: Seq): void {
    const trades = this.#trades;
    for (;;) {
      const newest = trades.next - 1;
      if (newest < trades.oldest || trades.toSeq(newest) < seq) return;
      const slot = trades.getSlot(newest);
      this.#addToMarket(slot, 0, 0);
      if (newest >= this.#first) this.#sum(newest, -1);
      if (this.#firstBySlot.get(slot) === newest) this.#firstBySlot.set(slot, 0);
      this.#candles.delete(slot);
      this.#newestBySlot.set(slot, trades.getBefore(newest));
      trades.pop();
      this.#first = Math.min(this.#first, trades.next);
      if (this.#newestBySlot.get(slot) === 0) this.#end(slot);
    }
  }

  /** Moves the end of the window: forwards, or backwards after a reorg. */
  moveTo(now: number): void {
    this.#now = now;
    const trades = this.#trades;
    const start = now - dayWindowSeconds;
    while (this.#first < trades.next && trades.getTimestamp(this.#first) <= start) {
      this.#leave(this.#first);
      this.#first += 1;
    }
    while (this.#first > trades.oldest && trades.getTimestamp(this.#first - 1) > start) {
      this.#first -= 1;
      this.#return(this.#first);
    }
  }

  /** Forgets the trades that can never be in the window again: time will not go back before `finalNow`. */
  finalize(finalNow: number): void {
    const trades = this.#trades;
    const start = finalNow - dayWindowSeconds;
    while (trades.oldest < this.#first && trades.getTimestamp(trades.oldest) <= start) {
      const slot = trades.getSlot(trades.oldest);
      if (this.#newestBySlot.get(slot) === trades.oldest) this.#end(slot);
      else this.#tokens.setBase(slot, trades.getAmounts(trades.oldest));
      trades.shift();
    }
  }

  /** Records what the next start needs besides the columns. */
  prepareSave(): void {
    this.#trades.prepareSave();
    this.#savedFirst.set(0, this.#first);
  }

  /** The sums of a token's own trades within the window. */
  getVolume(tokenId: TokenId): DayVolume {
    const slot = this.#tokens.find(tokenId);
    if (slot === -1) return noVolume;
    return { trades: this.#count.get(slot), volumeUsd: BigInt(this.#usd.get(slot)) };
  }

  /** The first and the last price of a token's own trades within the window; none when none had a price. */
  getEnds(tokenId: TokenId): readonly Tick[] {
    const slot = this.#tokens.find(tokenId);
    const first = slot === -1 ? null : this.#tickFrom(this.#firstBySlot.get(slot), "getAfter");
    const last = first && this.#tickFrom(this.#newestBySlot.get(slot), "getBefore");
    return first && last ? [first, last] : [];
  }

  /** The candle of a token's own trades within the window; `null` when none had a price. */
  getCandle(tokenId: TokenId): Candle | null {
    const slot = this.#tokens.find(tokenId);
    if (slot === -1) return null;
    const first = this.#firstBySlot.get(slot);
    let candle = this.#candles.get(slot);
    if (candle === undefined) {
      candle = new DayCandle();
      for (let at = first; at !== 0; at = this.#trades.getAfter(at)) candle.add(this.#entryAt(at));
      this.#candles.set(slot, candle);
    }
    return candle.between(this.getEnds(tokenId));
  }

  /** The last price of a token before the window, `null` without one; `undefined` when the window has no such token. */
  priceBefore(tokenId: TokenId): Tick | null | undefined {
    const slot = this.#tokens.find(tokenId);
    if (slot === -1) return undefined;
    const first = this.#firstBySlot.get(slot);
    const last = first === 0 ? this.#newestBySlot.get(slot) : this.#trades.getBefore(first);
    return this.#tickFrom(last, "getBefore") ?? this.#tokens.getBase(slot);
  }

  #push(slot: number, trade: DayTrade): void {
    const number = this.#trades.push(slot, trade, this.#newestBySlot.get(slot));
    this.#newestBySlot.set(slot, number);
    if (this.#firstBySlot.get(slot) === 0) this.#firstBySlot.set(slot, number);
    this.#sum(number, 1);
    if (this.#candles.size > 0) this.#candles.get(slot)?.add(this.#entryAt(number));
  }

  /** Takes the oldest trade out of the window. */
  #leave(number: number): void {
    const slot = this.#trades.getSlot(number);
    this.#firstBySlot.set(slot, this.#trades.getAfter(number));
    this.#sum(number, -1);
    this.#candles.get(slot)?.remove(this.#entryAt(number));
  }

  #return(number: number): void {
    const slot = this.#trades.getSlot(number);
    this.#firstBySlot.set(slot, number);
    this.#sum(number, 1);
    this.#candles.delete(slot);
  }

  #sum(number: number, sign: 1 | -1): void {
    const trades = this.#trades;
    const slot = trades.getSlot(number);
    const usd = signed(trades.getAmounts(number).value, sign);
    this.#count.set(slot, this.#count.get(slot) + sign);
    this.#usd.add(slot, usd);
    this.#addToMarket(slot, sign, usd);
  }

  /** Adds the sums of a token to those of its market, or subtracts them. */
  #addAllToMarket(slot: number, sign: 1 | -1): void {
    this.#addToMarket(slot, sign * this.#count.get(slot), signed(this.#usd.get(slot), sign));
  }

  #addToMarket(slot: number, trades: number, usd: Amount): void {
    const ordinal = this.#tokens.getOrdinal(slot);
    if (ordinal === -1) return;
    this.#isMarketStale.set(ordinal, 1);
    if (trades === 0) return;
    this.#marketTrades.set(ordinal, this.#marketTrades.get(ordinal) + trades);
    this.#marketUsd.add(ordinal, usd);
  }

  /** Forgets a token that has no trade any more. */
  #end(slot: number): void {
    this.#addAllToMarket(slot, -1);
    for (const numbers of [this.#newestBySlot, this.#firstBySlot, this.#count])
      numbers.set(slot, 0);
    this.#usd.set(slot, 0);
    this.#candles.delete(slot);
    this.#tokens.end(slot);
  }

  #entryAt(number: number) {
    const { seq, size, value } = this.#trades.getAmounts(number);
    const side = this.#trades.getSide(number);
    return { seq, size: BigInt(size), value: BigInt(value), side };
  }

  /** The first price of a token that is found from one of its trades on. Few trades have no price. */
  #tickFrom(number: number, next: "getAfter" | "getBefore"): Tick | null {
    for (let at = number; at !== 0; at = this.#trades[next](at)) {
      const tick = this.#trades.getTick(at);
      if (tick !== null) return tick;
    }
    return null;
  }
}

function signed(amount: Amount, sign: 1 | -1): Amount {
  return sign === 1 ? amount : -amount;
}

/**
 * The tokens that were traded within a day, by slot: the market of each, and its last priced trade before those in the
 * window. That trade can be as old as the chain, so both are saved for the next start.
 */
class DayTokens {
  readonly #ids: Column<"u8">;
  readonly #slots = new Map<TokenId, number>();
  /** 1 for a slot in use. A token keeps its slot until `end`, which frees the slot for another token. */
  readonly #taken: Column<"u8">;
  readonly #free: number[] = [];
  #length: number;
  /** The ordinal of the token's market, plus 1; 0 before the market is known. A reorg does not change it. */
  readonly #ordinals: Column<"i32">;
  /** The position of the last priced trade before the window, 0 without one, and its amounts in micros. */
  readonly #baseSeqs: Column<"f64">;
  readonly #baseSizes: ExactColumn;
  readonly #baseValues: ExactColumn;

  constructor(stateStore: StateStore) {
    this.#ids = stateStore.column("day.ids", "u8");
    this.#taken = stateStore.column("day.taken", "u8");
    this.#ordinals = stateStore.column("day.ordinals", "i32");
    this.#baseSeqs = stateStore.column("day.base_seqs", "f64");
    this.#baseSizes = ExactColumn.open(stateStore, "day.base_sizes");
    this.#baseValues = ExactColumn.open(stateStore, "day.base_values");
    this.#length = this.#taken.values.lastIndexOf(1) + 1;
    for (let slot = 0; slot < this.#length; slot += 1) {
      if (this.#taken.get(slot) === 0) this.#free.push(slot);
      else this.#slots.set(this.tokenIdAt(slot), slot);
    }
  }

  get slots(): readonly number[] {
    return [...this.#slots.values()];
  }

  /** The slot of a token; -1 when it has none. */
  find(tokenId: TokenId): number {
    return this.#slots.get(tokenId) ?? -1;
  }

  tokenIdAt(slot: number): TokenId {
    return readId(this.#ids, slot) as TokenId;
  }

  /** Assigns a slot to a token that has none. `base` is its last trade before the window. Returns the slot. */
  begin(tokenId: TokenId, base: TradedAmounts | null, ordinal: number | null): number {
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    writeId(this.#ids, slot, tokenId);
    this.#slots.set(tokenId, slot);
    this.#taken.set(slot, 1);
    this.#baseSeqs.set(slot, 0);
    if (base !== null) this.setBase(slot, base);
    this.setOrdinal(slot, ordinal ?? -1);
    return slot;
  }

  end(slot: number): void {
    this.#slots.delete(this.tokenIdAt(slot));
    this.#taken.set(slot, 0);
    this.#free.push(slot);
  }

  /** The ordinal of a token's market; -1 before the market is known. */
  getOrdinal(slot: number): number {
    return this.#ordinals.get(slot) - 1;
  }

  setOrdinal(slot: number, ordinal: number): void {
    this.#ordinals.set(slot, ordinal + 1);
  }

  getBase(slot: number): Tick | null {
    const seq = this.#baseSeqs.get(slot) as Seq;
    const [size, value] = [this.#baseSizes.get(slot), this.#baseValues.get(slot)];
    return seq === 0 ? null : getTick({ seq, size, value });
  }

  /** Sets the last trade before the window. Ignores a trade without a price. */
  setBase(slot: number, { seq, size, value }: TradedAmounts): void {
    if (size <= 0) return;
    this.#baseSeqs.set(slot, seq);
    this.#baseSizes.set(slot, size);
    this.#baseValues.set(slot, value);
  }
}
