/** Compares the window of a day with one that keeps all trades and sums them each time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { naiveCandles } from "../../../test/support/naive-candles.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { type TokenId, toFirstSeq, toSeq, toTokenId } from "../../base/ids.ts";
import { type Fill, isTrade } from "../../market/fill.ts";
import { Column, type ColumnKind } from "../disk/column.ts";
import type { StateTable } from "../disk/state-store.ts";
import { type DayVolume, DayWindow, dayWindowSeconds } from "./day-window.ts";

const tokenIds = [1n, 2n, 3n].map(toTokenId);

/** A step of the test: a block, reverted blocks, blocks that become final, or a restart. */
type Step =
  | {
      readonly kind: "block";
      readonly secondsLater: number;
      readonly trades: readonly Trade[];
      /** How often the trades are repeated, so that one step can add many. */
      readonly times: number;
    }
  | { readonly kind: "revert"; readonly blocks: number }
  | { readonly kind: "settle"; readonly lag: number }
  | { readonly kind: "restart"; readonly secondsLater: number };
type Trade = {
  readonly token: number;
  readonly isTrade: boolean;
  readonly isBuy: boolean;
  readonly size: bigint;
  readonly value: bigint;
};

const anyTrade: fc.Arbitrary<Trade> = fc.record({
  token: fc.nat(tokenIds.length - 1),
  isTrade: fc.boolean(),
  isBuy: fc.boolean(),
  size: anyAmount(0n),
  value: anyAmount(-2n),
});

/** Mostly small amounts, and amounts that are not safe integers, or whose sums are not. */
function anyAmount(min: bigint): fc.Arbitrary<bigint> {
  const large = [2n ** 52n, 2n ** 53n, 10n ** 30n];
  return fc.oneof(
    { weight: 8, arbitrary: fc.bigInt({ min, max: 5n }) },
    { weight: 1, arbitrary: fc.constantFrom(...large) },
  );
}

const anySeconds = fc.oneof(
  fc.nat(3),
  fc.nat(30_000),
  fc.constantFrom(dayWindowSeconds - 1, dayWindowSeconds, dayWindowSeconds + 1),
);
const anyBlock = fc.record({
  kind: fc.constant("block" as const),
  secondsLater: anySeconds,
  trades: fc.array(anyTrade, { maxLength: 4 }),
  times: fc.constant(1),
});
const anyStep = fc.oneof(
  { weight: 5, arbitrary: anyBlock },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("revert" as const), blocks: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("settle" as const), lag: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("restart" as const), secondsLater: anySeconds }),
  },
);
const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(anyStep, { maxLength: 30 });

/** Two tokens belong to one market. The market of the third token becomes known after its first trade. */
const getMarket = (tokenId: TokenId) => tokenIds.indexOf(tokenId) >> 1;
const directory = {
  lastTrade: () => null,
  getOrdinal: (tokenId: TokenId) => (getMarket(tokenId) === 0 ? 0 : null),
};

/** A state store that a later window can open again. */
class SavedState extends MemoryStateStore {
  readonly #columns = new Map<string, { readonly kind: ColumnKind; readonly column: Column }>();
  readonly #tables = new Map<string, Map<unknown, unknown>>();

  override column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind> {
    const column = new Column(kind);
    this.#columns.set(name, { kind, column });
    return column;
  }

