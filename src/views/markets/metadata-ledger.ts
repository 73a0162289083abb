/**
 * What is known from the venue's market metadata, about which markets it was asked and when, and where it
 * contradicts the chain. It is in the columns of the markets, is saved with them, and a fork reverts it with
 * them: what is lost that way is requested again.
 */

import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import type { DueMarkets, MetadataSink } from "../../venue/metadata/market-metadata.ts";
import { type MetadataProgress, noProgress } from "../../venue/metadata/metadata-pass.ts";
import type { MetadataMarket } from "../../venue/metadata/parse-market.ts";
import type { StateTable } from "../disk/state-store.ts";
import { marketFlags } from "./market-columns.ts";
import type { MarketDirectory } from "./market-directory.ts";
import type { UndoLog } from "./undo-log.ts";
import { type Contradiction, contradictionsOf, labelsOf } from "./venue-claims.ts";

/** What came of asking, as bits: whether the venue knows it, and what it says otherwise. */
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
  /** Markets the venue knows, and markets it was never asked about. */
  readonly known: number;
  readonly missing: number;
  /** Markets by what the venue says of them otherwise than the chain. */
  readonly contradictions: Readonly<Record<Contradiction, number>>;
};

const progressKey = "0x00";

export class MetadataLedger implements MetadataSink {
  readonly #markets: Markets;
  readonly #journal: UndoLog;
  readonly #table: StateTable<string, MetadataProgress>;

  constructor(
    markets: Markets,
    { journal, table }: { journal: UndoLog; table: StateTable<string, MetadataProgress> },
  ) {
    this.#markets = markets;
    this.#journal = journal;
    this.#table = table;
  }

  get progress(): MetadataProgress {
    return this.#table.get(progressKey) ?? noProgress;
  }

  set progress(progress: MetadataProgress) {
    this.#table.set(progressKey, progress);
  }

  /** While finality lags everything can be reverted, and what that needs is bounded. */
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
      } else if (old.length < limit && nowSeconds - at >= this.#ageMaxOf(ordinal, at)) {
        old.push(ordinal);
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
    // Most of what is read again is what is known, and to apply it costs a hundred times this.
    const isNew = JSON.stringify(directory.metadataOf(conditionId)) !== JSON.stringify(metadata);
    if (isNew) this.#markets.applyMetadata(conditionId, metadata);
    const bits = contradictionsOf(proven, claims).map((kind) => venueFlags[kind]);
    const flags = bits.reduce<number>((sum, bit) => sum | bit, venueFlags.known);
    this.#note(conditionId, { nowSeconds, flags });
  }

  noteAbsent(conditionIds: readonly ConditionId[], nowSeconds: number): void {
    for (const conditionId of conditionIds) this.#note(conditionId, { nowSeconds });
  }

  /** Counted over all markets, some ms for a million of them. */
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

  /** For how long what was asked at a time is good enough, in seconds. */
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

  /** Without flags the earlier metadata stays: a market that is left out of an answer keeps what it had. */
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
