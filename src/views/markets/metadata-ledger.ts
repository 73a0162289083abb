/**
 * What is known from the venue's market metadata: which markets were requested and when, and where the venue
 * contradicts the chain. It is kept in the columns of the markets, and saved and reverted with them. Metadata
 * that a reorg reverts is requested again.
 */

import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId, TokenId } from "../../base/ids.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import type {
  DueMarkets,
  MetadataSink,
  ProofRequest,
} from "../../venue/metadata/market-metadata.ts";
import { type MetadataProgress, noProgress } from "../../venue/metadata/metadata-pass.ts";
import type { MetadataMarket } from "../../venue/metadata/parse-market.ts";
import type { StateStore, StateTable } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { marketFlags } from "./market-columns.ts";
import type { MarketDirectory } from "./market-directory.ts";
import {
  type Contradiction,
  findContradictions,
  getDerivations,
  type ProvenCondition,
  toLabels,
} from "./venue-claims.ts";

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
  adopt(conditionId: ConditionId, proven: ProvenCondition, createdAt: number): void;
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
  #refusedClaims = 0;

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

  /** Claims since the start of the process that token ids did not prove. */
  get refusedClaims(): number {
    return this.#refusedClaims;
  }

  /** Whether to pause: while finality lags, changes are kept for a revert, and their number is bounded. */
  get isFull(): boolean {
    return this.#journal.changeCount > metadataLimits.changesAheadMax;
  }

  saveIfDue(): void {
    this.#markets.saveIfDue();
  }

  due(nowSeconds: number, limit: number): DueMarkets {
    const { columns } = this.#markets.directory;
    const flags = columns.flags.values;
    const requestedAt = columns.venueAt.values;
    const unrequested: number[] = [];
    const old: number[] = [];
    let missing = 0;
    for (let ordinal = columns.count - 1; ordinal >= 0; ordinal -= 1) {
      if (((flags[ordinal] ?? 0) & marketFlags.listed) === 0) continue;
      const at = requestedAt[ordinal] ?? 0;
      if (at === 0) {
        missing += 1;
        if (unrequested.length < limit) unrequested.push(ordinal);
      } else if (old.length < limit && Math.abs(nowSeconds - at) >= this.#getAgeMax(ordinal, at)) {
        old.push(ordinal); // a time far in the future is from a wall clock that was ahead
      }
    }
    const ordinals = [...unrequested, ...old].slice(0, limit);
    return { conditionIds: ordinals.map((ordinal) => columns.conditionIdAt(ordinal)), missing };
  }

  dueTokens(nowSeconds: number, limit: number): readonly TokenId[] {
    const { directory } = this.#markets;
    const isKnown = (tokenId: TokenId) => !directory.isUnknownToken(tokenId);
    return directory.unknownTokens.due(nowSeconds, limit, isKnown);
  }

  recordAbsentTokens(tokenIds: readonly TokenId[], nowSeconds: number): void {
    const { directory } = this.#markets;
    for (const tokenId of tokenIds) directory.unknownTokens.recordAbsent(tokenId, nowSeconds);
  }

  isUnknownToken(tokenId: TokenId): boolean {
    return this.#markets.directory.isUnknownToken(tokenId);
  }

  prove(market: MetadataMarket, { isRequested, isProofDue }: ProofRequest): MetadataMarket {
    const { directory } = this.#markets;
    const existing = directory.adoptedAs(market.conditionId);
    if (existing !== null) return { ...market, adoptedAs: existing };
    if (directory.getOrdinal(market.conditionId) !== null) return market;
    const claimed = market.claims.tokenIds ?? [];
    const isUnknown = (tokenId: TokenId) => directory.isUnknownToken(tokenId);
    if (!(isRequested || isProofDue || claimed.some(isUnknown))) return market;
    const proven = getDerivations(market, directory.contracts).find(
      ({ tokenIds }) =>
        tokenIds.some(isUnknown) || (isProofDue && tokenIds.every((id) => claimed.includes(id))),
    );
    if (proven === undefined && (isRequested || isProofDue)) this.#refusedClaims += 1;
    return proven === undefined ? market : { ...market, adoptedAs: proven.adoptedAs };
  }

  take(market: MetadataMarket, nowSeconds: number): void {
    const { directory } = this.#markets;
    const { conditionId, texts, claims, liquidityUsd = 0 } = market;
    this.#adopt(market, nowSeconds);
    const proven = directory.provenMarket(conditionId);
    if (proven === null) return;
    const metadata: VenueMetadata = { ...texts, outcomes: toLabels(proven, claims) };
    // Most metadata read again is unchanged. Applying it costs a hundred times as much as this comparison.
    const isNew = JSON.stringify(directory.getMetadata(conditionId)) !== JSON.stringify(metadata);
    if (isNew) this.#markets.applyMetadata(conditionId, metadata);
    const bits = findContradictions(proven, claims).map((kind) => venueFlags[kind]);
    const flags = bits.reduce<number>((sum, bit) => sum | bit, venueFlags.known);
    this.#record(conditionId, { nowSeconds, flags, liquidityUsd });
  }

  recordAbsent(conditionIds: readonly ConditionId[], nowSeconds: number): void {
    for (const conditionId of conditionIds) this.#record(conditionId, { nowSeconds });
  }

  /** Counts over all markets, which takes some ms for a million. */
  get coverage(): VenueCoverage {
    const { columns } = this.#markets.directory;
    const flags = columns.venueFlags.values;
    const listed = columns.flags.values;
    const requestedAt = columns.venueAt.values;
    const byFlags = Array.from({ length: 64 }, () => 0);
    let missing = 0;
    for (let ordinal = 0; ordinal < columns.count; ordinal += 1) {
      const isListed = ((listed[ordinal] ?? 0) & marketFlags.listed) !== 0;
      if (isListed && requestedAt[ordinal] === 0) missing += 1;
      const bits = flags[ordinal] ?? 0;
      byFlags[bits] = (byFlags[bits] ?? 0) + 1;
    }
    const getCount = (flag: number) =>
      byFlags.reduce((sum, count, bits) => sum + ((bits & flag) === 0 ? 0 : count), 0);
    const counts = Object.entries(venueFlags).map(([flag, bit]) => [flag, getCount(bit)]);
    const { known, ...contradictions }: Record<keyof typeof venueFlags, number> =
      Object.fromEntries(counts);
    return { known, missing, contradictions };
  }

  /** Adds the condition of a market that is proven, unless it is known. */
  #adopt(market: MetadataMarket, nowSeconds: number): void {
    const { conditionId, adoptedAs, texts } = market;
    const { directory } = this.#markets;
    if (adoptedAs === undefined || directory.getOrdinal(conditionId) !== null) return;
    const proven = getDerivations(market, directory.contracts).find(
      (derived) => derived.adoptedAs === adoptedAs,
    );
    if (proven === undefined) return;
    const startSeconds = Math.floor((texts.startMs ?? Infinity) / 1000);
    this.#markets.adopt(conditionId, proven, Math.min(startSeconds, nowSeconds));
  }

  /** How old the venue's answer about a market can become before it is requested again, in seconds. */
  #getAgeMax(ordinal: number, requestedAt: number): number {
    const { columns } = this.#markets.directory;
    const { absentAgeSecondsMin, absentAgeSecondsMax } = metadataLimits;
    if ((columns.venueFlags.get(ordinal) & venueFlags.known) === 0) {
      const age = requestedAt - columns.createdAt.get(ordinal);
      return Math.min(Math.max(age, absentAgeSecondsMin), absentAgeSecondsMax);
    }
    const hasEnded = (columns.flags.get(ordinal) & marketFlags.resolved) !== 0;
    return hasEnded ? metadataLimits.endedAgeSeconds : metadataLimits.openAgeSeconds;
  }

  /** Records when the venue was asked. Without `flags`, a market that an answer leaves out keeps the flags it had. */
  #record(
    conditionId: ConditionId,
    answer: {
      readonly nowSeconds: number;
      readonly flags?: number;
      readonly liquidityUsd?: number;
    },
  ): void {
    const { columns } = this.#markets.directory;
    const ordinal = this.#markets.directory.getOrdinal(conditionId);
    if (ordinal === null) return;
    this.#journal.amend(() => {
      columns.set(columns.venueAt, ordinal, answer.nowSeconds);
      if (answer.flags !== undefined) columns.set(columns.venueFlags, ordinal, answer.flags);
      const isResolved = (columns.flags.get(ordinal) & marketFlags.resolved) !== 0;
      const { liquidityUsd } = answer;
      if (liquidityUsd !== undefined)
        columns.set(columns.liquidityUsd, ordinal, isResolved ? 0 : liquidityUsd);
    });
  }
}