  override table<Key extends string, Value>(name: string): StateTable<Key, Value> {
    const table = (this.#tables.get(name) ?? new Map()) as Map<Key, Value>;
    this.#tables.set(name, table);
    return table;
  }

  reopened(): SavedState {
    const next = new SavedState();
    for (const [name, { kind, column }] of this.#columns) {
      const block = column.values.buffer.slice();
      next.#columns.set(name, { kind, column: new Column(kind, block) });
    }
    for (const [name, table] of this.#tables) next.#tables.set(name, new Map(table));
    next.column = <Kind extends ColumnKind>(name: string) =>
      next.#columns.get(name)?.column as Column<Kind>;
    return next;
  }
}

/** The window, and the remaining blocks from which the expected sums are computed. */
class Comparison {
  #stateStore = new SavedState();
  #markets = marketSums();
  window = new DayWindow(this.#stateStore, this.#markets);
  #blocks: { readonly timestamp: number; readonly fills: readonly Fill[] }[] = [
    { timestamp: 1_000_000, fills: [] },
  ];
  #settled = 0;

  constructor() {
    this.window.moveTo(this.#getTime(0));
  }

  take(step: Step): void {
    switch (step.kind) {
      case "block":
        return this.#addBlock(step);
      case "revert":
        return this.#revert(step.blocks);
      case "settle":
        this.#settled = Math.max(this.#settled, this.#blocks.length - 1 - step.lag);
        this.window.finalize(this.#getTime(this.#settled));
        return;
      case "restart":
        return this.#restart(step.secondsLater);
    }
  }

  assertEqual(): void {
    const now = this.#getTime(this.#blocks.length - 1);
    const within = this.#blocks
      .flatMap((block) => block.fills)
      .filter((fill) => fill.timestamp > now - dayWindowSeconds);
    assert.equal(this.window.now, now);
    for (const tokenId of tokenIds) {
      const own = within.filter((fill) => fill.tokenId === tokenId && fill.role !== "taker");
      assert.deepEqual(this.window.getVolume(tokenId), getVolume(own));
      const bucketSeconds = Number.MAX_SAFE_INTEGER;
      const candles = naiveCandles(own, { same: [tokenId], inverted: [], bucketSeconds });
      assert.deepEqual(this.window.getCandle(tokenId), candles.get(0) ?? null);
    }
    for (const [ordinal, fills] of byMarket(within)) {
      const { trades, volumeUsd } = getVolume(fills);
      assert.equal(this.#markets.dayTrades.get(ordinal), trades);
      assert.equal(this.#markets.dayVolumeUsd.get(ordinal), Number(volumeUsd));
    }
  }

  #addBlock({ secondsLater, trades, times }: Extract<Step, { kind: "block" }>): void {
    const number = this.#blocks.length;
    const timestamp = this.#getTime(number - 1) + secondsLater;
    const repeated = Array.from({ length: times }, () => trades).flat();
    const fills = repeated.map((trade, index) =>
      getFill(trade, { seq: toSeq(number, index), timestamp }),
    );
    this.#blocks.push({ timestamp, fills });
    this.window.add(fills.filter(isTrade), directory);
    for (const tokenId of tokenIds) {
      this.window.assignMarket(tokenId, getMarket(tokenId));
      // A candle is kept up to date once it was requested.
      this.window.getCandle(tokenId);
    }
    this.window.moveTo(timestamp);
  }

  /** Restarts from a copy. One more block has come meanwhile, and all blocks are final. */
  #restart(secondsLater: number): void {
    this.window.prepareSave();
    this.#blocks.push({
      timestamp: this.#getTime(this.#blocks.length - 1) + secondsLater,
      fills: [],
    });
    this.#stateStore = this.#stateStore.reopened();
    this.#markets = marketSums();
    this.window = new DayWindow(this.#stateStore, this.#markets);
    const now = this.#getTime(this.#blocks.length - 1);
    this.window.resume(this.#settled, now);
    const fills = this.#blocks.slice(this.#settled + 1).flatMap((block) => block.fills);
    this.window.add(fills.filter(isTrade), directory);
    for (const tokenId of tokenIds) this.window.assignMarket(tokenId, getMarket(tokenId));
    this.window.finishLoading();
    this.#settled = this.#blocks.length - 1;
    this.window.finalize(now);
  }

  #revert(blocks: number): void {
    const kept = Math.max(this.#settled + 1, this.#blocks.length - blocks);
    this.#blocks = this.#blocks.slice(0, kept);
    this.window.removeFrom(toFirstSeq(kept));
    this.window.moveTo(this.#getTime(kept - 1));
  }

  #getTime(number: number): number {
    return this.#blocks[number]?.timestamp ?? 0;
  }
}

function getFill(trade: Trade, place: Pick<Fill, "seq" | "timestamp">): Fill {
  const { token, isTrade, isBuy, size, value } = trade;
  const amounts = { size, value, side: isBuy ? "BUY" : "SELL", role: isTrade ? "maker" : "taker" };
  return { ...place, ...amounts, tokenId: tokenIds[token] } as Fill;
}

function marketSums() {
  const column = () => new Column("f64");
  return { dayTrades: column(), dayVolumeUsd: column(), isDayStale: new Column("u8") };
}

/** The trades of each market, including markets without a trade. */
function byMarket(fills: readonly Fill[]): ReadonlyMap<number, readonly Fill[]> {
  const trades = fills.filter((fill) => fill.role !== "taker");
  return new Map(
    tokenIds
      .map(getMarket)
      .map((ordinal) => [ordinal, trades.filter(({ tokenId }) => getMarket(tokenId) === ordinal)]),
  );
}

function getVolume(fills: readonly Fill[]): DayVolume {
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
  return { trades: fills.length, volumeUsd: sum(fills.map((fill) => fill.value)) };
}

describe("the day window", () => {
  test("equals the naive window after any blocks, reorgs and finalizations", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const comparison = new Comparison();
        for (const step of steps) {
          comparison.take(step);
          comparison.assertEqual();
        }
      }),
      propertySettings(500),
    );
  });

  test("equals the naive window after thousands of trades have expired and are dropped", () => {
    // Many trades in one block, and final blocks a day later.
    const many = fc.array(anyTrade, { minLength: 3, maxLength: 4 }).map((trades): Step => {
      const certain = trades.map((trade) => ({ ...trade, isTrade: true }));
      return { kind: "block", secondsLater: 1, trades: certain, times: 6000 };
    });
    const dayLater = fc
      .record({ seconds: fc.integer({ min: -2, max: 2 }), trades: fc.array(anyTrade) })
      .map(({ seconds, trades }): readonly Step[] => [
        { kind: "block", secondsLater: dayWindowSeconds + seconds, trades, times: 1 },
        { kind: "settle", lag: 0 },
      ]);
    const long = fc
      .tuple(anySteps, many, anySteps, dayLater, anySteps)
      .map((parts) => parts.flat());
    fc.assert(
      fc.property(long, (steps) => {
        const comparison = new Comparison();
        for (const step of steps) comparison.take(step);
        comparison.assertEqual();
      }),
      propertySettings(60),
    );
  });

  test("excludes a trade of exactly 24 hours ago, and includes it again when time moves back", () => {
    const window = new DayWindow(new MemoryStateStore(), marketSums());
    const trade = { token: 0, isTrade: true, isBuy: true, size: 4n, value: 2n };
    const [tokenId] = tokenIds as [TokenId];
    window.add([getFill(trade, { seq: toSeq(1, 0), timestamp: 100 })], directory);
    window.moveTo(100 + dayWindowSeconds - 1);
    assert.equal(window.getVolume(tokenId).trades, 1);
    window.moveTo(100 + dayWindowSeconds);
    assert.equal(window.getVolume(tokenId).trades, 0);
    assert.equal(window.getCandle(tokenId), null);
    window.moveTo(100 + dayWindowSeconds - 1);
    assert.deepEqual(window.getVolume(tokenId), { trades: 1, volumeUsd: 2n });
  });

  test("is empty for a token that was never traded", () => {
    const window = new DayWindow(new MemoryStateStore(), marketSums());
    const [tokenId] = tokenIds as [TokenId];
    assert.deepEqual(window.getVolume(tokenId), { trades: 0, volumeUsd: 0n });
    assert.equal(window.getCandle(tokenId), null);
  });
});
