/**
 * What the service knows in memory: the markets and the last 24 hours. A pure function of the facts
 * applied to it, in chain order; blocks above finality can be taken back.
 */
import { firstSeqOf } from "../base/ids.ts";
import type { Contracts } from "../decode/contracts.ts";
import type { BlockFacts } from "./block-facts.ts";
import { DayWindow } from "./day-window.ts";
import { Journal } from "./journal.ts";
import { MarketDirectory } from "./market-directory.ts";
import { deriveMinuteCandles } from "./minute-candle.ts";

export class MarketState {
  readonly directory: MarketDirectory;
  readonly dayWindow = new DayWindow();
  readonly #journal = new Journal();

  constructor(contracts: Contracts) {
    this.directory = new MarketDirectory(contracts, this.#journal);
  }

  /** Applies the next block, which can never change. */
  applyFinal(block: BlockFacts): void {
    this.#apply(block);
    this.settleThrough(block.number, block.timestamp);
  }

  /** Applies the next block, which a fork may still take back. */
  applyHeld(block: BlockFacts): void {
    this.#journal.record(block.number, () => this.#apply(block));
  }

  /** Moves chain time on over blocks that hold nothing of ours. */
  moveTo(timestamp: number): void {
    this.dayWindow.moveTo(timestamp);
  }

  /** Takes back every block above `safeBlock`, whose time is given. */
  unwindTo(safeBlock: number, timestamp: number): void {
    this.#journal.unwindTo(safeBlock);
    this.dayWindow.removeFrom(firstSeqOf(safeBlock + 1));
    this.dayWindow.moveTo(timestamp);
  }

  /** Says that the blocks up to and including `block`, of the given time, can never change. */
  settleThrough(block: number, timestamp: number): void {
    this.#journal.settleThrough(block);
    this.dayWindow.settle(timestamp);
  }

  #apply(block: BlockFacts): void {
    for (const event of block.events) this.directory.applyEvent(event);
    this.directory.applyCandles(deriveMinuteCandles(block.fills));
    this.dayWindow.add(block.fills);
    this.dayWindow.moveTo(block.timestamp);
  }
}
