/**
 * What the service knows in memory: the markets and the last 24 hours. A pure function of the facts
 * applied to it, in chain order; blocks above finality can be taken back.
 */
import { firstSeqOf, type TokenId } from "../base/ids.ts";
import type { Contracts } from "../decode/contracts.ts";
import { DayWindow } from "./day-window.ts";
import type { Digest } from "./digest.ts";
import { Journal } from "./journal.ts";
import { LastTrades } from "./last-trades.ts";
import { MarketDirectory } from "./market-directory.ts";
import type { Tick } from "./minute-candle.ts";

export class MarketState {
  readonly directory: MarketDirectory;
  readonly dayWindow = new DayWindow();
  readonly lastTrades = new LastTrades();
  readonly #journal = new Journal();
  #revision = 0;

  constructor(contracts: Contracts) {
    this.directory = new MarketDirectory(contracts, this.#journal);
  }

  /** Rises with every change. */
  get revision(): number {
    return this.#revision;
  }

  /** Applies the next blocks, which can never change; `last` is where they end. */
  applyFinal(digest: Digest, last: { readonly number: number; readonly timestamp: number }): void {
    this.#apply(digest, last.timestamp);
    this.settleThrough(last.number, last.timestamp);
  }

  /** Applies the next block, which a fork may still take back. */
  applyHeld(digest: Digest, last: { readonly number: number; readonly timestamp: number }): void {
    this.#journal.record(last.number, () => this.#apply(digest, last.timestamp));
  }

  /** Takes back every block above `safeBlock`, whose time is given. */
  unwindTo(safeBlock: number, timestamp: number): void {
    this.#revision += 1;
    this.#journal.unwindTo(safeBlock);
    this.dayWindow.removeFrom(firstSeqOf(safeBlock + 1));
    this.lastTrades.removeFrom(firstSeqOf(safeBlock + 1));
    this.dayWindow.moveTo(timestamp);
  }

  /** Says that the blocks up to and including `block`, of the given time, can never change. */
  settleThrough(block: number, timestamp: number): void {
    this.#journal.settleThrough(block);
    this.dayWindow.settle(timestamp);
  }

  /** The last price of a token's own trades before the last 24 hours; `null` without one. */
  priceBeforeDay(tokenId: TokenId): Tick | null {
    const before = this.dayWindow.priceBefore(tokenId);
    return before === undefined ? this.directory.totalsOf(tokenId).lastPrice : before;
  }

  #apply({ events, candles, trades, lastTrades }: Digest, timestamp: number): void {
    this.#revision += 1;
    // Before the candles, which change what the last price is.
    this.dayWindow.add(trades, (tokenId) => this.directory.totalsOf(tokenId).lastPrice);
    this.lastTrades.add(lastTrades);
    for (const event of events) this.directory.applyEvent(event);
    this.directory.applyCandles(candles);
    this.dayWindow.moveTo(timestamp);
  }
}
