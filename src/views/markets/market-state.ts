/**
 * The state in memory: the markets and the last 24 hours. It is a pure function of the facts applied
 * to it in chain order. Blocks above finality can be reverted.
 */

import { type ConditionId, type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Tick } from "../../market/candle.ts";
import type { Delta } from "../../market/delta.ts";
import type { LastTrade } from "../../market/market.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import type { CoveredFacts } from "../../storage/covered-facts.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { readDayTrades, readLastBlock } from "../../storage/read-day-trades.ts";
import { readDirectoryEvents } from "../../storage/read-directory-events.ts";
import {
  readFillPages,
  readHourSums,
  readTokenDays,
  readWalletMarks,
  type TokenDay,
} from "../../storage/read-hour-totals.ts";
import { readSupplies } from "../../storage/read-supplies.ts";
import { readTotals } from "../../storage/read-totals.ts";
import { DayWindow, dayWindowSeconds } from "../day/day-window.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { PlatformTotals, toDay } from "../stats/platform-totals.ts";
import type { View } from "../view.ts";
import { MarketDirectory } from "./market-directory.ts";
import { MetadataLedger } from "./metadata-ledger.ts";
import type { ProvenCondition } from "./venue-claims.ts";

/** Positions: `from` inclusive, `to` exclusive. */
type SeqRange = Range<Seq>;

type BlockTime = { readonly number: number; readonly timestamp: number };

export class MarketState implements View {
  readonly directory: MarketDirectory;
  readonly dayWindow: DayWindow;
  readonly platform: PlatformTotals;
  /** The venue's market metadata, and which markets it still has to be requested for. */
  readonly venue: MetadataLedger;
  readonly #journal: UndoLog;
  #revision = 0;
  readonly #stateStore: StateStore;
  /** The newest final block; `null` before the first. */
  #finalBlock: BlockTime | null = null;
  /** The blocks that a reorg can revert, oldest first. */
  #unfinalized: readonly BlockTime[] = [];

  /** Nothing happened before this block. */
  readonly genesisBlock: number;

  /** The state continues from what the state store contains. */
  constructor(contracts: Contracts, stateStore: StateStore) {
    this.genesisBlock = contracts.genesisBlock;
    this.#stateStore = stateStore;
    this.#journal = stateStore.journal;
    this.directory = new MarketDirectory(contracts, stateStore, (tokenId, ordinal) =>
      this.dayWindow.assignMarket(tokenId, ordinal),
    );
    this.dayWindow = new DayWindow(stateStore, this.directory.columns);
    this.platform = new PlatformTotals(stateStore);
    this.venue = new MetadataLedger(this, stateStore);
  }

  /** Rises with every change of what reads can find, or of how much of it is final. */
  get revision(): number {
    return this.#revision;
  }

  apply(delta: Delta): void {
    const { last } = delta;
    if (delta.block === null) {
      this.#apply(delta);
      this.#markFinal(last);
    } else {
      this.#journal.record(last.number, () => this.#apply(delta));
      this.#unfinalized = [...this.#unfinalized, last];
    }
  }

