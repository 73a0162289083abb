/**
 * All markets known from the chain, built from events and trades in chain order. Unfinalized blocks can be undone.
 * The directory writes to the tables of `Conditions`; `ListedConditions` updates the columns that lists read.
 */
import {
  type Address,
  type ConditionId,
  type Seq,
  type TokenId,
  toBlockNumber,
  toFirstSeq,
} from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Gen3MarketEvent, MarketEvent } from "../../contracts/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import type { Trade } from "../../market/fill.ts";
import { deriveTokenIds } from "../../market/ids/condition-ids.ts";
import { deriveGen3TokenIds, parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import { getCollateralId } from "../../market/ledger/collateral.ts";
import { addSupply, type TokenSupply, toSupplyChange } from "../../market/ledger/holder.ts";
import type { BalanceChange } from "../../market/ledger/ledger-row.ts";
import {
  generationBit,
  getGenerations,
  getResolution,
  type Resolution,
  type TokenTotals,
} from "../../market/market.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import { CollateralSeries } from "../prices/collateral-series.ts";
import type { Condition } from "./conditions.ts";
import { listEventConditions } from "./gen3-registry.ts";
import { ListedConditions, type OnToken } from "./listed-conditions.ts";
import type { QuestionEvent } from "./questions.ts";
import { addTotals, totalsOfTrades } from "./token-totals.ts";
import { UnknownTokens } from "./unknown-tokens.ts";
import type { ProvenCondition } from "./venue-claims.ts";

type LinkEvent = Extract<
  Gen3MarketEvent,
  { kind: "gen3_condition_migrated" | "gen3_migration_resolved" }
>;

/** When something was first seen. The timestamp is in unix seconds. */
type Sighting = { readonly seq: Seq; readonly timestamp: number };

/** What is known of a condition that is not prepared yet. */
type EarlyCondition = Pick<Condition, "registeredBits" | "namedMirrorId">;

const nothingEarly: EarlyCondition = { registeredBits: 0 };

/** Payout numerators of derived results of generation 3, as a module would log them. */
const resultYes = [1_000_000n, 0n];
const resultNo = [0n, 1_000_000n];

export class MarketDirectory extends ListedConditions {
  readonly #early: JournaledMap<ConditionId, EarlyCondition>;
  readonly unknownTokens: UnknownTokens;
  readonly collateral: CollateralSeries;

  constructor(contracts: Contracts, stateStore: StateStore, onToken: OnToken) {
    super(contracts, stateStore, onToken);
    this.#early = new JournaledMap(stateStore, "early_conditions");
    this.unknownTokens = new UnknownTokens(stateStore);
    this.collateral = new CollateralSeries(contracts, stateStore);
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
        return this.#applyQuestion(event, located.address);
      case "neg_risk_market_prepared":
        this.#applyQuestion(event, located.address);
        return this.pairAll(this.mirrors.getOther(event.negRiskMarketId));
      case "neg_risk_question_prepared":
      case "neg_risk_question_requested": {
        const before = this.mirrors.getEvent(event.negRiskMarketId);
        this.#applyQuestion(event, located.address);
        return this.pairAll(this.mirrors.addQuestion(event, before));
      }
      case "gen3_event_announced":
      case "gen3_reporter_added":
      case "gen3_text_registered":
      case "gen3_text_updated":
      case "gen3_window_reported":
      case "gen3_asset_pair_added":
      case "gen3_module_added":
      case "gen3_contract_upgraded":
      case "gen3_condition_migrated":
      case "gen3_migration_resolved":
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
    for (const [tokenId, tokenTrades] of Map.groupBy(trades, (trade) => trade.tokenId)) {
      const [first] = tokenTrades;
      if (first !== undefined) this.applyTotals(tokenId, totalsOfTrades(tokenTrades), first);
    }
  }

  /** Adds the totals of a range to those of a token. Ranges come in any order. */
  applyTotals(tokenId: TokenId, more: TokenTotals, first: Sighting): void {
    const isNew = this.totals.get(tokenId) === undefined;
    const totals = addTotals(this.getTotals(tokenId), more);
    this.totals.set(tokenId, totals);
    this.#addConditionOfToken(tokenId, totals.generations, first);
    const slot = this.slots.get(tokenId);
    if (isNew && slot === undefined) this.unknownTokens.add(tokenId);
    const condition = slot === undefined ? undefined : this.conditions.get(slot.conditionId);
    if (condition === undefined) return;
    this.updateSumColumns(condition);
    this.updateListing(condition, first.seq);
  }

  /** Adds changes of supplies and collateral, in chain order for each token. */
  applySupplies(changes: readonly BalanceChange[]): void {
    const collateralId = getCollateralId(this.contracts);
    for (const [tokenId, tokenChanges] of Map.groupBy(changes, (change) => change.tokenId)) {
      if (tokenId === collateralId) this.collateral.apply(tokenChanges);
      else this.#applySupply(tokenId, tokenChanges);
    }
  }

  #applySupply(tokenId: TokenId, changes: readonly BalanceChange[]): void {
    const before = this.getSupply(tokenId);
    const supply = changes.reduce<TokenSupply>(
      (sum, change) => ({
        ...addSupply(sum, toSupplyChange(change, this.contracts)),
        seq: Math.max(sum.seq, change.seq),
      }),
      before,
    );
    this.supplies.set(tokenId, supply);
    const slot = this.slots.get(tokenId);
    const condition = slot && this.conditions.get(slot.conditionId);
    if (condition !== undefined) this.updateSumColumns(condition);
  }

  /** Replaces the venue's market metadata of a condition; an unknown condition gets it when it appears. */
  applyMetadata(conditionId: ConditionId, metadata: VenueMetadata): void {
    this.venue.set(conditionId, metadata);
    this.updateTexts(conditionId);
  }

  /** Adds a condition that the venue has named and its token ids prove. What the chain says of it later replaces it. */
  adopt(conditionId: ConditionId, proven: ProvenCondition, createdAt: number): void {
    const early = this.#early.get(conditionId) ?? nothingEarly;
    const created = { createdAt, createdSeq: toFirstSeq(0) };
    const adopted = { ...proven, ...early, ...created, conditionId, outcomeCount: 2 };
    this.#pairAdded(this.addCondition(adopted));
  }

  /** Whether a token was traded and no known condition has it. */
  isUnknownToken(tokenId: TokenId): boolean {
    return this.slots.get(tokenId) === undefined && this.totals.get(tokenId) !== undefined;
  }

  #applyQuestion(event: QuestionEvent, address: Address): void {
    for (const id of this.questions.apply(event, address)) this.updateTexts(id);
  }

  #prepare(
    event: Extract<MarketEvent, { kind: "condition_prepared" }>,
    { timestamp, seq }: LocatedEvent,
  ): void {
    const { conditionId, questionId, oracle, outcomeSlotCount } = event;
    const tokenIds =
      outcomeSlotCount === 2 ? deriveTokenIds(conditionId, this.#getCollateral(oracle)) : [];
    const adopted = this.conditions.get(conditionId);
    const early = adopted ?? this.#early.get(conditionId) ?? nothingEarly;
    const condition = this.addCondition({
      conditionId,
      questionId,
      oracle,
      gen3: null,
      outcomeCount: outcomeSlotCount,
      tokenIds,
      createdAt: timestamp,
      createdSeq: seq,
      registeredBits: early.registeredBits,
      namedMirrorId: early.namedMirrorId,
      pairedId: adopted?.pairedId,
    });
    this.#pairAdded(condition);
  }

  /** Pairs a condition that became known with its mirror or its legacy condition. */
  #pairAdded(condition: Condition): void {
    const { conditionId, gen3 } = condition;
    const legacy = this.asLegacy(condition);
    if (legacy !== null) this.pairAll(this.mirrors.addLegacy(legacy));
    if (gen3 === null) return;
    this.mirrors.addSeen(gen3);
    this.pairAll([conditionId]);
  }

  #applyGen3(event: Gen3MarketEvent, located: LocatedEvent): void {
    this.unknownContracts.apply(event, located);
    const named = this.gen3.apply(event, located);
    if (event.kind === "gen3_combo_prepared") {
      const legs = event.legs.map((leg) => parseGen3TokenId(leg)?.conditionId ?? null);
      this.addDependencies(
        event.conditionId,
        legs.filter((leg) => leg !== null),
      );
    }
    for (const conditionId of named) {
      if (this.#addGen3Condition(conditionId, located)) continue;
      this.updateTexts(conditionId);
      // An announcement completes its tokens.
      const condition = this.conditions.get(conditionId);
      if (condition !== undefined) this.updateSumColumns(condition);
    }
    if (event.kind === "gen3_condition_migrated" || event.kind === "gen3_migration_resolved") {
      this.#applyLink(event, located);
    }
    if (event.kind === "gen3_text_registered" || event.kind === "gen3_text_updated") {
      const { requestId } = event;
      const ids = this.gen3.isAtomic(requestId) ? listEventConditions(requestId) : [requestId];
      for (const id of ids) this.updateTexts(id as string as ConditionId);
    }
    if (event.kind === "gen3_other_resolved_yes") {
      this.#resolveDerived(event.conditionId, located, resultYes);
    }
    if (event.kind === "gen3_remaining_resolved_no") {
      // A mirror waits for the result of its legacy condition.
      const following = named.filter((conditionId) => !this.mirrors.isMirror(conditionId));
      for (const conditionId of following) this.#resolveDerived(conditionId, located, resultNo);
    }
  }

  #applyLink(
    { kind, conditionId, legacyConditionId: legacyId }: LinkEvent,
    { seq }: LocatedEvent,
  ): void {
    const registeredBlock = kind === "gen3_condition_migrated" ? toBlockNumber(seq) : null;
    if (!this.mirrors.addLink(conditionId, { legacyId, registeredBlock })) return;
    const legacy = this.conditions.get(legacyId);
    const existing = legacy ?? this.#early.get(legacyId) ?? nothingEarly;
    if (existing.namedMirrorId === undefined) {
      const named = { ...existing, namedMirrorId: conditionId };
      if (legacy === undefined) this.#early.set(legacyId, named);
      else this.conditions.set(legacyId, { ...legacy, ...named });
    }
    const found = this.conditions.get(legacyId);
    const asLegacy = found === undefined ? null : this.asLegacy(found);
    const ofEvent = asLegacy === null ? [] : this.mirrors.linkEvent(conditionId, asLegacy);
    // A mirror by the ids alone gives way to the named one.
    const replaced = found?.gen3 === null && found.pairedId ? [found.pairedId] : [];
    this.pairAll([...replaced, conditionId, ...ofEvent]);
  }

  #addConditionOfToken(tokenId: TokenId, generations: number, first: Sighting): void {
    if (!getGenerations(generations).includes(3)) return;
    const conditionId = parseGen3TokenId(tokenId)?.conditionId;
    if (conditionId !== undefined) this.#addGen3Condition(conditionId, first);
  }

  /** Adds a condition of generation 3. The earliest sighting counts. Returns whether its texts were updated. */
  #addGen3Condition(conditionId: ConditionId, { seq, timestamp }: Sighting): boolean {
    const gen3 = parseGen3TokenId(conditionId as string as TokenId);
    if (gen3 === null) return false;
    const existing = this.conditions.get(conditionId);
    if (existing !== undefined) {
      const isEarlier = existing.adoptedAs !== undefined || seq < existing.createdSeq;
      const seen = { createdAt: timestamp, createdSeq: seq, adoptedAs: undefined };
      if (isEarlier) this.addCondition({ ...existing, ...seen });
      return isEarlier;
    }
    const added = this.addCondition({
      conditionId,
      questionId: null,
      oracle: null,
      gen3,
      outcomeCount: 2,
      tokenIds: deriveGen3TokenIds(conditionId),
      createdAt: timestamp,
      createdSeq: seq,
      registeredBits: this.#early.get(conditionId)?.registeredBits ?? 0,
    });
    this.#pairAdded(added);
    return true;
  }

  #resolveDerived(
    conditionId: ConditionId,
    { seq, timestamp, blockHash, txHash, address }: LocatedEvent,
    numerators: readonly bigint[],
  ): void {
    const location = { seq, timestamp, blockHash, txHash };
    const result = { conditionId, questionId: null, oracle: address, numerators, derived: true };
    this.#addResolution({ ...result, ...location });
  }

  #addResolution(resolution: Resolution): void {
    this.resolutions.add(resolution);
    const condition = this.conditions.get(resolution.conditionId);
    if (condition === undefined) return;
    this.markRepeats(condition);
    this.updateListing(condition, resolution.seq);
    this.updateSumColumns(condition);
  }

  #resolve(located: LocatedEvent): void {
    const resolution = getResolution(located);
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
      const existing = this.#early.get(conditionId) ?? nothingEarly;
      this.#early.set(conditionId, { ...existing, registeredBits: existing.registeredBits | bit });
    } else if ((condition.registeredBits & bit) === 0) {
      const registeredBits = condition.registeredBits | bit;
      const registered = { ...condition, registeredBits };
      this.conditions.set(conditionId, registered);
      this.updateListing(registered, seq);
    }
  }

  /** Positions of neg-risk conditions are backed by the wrapped collateral, never by that of the exchange. */
  #getCollateral(oracle: Address): Address {
    const { wrappedCollateral, collateral } = this.contracts;
    return this.isNegRiskAdapter(oracle) ? wrappedCollateral : collateral;
  }
}
