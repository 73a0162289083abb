/**
 * What is known from the venue's market metadata: which markets were requested and when, and where the venue
 * contradicts the chain. It is kept in the columns of the markets, and saved and reverted with them. Metadata
 * that a reorg reverts is requested again.
 */

import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import type { DueMarkets, MetadataSink } from "../../venue/metadata/market-metadata.ts";
import { type MetadataProgress, noProgress } from "../../venue/metadata/metadata-pass.ts";
import type { MetadataMarket } from "../../venue/metadata/parse-market.ts";
import type { StateStore, StateTable } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { marketFlags } from "./market-columns.ts";
import type { MarketDirectory } from "./market-directory.ts";
import { type Contradiction, contradictionsOf, labelsOf } from "./venue-claims.ts";

/** The venue's answer about a market, as bits: whether it knows the market, and where it contradicts the chain. */
const venueFlags = {
  known: 1,
  tokens: 2,
  outcomes: 4,
  resolution: 8,
  neg_risk: 16,
  question_id: 32,
} as const satisfies Record<"known" | Contradiction, number>;

type Markets = {
  readonly directory: MarketDirectory;
  applyMetadata(conditionId: ConditionId, metadata: VenueMetadata): void;
  saveIfDue(): void;
};

type VenueCoverage = {
  /** Markets that the venue knows. */
  readonly known: number;
  /** Listed markets that the venue was never asked about. */
  readonly missing: number;
  /** Markets for which the venue contradicts the chain, by property. */
  readonly contradictions: Readonly<Record<Contradiction, number>>;
};

const progressKey = "0x00";

export class MetadataLedger implements MetadataSink {
  readonly #markets: Markets;
  readonly #journal: UndoLog;
  readonly #table: StateTable<string, MetadataProgress>;

  constructor(markets: Markets, stateStore: StateStore) {
    this.#markets = markets;
    this.#journal = stateStore.journal;
    this.#table = stateStore.table("venue_progress");
  }

  get progress(): MetadataProgress {
    return this.#table.get(progressKey) ?? noProgress;
  }

  set progress(progress: MetadataProgress) {
    this.#table.set(progressKey, progress);
  }

  /** Whether to pause: while finality lags, changes are kept for a revert, and their number is bounded. */
  get isFull(): boolean {
    return this.#journal.noted > metadataLimits.changesAheadMax;
  }

  saveIfDue(): void {
    this.#markets.saveIfDue();
  }

  due(nowSeconds: number, limit: number): DueMarkets {
    const { columns } = this.#markets.directory;
    const flags = columns.flags.values;
    const askedAt = columns.venueAt.values;
    const unasked: number[] = [];
    const old: number[] = [];
    let missing = 0;
    for (let ordinal = columns.count - 1; ordinal >= 0; ordinal -= 1) {
      if (((flags[ordinal] ?? 0) & marketFlags.listed) === 0) continue;
      const at = askedAt[ordinal] ?? 0;
      if (at === 0) {
        missing += 1;
        if (unasked.length < limit) unasked.push(ordinal);
      } else if (old.length < limit && Math.abs(nowSeconds - at) >= this.#ageMaxOf(ordinal, at)) {
        old.push(ordinal); // a time far in the future is from a wall clock that was ahead
      }
    }
    const ordinals = [...unasked, ...old].slice(0, limit);
    return { conditionIds: ordinals.map((ordinal) => columns.conditionIdAt(ordinal)), missing };
  }

  take({ conditionId, texts, claims }: MetadataMarket, nowSeconds: number): void {
    const { directory } = this.#markets;
    const proven = directory.provenMarket(conditionId);
    if (proven === null) return;
    const metadata: VenueMetadata = { ...texts, outcomes: labelsOf(proven, claims) };
    // Most metadata read again is unchanged. Applying it costs a hundred times as much as this comparison.
    const isNew = JSON.stringify(directory.metadataOf(conditionId)) !== JSON.stringify(metadata);
    if (isNew) this.#markets.applyMetadata(conditionId, metadata);
    const bits = contradictionsOf(proven, claims).map((kind) => venueFlags[kind]);
    const flags = bits.reduce<number>((sum, bit) => sum | bit, venueFlags.known);
    this.#note(conditionId, { nowSeconds, flags });
  }

  noteAbsent(conditionIds: readonly ConditionId[], nowSeconds: number): void {
    for (const conditionId of conditionIds) this.#note(conditionId, { nowSeconds });
  }

  /** Counts over all markets, which takes some ms for a million. */
  get coverage(): VenueCoverage {
    const { columns } = this.#markets.directory;
    const flags = columns.venueFlags.values;
    const listed = columns.flags.values;
    const askedAt = columns.venueAt.values;
    const byFlags = Array.from({ length: 64 }, () => 0);
    let missing = 0;
    for (let ordinal = 0; ordinal < columns.count; ordinal += 1) {
      const isListed = ((listed[ordinal] ?? 0) & marketFlags.listed) !== 0;
      if (isListed && askedAt[ordinal] === 0) missing += 1;
      const known = flags[ordinal] ?? 0;
      byFlags[known] = (byFlags[known] ?? 0) + 1;
    }
    const countOf = (flag: number) =>
      byFlags.reduce((sum, count, known) => sum + ((known & flag) === 0 ? 0 : count), 0);
    const counts = Object.entries(venueFlags).map(([flag, bit]) => [flag, countOf(bit)]);
    const { known, ...contradictions }: Record<keyof typeof venueFlags, number> =
      Object.fromEntries(counts);
    return { known, missing, contradictions };
  }

  /** How old the venue's answer about a market can become before it is requested again, in seconds. */
  #ageMaxOf(ordinal: number, askedAt: number): number {
    const { columns } = this.#markets.directory;
    const { absentAgeSecondsMin, absentAgeSecondsMax } = metadataLimits;
    if ((columns.venueFlags.get(ordinal) & venueFlags.known) === 0) {
      const age = askedAt - columns.createdAt.get(ordinal);
      return Math.min(Math.max(age, absentAgeSecondsMin), absentAgeSecondsMax);
    }
    const hasEnded = (columns.flags.get(ordinal) & marketFlags.resolved) !== 0;
    return hasEnded ? metadataLimits.endedAgeSeconds : metadataLimits.openAgeSeconds;
  }

  /** Notes when the venue was asked. Without `flags`, a market that an answer leaves out keeps the flags it had. */
  #note(
    conditionId: ConditionId,
    { nowSeconds, flags }: { nowSeconds: number; flags?: number },
  ): void {
    const { columns } = this.#markets.directory;
    const ordinal = this.#markets.directory.ordinalOf(conditionId);
    if (ordinal === null) return;
    this.#journal.amend(() => {
      columns.set(columns.venueAt, ordinal, nowSeconds);
      if (flags !== undefined) columns.set(columns.venueFlags, ordinal, flags);
    });
  }
}
