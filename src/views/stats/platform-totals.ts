/**
 * The totals of the platform by hour and by day: of each generation, and of all. Sums and markets are exact, the
 * number of wallets is an estimate. Unfinalized blocks can be undone.
 */
import type { Hash } from "../../base/ids.ts";
import type { Generation } from "../../contracts/contracts.ts";
import {
  estimateWallets,
  fromMark,
  type HourTotals,
  walletRegisters,
} from "../../market/hour-totals.ts";
import { generationBit } from "../../market/market.ts";
import type { Column } from "../disk/column.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { Codec, StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";

/** The lengths of the buckets, in seconds. */
export const statsSeconds = { "1h": 3600, "1d": 86_400 } as const;

/** Which totals: of one generation, of all (0), or of the orders with a builder code. */
export type StatsScope = Generation | 0 | Hash;

/** The totals of a bucket. Amounts are micros. */
export type BucketTotals = {
  readonly trades: number;
  readonly volumeUsd: bigint;
  readonly feesUsd: bigint;
  /**
   * Conditions with a trade, from when they are known, and an estimate of the wallets in trades: by day only,
   * otherwise 0.
   */
  readonly activeMarkets: number;
  readonly traders: number;
};

/** `walletSet` is the number of the set of registers of a day, from 1; 0 for none. */
type StoredTotals = Omit<BucketTotals, "traders"> & { readonly walletSet: number };

const nothing: StoredTotals = {
  trades: 0,
  volumeUsd: 0n,
  feesUsd: 0n,
  activeMarkets: 0,
  walletSet: 0,
};

const daySeconds = statsSeconds["1d"];

/** More days than there are until 2059. */
const daysMax = 2 ** 15;

/** A wallet that traded on a day, and a market that was traded. The day begins at `day`, in Unix seconds. */
type DayMark = { readonly day: number; readonly generation: Generation; readonly mark: number };
type MarketDay = {
  readonly ordinal: number;
  readonly day: number;
  readonly generation: Generation;
};

export class PlatformTotals {
  readonly #journal: UndoLog;
  readonly #buckets: JournaledMap<string, StoredTotals>;
  readonly #walletSets: Column<"f64">;
  readonly #ranks: Column<"u8">;
  /** By ordinal of a market: the last day with a trade, times 8, and the bits of the generations that traded it then. */
  readonly #lastDays: Column<"u32">;

  constructor(stateStore: StateStore) {
    this.#journal = stateStore.journal;
    this.#buckets = new JournaledMap(stateStore, "stats", totalsCodec);
    this.#walletSets = stateStore.column("stats.wallet_sets", "f64");
    this.#ranks = stateStore.column("stats.ranks", "u8");
    this.#lastDays = stateStore.column("stats.last_days", "u32");
  }

  /** Returns the totals of a bucket, by its start in Unix seconds. */
  get(seconds: number, bucket: number, scope: StatsScope): BucketTotals {
    const { walletSet, ...totals } = this.#buckets.get(toKey(seconds, bucket, scope)) ?? nothing;
    const end = walletSet * walletRegisters;
    const ranks = this.#ranks.values.subarray(Math.max(0, end - walletRegisters), end);
    return { ...totals, traders: walletSet === 0 ? 0 : estimateWallets(ranks) };
  }

  /** Adds the totals of hours, in any order. */
  add(hours: Iterable<HourTotals>): void {
    for (const { hour, generation, builder, walletMarks, ...sums } of hours) {
      const day = toDay(hour);
      for (const one of builder === null ? ([0, generation] as const) : [builder]) {
        this.#add(toKey(statsSeconds["1h"], hour, one), sums);
        this.#add(toKey(daySeconds, day, one), sums);
      }
      for (const mark of walletMarks) this.addWallet({ day, generation, mark });
    }
  }

  /** Adds a wallet that traded on a day, which begins at `day`, in Unix seconds. */
  addWallet({ day, generation, mark }: DayMark): void {
    const { register, rank } = fromMark(mark);
    for (const one of [0, generation] as const) {
      const at = this.#openWalletSet(toKey(daySeconds, day, one)) + register;
      if (rank > this.#ranks.get(at)) this.#journal.setAt(this.#ranks, at, rank);
    }
  }

  /**
   * Adds the days in which markets were traded, in any order, but no day of a market before one of an earlier call.
   */
  addMarketDays(days: IteratorObject<MarketDay>): void {
    const keys = days.map(
      ({ ordinal, day, generation }) => (ordinal * daysMax + day / daySeconds) * 4 + generation,
    );
    for (const key of Float64Array.from(keys).toSorted()) {
      const index = Math.floor(key / 4);
      this.#addMarketDay(Math.floor(index / daysMax), index % daysMax, (key % 4) as Generation);
    }
  }

  #addMarketDay(ordinal: number, day: number, generation: Generation): void {
    const last = this.#lastDays.get(ordinal);
    const bits = last >>> 3 === day ? last & 7 : 0;
    const bit = generationBit(generation);
    if ((bits & bit) !== 0) return;
    for (const one of bits === 0 ? ([0, generation] as const) : ([generation] as const)) {
      this.#add(toKey(daySeconds, day * daySeconds, one), { activeMarkets: 1 });
    }
    this.#journal.setAt(this.#lastDays, ordinal, day * 8 + (bits | bit));
  }

  #add(key: string, more: Partial<StoredTotals>): void {
    const before = this.#buckets.get(key) ?? nothing;
    this.#buckets.set(key, {
      ...before,
      trades: before.trades + (more.trades ?? 0),
      volumeUsd: before.volumeUsd + (more.volumeUsd ?? 0n),
      feesUsd: before.feesUsd + (more.feesUsd ?? 0n),
      activeMarkets: before.activeMarkets + (more.activeMarkets ?? 0),
    });
  }

  /** Returns where the registers of a day begin. */
  #openWalletSet(key: string): number {
    const totals = this.#buckets.get(key) ?? nothing;
    if (totals.walletSet !== 0) return (totals.walletSet - 1) * walletRegisters;
    const count = this.#walletSets.get(0);
    this.#journal.setAt(this.#walletSets, 0, count + 1);
    this.#buckets.set(key, { ...totals, walletSet: count + 1 });
    this.#ranks.reserve((count + 1) * walletRegisters);
    return count * walletRegisters;
  }
}

/** Returns the start of the day of a time, both in Unix seconds. */
export function toDay(timestamp: number): number {
  return timestamp - (timestamp % daySeconds);
}

function toKey(seconds: number, bucket: number, scope: StatsScope): string {
  const [generation, builder] = typeof scope === "number" ? [scope, ""] : [0, scope.slice(2)];
  const kind = seconds === daySeconds ? 4 : 0;
  const index = Math.floor(bucket / 3600) * 8 + kind + generation;
  return `0x${index.toString(16).padStart(10, "0")}${builder}`;
}

const totalsCodec: Codec<StoredTotals> = {
  encode: ({ trades, volumeUsd, feesUsd, activeMarkets, walletSet }) =>
    [trades, volumeUsd, feesUsd, activeMarkets, walletSet].join(),
  decode: (text) => {
    const [trades, volumeUsd = 0, feesUsd = 0, activeMarkets, walletSet] = text.split(",");
    return {
      trades: Number(trades),
      volumeUsd: BigInt(volumeUsd),
      feesUsd: BigInt(feesUsd),
      activeMarkets: Number(activeMarkets),
      walletSet: Number(walletSet),
    };
  },
};
