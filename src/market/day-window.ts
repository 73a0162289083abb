/**
 * The trades of the last 24 hours of chain time, exact to the second: `(now - 24 h, now]`, where
 * now is the time of the newest block. Time can go back when a fork takes blocks away, so trades
 * that have left the window are kept until their leaving is final.
 *
 * Every step costs as much as the trades that enter or leave in it.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Candle } from "./candle.ts";
import { DayCandle } from "./day-candle.ts";
import type { DayTrade } from "./day-trade.ts";
import type { Tick } from "./minute-candle.ts";

export const dayWindowSeconds = 86_400;

/** Sums of a token's own trades within the window, trades without a price included. Micros. */
export type DayVolume = {
  readonly trades: number;
  readonly volumeUsd: bigint;
  readonly volumeShares: bigint;
};

const noVolume: DayVolume = { trades: 0, volumeUsd: 0n, volumeShares: 0n };
/** Departed entries are cut off in chunks this large, so that cutting costs nothing on average. */
const departedMax = 16_384;

/** One token's trades in order, of which those from `first` on are within the window. */
type TokenDay = {
  entries: DayTrade[];
  first: number;
  volume: DayVolume;
  /** The last price before the entries. */
  base: Tick | null;
  /** Made when it is asked for, kept up while time goes on, dropped when it goes back. */
  candle: DayCandle | null;
};

export class DayWindow {
  #entries: DayTrade[] = [];
  /** Index of the oldest entry within the window. */
  #first = 0;
  readonly #tokens = new Map<TokenId, TokenDay>();
  #now = 0;
  #changed = new Set<TokenId>();
  #changedBases = new Set<TokenId>();

  /** The tokens whose volume within the window has changed since this was last asked. */
  takeChanged(): Set<TokenId> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** The position from which on all trades are held; `null` when none is. */
  get firstSeq(): Seq | null {
    return this.#entries[0]?.seq ?? null;
  }

