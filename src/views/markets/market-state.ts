/**
 * The state in memory: the markets and the last 24 hours. It is a pure function of the facts applied
 * to it in chain order. Blocks above finality can be reverted.
 */
import { type ConditionId, firstSeqOf, type TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Delta } from "../../market/delta.ts";
import type { Tick } from "../../market/minute-candle.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import type { CoveredFacts } from "../../storage/covered-facts.ts";
import type { Coverage } from "../../storage/recover.ts";
import { DayWindow } from "../day/day-window.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import type { View } from "../view.ts";
import { loadMarketState } from "./load-market-state.ts";
import { MarketDirectory } from "./market-directory.ts";
import { MetadataLedger } from "./metadata-ledger.ts";

type Place = { readonly number: number; readonly timestamp: number };

export class MarketState implements View {
  readonly directory: MarketDirectory;
  readonly dayWindow: DayWindow;
  /** The venue's market metadata, and which markets it still has to be requested for. */
  readonly venue: MetadataLedger;
  readonly #journal: UndoLog;
  #revision = 0;
  readonly #stateStore: StateStore;
  /** The newest final block; `null` before the first. */
  #finalBlock: Place | null = null;
  /** The blocks that a reorg can revert, oldest first. */
  #unfinalized: readonly Place[] = [];

  /** The state continues from what the state store contains. */
  constructor(contracts: Contracts, stateStore: StateStore) {
    this.#stateStore = stateStore;
    this.#journal = stateStore.journal;
    this.directory = new MarketDirectory(contracts, stateStore, (tokenId, ordinal) =>
      this.dayWindow.place(tokenId, ordinal),
    );
    this.dayWindow = new DayWindow(stateStore, this.directory.columns);
    this.venue = new MetadataLedger(this, stateStore);
    // A copy excludes unfinalized blocks, but its day window can still refer to markets of theirs.
    this.#forgetUnknownMarkets();
  }

  /** The last block of the copy on disk from which the state has started; `null` without a copy. */
  get savedThrough(): number | null {
    return this.#stateStore.savedThrough;
  }

  get revision(): number {
    return this.#revision;
  }

  apply(delta: Delta): void {
    const { last } = delta;
    if (delta.isFinal) {
      this.#apply(delta);
      this.markFinal(last);
    } else {
      this.#journal.record(last.number, () => this.#apply(delta));
      this.#unfinalized = [...this.#unfinalized, last];
    }
  }

  revert(toBlock: number): void {
    this.#unfinalized = this.#unfinalized.filter(({ number }) => number <= toBlock);
    this.#revision += 1;
    this.#journal.revertTo(toBlock);
    this.dayWindow.removeFrom(firstSeqOf(toBlock + 1));
    this.#forgetUnknownMarkets();
    this.dayWindow.moveTo((this.#unfinalized.at(-1) ?? this.#finalBlock)?.timestamp ?? 0);
  }

  finalize(toBlock: number): void {
    const last = this.#unfinalized.findLast(({ number }) => number <= toBlock);
    this.#unfinalized = this.#unfinalized.filter(({ number }) => number > toBlock);
    if (last !== undefined) this.markFinal(last);
  }

  /** Loads an empty state, or one that continues from its copy on disk. */
  load(facts: CoveredFacts, coverage: Coverage): Promise<void> {
    return loadMarketState(facts, coverage, this);
  }

  applyMetadata(conditionId: ConditionId, metadata: VenueMetadata): void {
    this.#revision += 1;
    this.#journal.amend(() => this.directory.applyMetadata(conditionId, metadata));
  }

  /** Marks all blocks up to and including `last` as final. */
  markFinal(last: Place): void {
    this.#journal.finalizeThrough(last.number);
    this.dayWindow.finalize(last.timestamp);
    this.#finalBlock = last;
    this.saveIfDue();
  }

  /** Saves the state unless it was saved recently. */
  saveIfDue(): void {
    if (this.#stateStore.isDue) this.save();
  }

  /** Saves the state as of the newest final block. Unfinalized blocks are undone while it is saved. */
  save(): void {
    if (this.#finalBlock === null) return;
    const { number, timestamp } = this.#finalBlock;
    this.dayWindow.prepareSave(timestamp);
    this.#journal.withoutRecorded(() => this.#stateStore.save(number));
  }

  /** The last price of a token's own trades before the last 24 hours; `null` without one. */
  priceBeforeDay(tokenId: TokenId): Tick | null {
    const before = this.dayWindow.priceBefore(tokenId);
    return before === undefined ? this.lastTick(tokenId) : before;
  }

  /** The last price of a token's own trades; `null` without one. */
  lastTick(tokenId: TokenId): Tick | null {
    const { lastTrade } = this.directory.totalsOf(tokenId);
    return lastTrade === null ? null : { seq: lastTrade.seq, price: lastTrade.price };
  }

  /** The ordinal of a token's market; `null` while the market is unknown. */
  ordinalOf(tokenId: TokenId): number | null {
    const place = this.directory.placeOf(tokenId);
    return place === null ? null : this.directory.ordinalOf(place.conditionId);
  }

  #forgetUnknownMarkets(): void {
    this.dayWindow.forgetMarketsFrom(this.directory.columns.count);
  }

  #apply({ events, candles, trades, lastTrades, last }: Delta): void {
    this.#revision += 1;
    // Trades come before candles, because candles change the last price.
    this.dayWindow.add(trades, this);
    for (const event of events) this.directory.applyEvent(event);
    this.directory.applyCandles(candles, lastTrades);
    this.dayWindow.moveTo(last.timestamp);
  }
}
