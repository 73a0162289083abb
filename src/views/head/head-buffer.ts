import { assert } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { Address, TokenId } from "../../base/ids.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { BlockFacts, LocatedEvent } from "../../market/block-facts.ts";
import type { Delta } from "../../market/delta.ts";
import { type Fill, type Trade, toTrades } from "../../market/fill.ts";
import type { LedgerRow } from "../../market/ledger/ledger-row.ts";
import { deriveMinuteCandles, type MinuteCandle, toMinute } from "../../market/minute-candle.ts";
import type { CoveredFacts } from "../../storage/covered-facts.ts";
import { readOpenMinute } from "../../storage/stored-fills.ts";
import type { View } from "../view.ts";

/**
 * The blocks above finality, in memory, oldest first and without gaps. A reorg replaces blocks here, never
 * in storage. Bounded: a chain source stops adding blocks when finality lags too far.
 *
 * Also the final trades of the open minute, in which the coverage ends. The engine has them too, but only earlier
 * minutes are complete there. Candles take the open minute from here and earlier ones from the engine, so that an append
 * between the two reads is not counted twice.
 */
export class HeadBuffer implements View {
  #blocks: readonly BlockFacts[] = [];
  #openTrades: readonly Trade[] = [];
  #reorgs = 0;
  /** Computed once between two changes, and shared by all reads. */
  #gathered: {
    fills?: readonly Fill[];
    minutes?: readonly MinuteCandle[];
    byToken?: ReadonlyMap<TokenId, readonly Fill[]>;
    ledger?: ReadonlyMap<Address, readonly LedgerRow[]>;
  } = {};

  get blocks(): readonly BlockFacts[] {
    return this.#blocks;
  }

  get newest(): BlockFacts | null {
    return this.#blocks.at(-1) ?? null;
  }

  /** Adds the next unfinalized block. Final ranges only come while there are no unfinalized blocks. */
  apply({ block, trades, last }: Delta): void {
    const newest = this.#blocks.at(-1);
    if (block === null) {
      assert(newest === undefined, "nothing is stored below unfinalized blocks");
      return this.#addFinal(trades, last.timestamp);
    }
    assert(
      newest === undefined || block.number === newest.number + 1,
      "the head buffer grows one block at a time",
    );
    assert(
      this.#blocks.length < storeLimits.headBufferBlocksMax,
      "the chain source waits long before there are so many blocks",
    );
    this.#change([...this.#blocks, block]);
  }

  get reorgs(): number {
    return this.#reorgs;
  }

  revert(toBlock: number): void {
    this.#change(this.through(toBlock));
    this.#reorgs += 1;
  }

  above(block: number): readonly BlockFacts[] {
    return this.#blocks.filter((candidate) => candidate.number > block);
  }

  /** The blocks up to and including `block`. */
  through(block: number): readonly BlockFacts[] {
    return this.#blocks.filter((candidate) => candidate.number <= block);
  }

  /** Forgets the blocks up to and including `toBlock`: the store has them now. */
  finalize(toBlock: number): void {
    const final = this.through(toBlock);
    const trades = toTrades(final.flatMap((block) => block.fills));
    this.#addFinal(trades, final.at(-1)?.timestamp ?? 0);
    this.#change(this.above(toBlock));
  }

  /** Adds the trades of final blocks of which the last one has this timestamp. */
  #addFinal(trades: readonly Trade[], timestamp: number): void {
    const openFrom = toMinute(timestamp);
    this.#openTrades = [...this.#openTrades, ...trades].filter(
      (trade) => trade.timestamp >= openFrom,
    );
    this.#gathered = {};
  }

  #change(blocks: readonly BlockFacts[]): void {
    this.#blocks = blocks;
    this.#gathered = {};
  }

  /** Loads the open minute. Unfinalized blocks are not stored, and come again from the chain. */
  async load({ engine }: CoveredFacts, coverage: Coverage): Promise<void> {
    this.#openTrades = toTrades(await readOpenMinute(engine, coverage));
  }

  fills(): readonly Fill[] {
    this.#gathered.fills ??= this.#blocks.flatMap((block) => block.fills);
    return this.#gathered.fills;
  }

  getCount(tokenId: TokenId): number {
    this.#gathered.byToken ??= Map.groupBy(this.fills(), (fill) => fill.tokenId);
    return this.#gathered.byToken.get(tokenId)?.length ?? 0;
  }

  /** The candles of the open minute and of the unfinalized blocks. */
  minutes(): readonly MinuteCandle[] {
    const trades = () => [...this.#openTrades, ...toTrades(this.fills())];
    this.#gathered.minutes ??= deriveMinuteCandles(trades());
    return this.#gathered.minutes;
  }

  /** The unfinalized rows of a wallet's ledger, in order. */
  getLedger(wallet: Address): readonly LedgerRow[] {
    this.#gathered.ledger ??= Map.groupBy(
      this.#blocks.flatMap((block) => block.ledger),
      (row) => row.wallet,
    );
    const rows = this.#gathered.ledger.get(wallet) ?? [];
    return rows.toSorted((one, other) => one.seq - other.seq || one.sub - other.sub);
  }

  events(): readonly LocatedEvent[] {
    return this.#blocks.flatMap((block) => block.events);
  }
}