  /**
   * The tokens whose last price before `firstSeq` may have changed since this was last asked, with
   * that price: `null` without one, and when nothing of the token is held.
   */
  takeChangedBases(): ReadonlyMap<TokenId, Tick | null> {
    const changed = this.#changedBases;
    this.#changedBases = new Set();
    return new Map([...changed].map((id) => [id, this.#tokens.get(id)?.base ?? null]));
  }

  /** Unix seconds at which the window ends. */
  get now(): number {
    return this.#now;
  }

  /**
   * Takes in trades that are newer than all before. `lastPriceOf` tells the last price of a token
   * before them; it is asked for tokens of which the window holds nothing.
   */
  add(trades: readonly DayTrade[], lastPriceOf: (tokenId: TokenId) => Tick | null): void {
    for (const trade of trades) {
      this.#entries.push(trade);
      const { tokenId } = trade;
      const day = this.#tokens.get(tokenId) ?? this.#begin(tokenId, lastPriceOf(tokenId));
      day.entries.push(trade);
      day.volume = withEntry(day.volume, trade, 1);
      day.candle?.add(trade);
      this.#changed.add(tokenId);
    }
  }

  /** Takes back all trades at or above `seq`. */
  removeFrom(seq: Seq): void {
    for (;;) {
      const newest = this.#entries.at(-1);
      if (newest === undefined || newest.seq < seq) return;
      this.#entries.pop();
      const wasWithin = this.#first <= this.#entries.length;
      this.#first = Math.min(this.#first, this.#entries.length);
      const day = this.#dayOf(newest.tokenId);
      day.entries.pop();
      day.first = Math.min(day.first, day.entries.length);
      if (wasWithin) day.volume = withEntry(day.volume, newest, -1);
      day.candle = null;
      if (day.entries.length === 0) this.#end(newest.tokenId);
      this.#changed.add(newest.tokenId);
    }
  }

  /** Moves the end of the window; forwards in normal life, backwards after a fork. */
  moveTo(now: number): void {
    this.#now = now;
    const start = now - dayWindowSeconds;
    for (;;) {
      const leaving = this.#entries[this.#first];
      if (leaving === undefined || leaving.timestamp > start) break;
      this.#shift(leaving, 1);
    }
    for (;;) {
      const returning = this.#entries[this.#first - 1];
      if (returning === undefined || returning.timestamp <= start) break;
      this.#shift(returning, -1);
    }
  }

  /** Says that time will never go back before `finalNow`, so that older trades can be forgotten. */
  settle(finalNow: number): void {
    const start = finalNow - dayWindowSeconds;
    if (this.#first < departedMax) return;
    const kept = this.#entries.findIndex((entry) => entry.timestamp > start);
    const departed = Math.min(kept === -1 ? this.#entries.length : kept, this.#first);
    const tokens = new Set(this.#entries.slice(0, departed).map((entry) => entry.tokenId));
    this.#entries = this.#entries.slice(departed);
    this.#first -= departed;
    for (const tokenId of tokens) this.#forget(tokenId, start);
  }

  /** What was traded of a token, told as its own trades only. */
  volumeOf(tokenId: TokenId): DayVolume {
    return this.#tokens.get(tokenId)?.volume ?? noVolume;
  }

  /** The candle of a token's own trades within the window; `null` when none had a price. */
  candleOf(tokenId: TokenId): Candle | null {
    const day = this.#tokens.get(tokenId);
    if (day === undefined) return null;
    const { entries, first } = day;
    if (day.candle === null) {
      day.candle = new DayCandle();
      for (const entry of entries.slice(first)) day.candle.add(entry);
    }
    return day.candle.between(firstTick(entries, first), lastTick(entries, first));
  }

  /**
   * The last price of a token before the window; `undefined` when the window knows of no trade of
   * it, so that its very last price is the one.
   */
  priceBefore(tokenId: TokenId): Tick | null | undefined {
    const day = this.#tokens.get(tokenId);
    if (day === undefined) return undefined;
    return lastTick(day.entries, 0, day.first) ?? day.base;
  }

  #shift(entry: DayTrade, step: 1 | -1): void {
    const day = this.#dayOf(entry.tokenId);
    this.#first += step;
    day.first += step;
    day.volume = withEntry(day.volume, entry, step === 1 ? -1 : 1);
    if (step === 1) day.candle?.remove(entry);
    else day.candle = null;
    this.#changed.add(entry.tokenId);
  }

  #forget(tokenId: TokenId, start: number): void {
    const day = this.#dayOf(tokenId);
    const kept = day.entries.findIndex((entry) => entry.timestamp > start);
    if (kept === -1) {
      this.#end(tokenId);
      return;
    }
    this.#changedBases.add(tokenId);
    day.base = lastTick(day.entries, 0, kept) ?? day.base;
    day.entries = day.entries.slice(kept);
    day.first -= kept;
  }

  #begin(tokenId: TokenId, base: Tick | null): TokenDay {
    const day = newDay(base);
    this.#tokens.set(tokenId, day);
    this.#changedBases.add(tokenId);
    return day;
  }

  #end(tokenId: TokenId): void {
    this.#tokens.delete(tokenId);
    this.#changedBases.add(tokenId);
  }

  #dayOf(tokenId: TokenId): TokenDay {
    return this.#tokens.get(tokenId) ?? newDay(null);
  }
}

function withEntry(volume: DayVolume, { size, value }: DayTrade, sign: 1 | -1): DayVolume {
  const factor = BigInt(sign);
  return {
    trades: volume.trades + sign,
    volumeUsd: volume.volumeUsd + factor * value,
    volumeShares: volume.volumeShares + factor * size,
  };
}

function newDay(base: Tick | null): TokenDay {
  return { entries: [], first: 0, volume: noVolume, base, candle: null };
}

/** Where a trade was made and at which price; `null` when it has none. */
function tickOf(entry: DayTrade | undefined): Tick | null {
  if (entry === undefined) return null;
  const price = priceMicros(entry.value, entry.size);
  return price === null ? null : { seq: entry.seq, price };
}

/** The first price from an index on; few trades have none. */
function firstTick(entries: readonly DayTrade[], from: number): Tick | null {
  for (let i = from; i < entries.length; i += 1) {
    const tick = tickOf(entries[i]);
    if (tick !== null) return tick;
  }
  return null;
}

/** The last price among the entries from one index to before another. */
function lastTick(entries: readonly DayTrade[], from: number, to = entries.length): Tick | null {
  for (let i = to - 1; i >= from; i -= 1) {
    const tick = tickOf(entries[i]);
    if (tick !== null) return tick;
  }
  return null;
}