  revert(toBlock: number): void {
    this.#unfinalized = this.#unfinalized.filter(({ number }) => number <= toBlock);
    this.#revision += 1;
    if (this.#finalBlock === null && this.#unfinalized.length === 0)
      this.directory.firstBlock = null;
    this.#journal.revertTo(toBlock);
    this.dayWindow.removeFrom(toFirstSeq(toBlock + 1));
    this.dayWindow.moveTo((this.#unfinalized.at(-1) ?? this.#finalBlock)?.timestamp ?? 0);
  }

  finalize(toBlock: number): void {
    this.#revision += 1;
    const last = this.#unfinalized.findLast(({ number }) => number <= toBlock);
    this.#unfinalized = this.#unfinalized.filter(({ number }) => number > toBlock);
    if (last !== undefined) this.#markFinal(last);
  }

  /**
   * Loads with the same result as applying every block. The state is empty, or has everything up to and including
   * block `savedThrough` of its copy on disk.
   */
  async load({ engine }: CoveredFacts, coverage: Coverage): Promise<void> {
    const { last } = coverage;
    this.directory.firstBlock = coverage.fromBlock;
    const { savedThrough } = this.#stateStore;
    const through = savedThrough ?? (await this.#loadUntilDay(engine, last.timestamp));
    const fromBlock = Math.max(through + 1, coverage.fromBlock);
    const range = { from: toFirstSeq(fromBlock), to: firstSeqAbove(coverage) };
    this.dayWindow.resume(through, last.timestamp);
    if (range.from < range.to) {
      // The prices before the day come from the saved totals, so the totals of the range are added later.
      await settleAll([this.#loadDay(engine, range), this.#loadEvents(engine, range)]);
      await this.#loadTotals(engine, range);
      await this.#loadPlatform(engine, range);
    }
    this.dayWindow.finishLoading();
    this.#markFinal(last);
  }

  applyMetadata(conditionId: ConditionId, metadata: VenueMetadata): void {
    this.#revision += 1;
    this.#journal.amend(() => this.directory.applyMetadata(conditionId, metadata));
  }

  adopt(conditionId: ConditionId, proven: ProvenCondition, createdAt: number): void {
    this.#revision += 1;
    this.#journal.amend(() => this.directory.adopt(conditionId, proven, createdAt));
  }

  /** Marks all blocks up to and including `last` as final. */
  #markFinal(last: BlockTime): void {
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
    const { number } = this.#finalBlock;
    this.dayWindow.prepareSave();
    this.#journal.withoutRecorded(() => this.#stateStore.save(number));
  }

  /** The last price of a token's own trades before the last 24 hours; `null` without one. */
  priceBeforeDay(tokenId: TokenId): Tick | null {
    const before = this.dayWindow.priceBefore(tokenId);
    if (before !== undefined) return before;
    const last = this.lastTrade(tokenId);
    return last === null ? null : { seq: last.seq, price: last.price };
  }

  /** The last of a token's own trades that has a price; `null` without one. */
  lastTrade(tokenId: TokenId): LastTrade | null {
    return this.directory.getTotals(tokenId).lastTrade;
  }

  /** The ordinal of a token's market; `null` while the market is unknown. */
  getOrdinal(tokenId: TokenId): number | null {
    const slot = this.directory.getSlot(tokenId);
    return slot === null ? null : this.directory.getMarketOrdinal(slot.conditionId);
  }

  /** Without a copy, loads what a copy saved 24 hours ago would have. Returns its last block; -1 for none. */
  async #loadUntilDay(engine: Engine, newestTimestamp: number): Promise<number> {
    const through = await readLastBlock(engine, newestTimestamp - dayWindowSeconds);
    if (through === -1) return -1;
    const range = { from: toFirstSeq(0), to: toFirstSeq(through + 1) };
    await this.#loadEvents(engine, range);
    await this.#loadTotals(engine, range);
    await this.#loadPlatform(engine, range);
    return through;
  }

  async #loadDay(engine: Engine, range: SeqRange): Promise<void> {
    for await (const trades of readDayTrades(engine, range)) this.dayWindow.add(trades, this);
  }

  async #loadTotals(engine: Engine, range: SeqRange): Promise<void> {
    for await (const { tokenId, totals, firstSeq } of readTotals(engine, range)) {
      const first = { seq: firstSeq, timestamp: totals.firstTimestamp };
      this.directory.applyTotals(tokenId, totals, first);
    }
    const { contracts } = this.directory;
    if (!contracts.wallets) return;
    for await (const change of readSupplies(engine, range, contracts)) {
      this.directory.applySupplies([change]);
    }
  }

  async #loadPlatform(engine: Engine, range: SeqRange): Promise<void> {
    for (const page of await readFillPages(engine, range)) {
      this.platform.add(await readHourSums(engine, page));
      for (const mark of await readWalletMarks(engine, page)) this.platform.addWallet(mark);
      this.platform.addMarketDays(this.#toMarkets(await readTokenDays(engine, page)));
    }
  }

  async #loadEvents(engine: Engine, range: SeqRange): Promise<void> {
    for await (const event of readDirectoryEvents(engine, range)) this.directory.applyEvent(event);
  }

  /** Replaces tokens, of which equal ones follow each other, by the ordinals of their conditions, as far as known. */
  *#toMarkets(days: Iterable<TokenDay>) {
    let [last, ordinal]: [TokenId | null, number | null] = [null, null];
    for (const { tokenId, day, generation } of days) {
      if (tokenId !== last) {
        const slot = this.directory.getSlot(tokenId);
        last = tokenId;
        ordinal = slot === null ? null : this.directory.getOrdinal(slot.conditionId);
      }
      if (ordinal !== null) yield { ordinal, day, generation };
    }
  }

  #apply({ events, trades, supplies, fromBlock, last, tally }: Delta): void {
    this.#revision += 1;
    this.directory.firstBlock ??= fromBlock;
    // The window comes first, because the directory changes the last price.
    this.dayWindow.add(trades, this);
    for (const event of events) this.directory.applyEvent(event);
    this.directory.applyTrades(trades);
    this.directory.applySupplies(supplies);
    this.platform.add(tally.hours);
    const byToken = Map.groupBy(trades, ({ tokenId }) => tokenId).values();
    this.platform.addMarketDays(
      this.#toMarkets(
        byToken.flatMap((own) => own.map((one) => ({ ...one, day: toDay(one.timestamp) }))),
      ),
    );
    this.dayWindow.moveTo(last.timestamp);
  }
}
