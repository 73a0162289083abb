/**
 * All markets known from the chain, built from events and trades in chain order. Unfinalized blocks can be undone.
 * The directory writes to the tables of `Conditions`, and to the columns that lists and searches read.
 */
import type { Address, ConditionId, Seq, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Gen3MarketEvent, MarketEvent } from "../../contracts/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import type { Trade } from "../../market/fill.ts";
import { deriveTokenIds } from "../../market/ids/condition-ids.ts";
import { deriveGen3TokenIds, parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import {
  generationBit,
  generationsOf,
  type Resolution,
  resolutionOf,
  type TokenTotals,
} from "../../market/market.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import { type Condition, Conditions } from "./conditions.ts";
import { MarketColumns, marketFlags } from "./market-columns.ts";
import { addTotals, totalsOfTrades } from "./token-totals.ts";

/** When something was first seen. The timestamp is in unix seconds. */
type Sighting = { readonly seq: Seq; readonly timestamp: number };

/** Called with each token of a condition that becomes known, and with the condition's ordinal. */
type OnToken = (tokenId: TokenId, ordinal: number) => void;

/** How many conditions can quote the text of another one, and how deep quotes of quotes are followed. */
const dependentsMax = 1000;
const quotesDepthMax = 2;

/** Payout numerators of derived results of generation 3, as a module would log them. */
const resultYes = [1_000_000n, 0n];
const resultNo = [0n, 1_000_000n];

export class MarketDirectory extends Conditions {
  /** Registrations of conditions that are not prepared yet, as generation bits. */
  readonly #earlyRegistrations: JournaledMap<ConditionId, number>;
  /** By condition, the conditions that quote its text. */
  readonly #dependents: JournaledMap<ConditionId, readonly ConditionId[]>;
  readonly columns: MarketColumns;
  readonly #onToken: OnToken;

  constructor(contracts: Contracts, stateStore: StateStore, onToken: OnToken) {
    super(contracts, stateStore);
    this.#onToken = onToken;
    this.#earlyRegistrations = new JournaledMap(stateStore, "early_registrations");
    this.#dependents = new JournaledMap(stateStore, "dependents");
    this.columns = new MarketColumns(stateStore);
  }

  /** Applies one event. Events that do not concern markets change nothing. */
  applyEvent(located: LocatedEvent): void {
    const { event } = located;
    switch (event.kind) {
      case "condition_prepared":
        return this.#prepare(event, located);
      case "condition_resolved":
        return this.#resolve(located);
      case "token_registered":
        return this.#register(event.conditionId, located);
      case "question_initialized":
      case "question_updated":
      case "neg_risk_market_prepared":
      case "neg_risk_question_prepared":
      case "neg_risk_question_requested":
        for (const id of this.questions.apply(event, located.address)) this.#updateTexts(id);
        return;
      case "gen3_event_announced":
      case "gen3_reporter_added":
      case "gen3_text_registered":
      case "gen3_text_updated":
      case "gen3_condition_migrated":
      case "gen3_combo_prepared":
      case "gen3_remaining_resolved_no":
      case "gen3_other_resolved_yes":
        return this.#applyGen3(event, located);
      default:
        return;
    }
  }

  /** Adds trades, which are in chain order, to the totals of their tokens. */
  applyTrades(trades: readonly Trade[]): void {
    for (const [tokenId, own] of Map.groupBy(trades, (trade) => trade.tokenId)) {
      const [first] = own;
      if (first !== undefined) this.applyTotals(tokenId, totalsOfTrades(own), first);
    }
  }

  /** Adds the totals of a range to those of a token. Ranges come in any order. */
  applyTotals(tokenId: TokenId, more: TokenTotals, first: Sighting): void {
    const totals = addTotals(this.totalsOf(tokenId), more);
    this.totals.set(tokenId, totals);
    this.#addGen3ConditionOf(tokenId, totals.generations, first);
    const place = this.places.get(tokenId);
    const condition = place === undefined ? undefined : this.conditions.get(place.conditionId);
    if (condition === undefined) return;
    this.#updateTradeColumns(condition);
    this.#updateFlags(condition, first.seq);
  }

  /** Replaces the venue's market metadata of a condition; an unknown condition gets it when it appears. */
  applyMetadata(conditionId: ConditionId, metadata: VenueMetadata): void {
    this.venue.set(conditionId, metadata);
    this.#updateTexts(conditionId);
  }

  /** The conditions with a slug of the venue; more than one only if the venue uses the slug twice. */
  bySlug(slug: string): readonly ConditionId[] {
    return this.columns
      .withLabel("slug", slug)
      .map((ordinal) => this.columns.conditionIdAt(ordinal));
  }

  /** The index of a condition in the columns; `null` when the condition is unknown. */
  ordinalOf(conditionId: ConditionId): number | null {
    return this.conditions.get(conditionId)?.ordinal ?? null;
  }

  #prepare(
    event: Extract<MarketEvent, { kind: "condition_prepared" }>,
    { timestamp, seq }: LocatedEvent,
  ): void {
    const { conditionId, questionId, oracle, outcomeSlotCount } = event;
    const tokenIds =
      outcomeSlotCount === 2 ? deriveTokenIds(conditionId, this.#collateralOf(oracle)) : [];
    this.#add({
      conditionId,
      questionId,
      oracle,
      gen3: null,
      outcomeCount: outcomeSlotCount,
      tokenIds,
      createdAt: timestamp,
      createdSeq: seq,
      registeredBits: this.#earlyRegistrations.get(conditionId) ?? 0,
    });
  }

  #add(known: Omit<Condition, "ordinal">): void {
    const { conditionId, tokenIds } = known;
    const ordinal = this.ordinalOf(conditionId) ?? this.columns.add(conditionId);
    const condition = { ...known, ordinal };
    this.conditions.set(conditionId, condition);
    for (const [outcomeIndex, tokenId] of tokenIds.entries()) {
      this.places.set(tokenId, { conditionId, outcomeIndex });
      this.#onToken(tokenId, ordinal);
    }
    this.columns.set(this.columns.createdAt, ordinal, condition.createdAt);
    this.#updateFlags(condition, condition.createdSeq);
    this.#updateTradeColumns(condition);
    this.#updateTexts(conditionId);
  }

  /** Updates the flags of a condition in the columns, after the event or trade at `seq`. */
  #updateFlags(condition: Condition, seq: Seq): void {
    const { conditionId, ordinal } = condition;
    const listed = this.isListed(condition) ? marketFlags.listed : 0;
    const resolved = this.resolutionOf(conditionId) === null ? 0 : marketFlags.resolved;
    const negRisk = this.isNegRisk(condition) ? marketFlags.negRisk : 0;
    this.columns.set(this.columns.flags, ordinal, listed | resolved | negRisk);
    if (listed === 0) return;
    // While loading, trades come after events. The earliest position of all made the condition a market.
    const listedSeq = this.columns.listedSeq.get(ordinal);
    const since = Math.max(condition.createdSeq, seq);
    if (listedSeq > 0 && listedSeq <= since) return;
    this.columns.set(this.columns.listedSeq, ordinal, since);
  }

  /** Updates the volume and the last trade of a condition in the columns. */
  #updateTradeColumns({ tokenIds, ordinal }: Condition): void {
    const totals = tokenIds.map((tokenId) => this.totalsOf(tokenId));
    const volumeUsd = totals.reduce((sum, one) => sum + one.volumeUsd, 0n);
    const lastTradeAt = Math.max(0, ...totals.map((one) => one.lastTimestamp));
    this.columns.set(this.columns.volumeUsd, ordinal, Number(volumeUsd));
    this.columns.set(this.columns.lastTradeAt, ordinal, lastTradeAt);
  }

  /** Updates the texts of a condition in the columns, and those of conditions that quote it. */
  #updateTexts(conditionId: ConditionId, depth = 0): void {
    const condition = this.conditions.get(conditionId);
    if (condition !== undefined) {
      const market = this.describe(condition);
      this.columns.setTexts(condition.ordinal, market);
      this.columns.set(this.columns.endMs, condition.ordinal, market.venue?.endMs ?? 0);
    }
    if (depth >= quotesDepthMax) return;
    for (const other of this.#dependents.get(conditionId) ?? [])
      this.#updateTexts(other, depth + 1);
  }

  /** Records that the text of a condition quotes the texts of others. */
  #addDependencies(conditionId: ConditionId, others: readonly ConditionId[]): void {
    for (const other of others) {
      const known = this.#dependents.get(other) ?? [];
      if (known.includes(conditionId) || known.length >= dependentsMax) continue;
      this.#dependents.set(other, [...known, conditionId]);
    }
  }

  #applyGen3(event: Gen3MarketEvent, located: LocatedEvent): void {
    const named = this.gen3.apply(event, located.address);
    if (event.kind === "gen3_condition_migrated") {
      this.#addDependencies(event.conditionId, [event.legacyConditionId]);
    }
    if (event.kind === "gen3_combo_prepared") {
      const legs = event.legs.map((leg) => parseGen3TokenId(leg)?.conditionId ?? null);
      this.#addDependencies(
        event.conditionId,
        legs.filter((leg) => leg !== null),
      );
    }
    for (const conditionId of named) {
      if (!this.#addGen3Condition(conditionId, located)) this.#updateTexts(conditionId);
    }
    if (event.kind === "gen3_text_registered" || event.kind === "gen3_text_updated") {
      this.#updateTexts(event.requestId as string as ConditionId);
    }
    if (event.kind === "gen3_other_resolved_yes") {
      this.#resolveDerived(event.conditionId, located, resultYes);
    }
    if (event.kind === "gen3_remaining_resolved_no") {
      // A migrated condition waits for the result of its older condition.
      const following = named.filter((conditionId) => this.gen3.legacyOf(conditionId) === null);
      for (const conditionId of following) this.#resolveDerived(conditionId, located, resultNo);
    }
  }

  #addGen3ConditionOf(tokenId: TokenId, generations: number, first: Sighting): void {
    if (!generationsOf(generations).includes(3)) return;
    const conditionId = parseGen3TokenId(tokenId)?.conditionId;
    if (conditionId !== undefined) this.#addGen3Condition(conditionId, first);
  }

  /** Adds a condition of generation 3. The earliest sighting counts. Returns whether its texts were updated. */
  #addGen3Condition(conditionId: ConditionId, { seq, timestamp }: Sighting): boolean {
    const gen3 = parseGen3TokenId(conditionId as string as TokenId);
    if (gen3 === null) return false;
    const known = this.conditions.get(conditionId);
    if (known !== undefined) {
      const isEarlier = seq < known.createdSeq;
      if (isEarlier) this.#add({ ...known, createdAt: timestamp, createdSeq: seq });
      return isEarlier;
    }
    this.#add({
      conditionId,
      questionId: null,
      oracle: null,
      gen3,
      outcomeCount: 2,
      tokenIds: deriveGen3TokenIds(conditionId),
      createdAt: timestamp,
      createdSeq: seq,
      registeredBits: this.#earlyRegistrations.get(conditionId) ?? 0,
    });
    return true;
  }

  #resolveDerived(
    conditionId: ConditionId,
    { seq, timestamp, blockHash, txHash, address }: LocatedEvent,
    numerators: readonly bigint[],
  ): void {
    const place = { seq, timestamp, blockHash, txHash };
    const result = { conditionId, questionId: null, oracle: address, numerators, derived: true };
    this.#addResolution({ ...result, ...place });
  }

  #addResolution(resolution: Resolution): void {
    this.resolutions.add(resolution);
    const condition = this.conditions.get(resolution.conditionId);
    if (condition !== undefined) this.#updateFlags(condition, resolution.seq);
  }

  #resolve(located: LocatedEvent): void {
    const resolution = resolutionOf(located);
    if (resolution === null) return;
    if (resolution.questionId === null) this.#addGen3Condition(resolution.conditionId, located);
    this.#addResolution(resolution);
  }

  #register(conditionId: ConditionId, { address, seq }: LocatedEvent): void {
    const contract = this.contracts.byAddress.get(address);
    if (contract?.kind !== "exchange") return;
    const bit = generationBit(contract.generation);
    const condition = this.conditions.get(conditionId);
    if (condition === undefined) {
      const known = this.#earlyRegistrations.get(conditionId) ?? 0;
      this.#earlyRegistrations.set(conditionId, known | bit);
    } else if ((condition.registeredBits & bit) === 0) {
      const registeredBits = condition.registeredBits | bit;
      const registered = { ...condition, registeredBits };
      this.conditions.set(conditionId, registered);
      this.#updateFlags(registered, seq);
    }
  }

  /** Positions of neg-risk conditions are backed by the wrapped collateral, never by that of the exchange. */
  #collateralOf(oracle: Address): Address {
    const { wrappedCollateral, collateral } = this.contracts;
    return this.isNegRiskAdapter(oracle) ? wrappedCollateral : collateral;
  }
}
