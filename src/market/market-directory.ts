/**
 * All markets known from the chain: a fold of events and trades in chain order, with undo for the
 * blocks that a fork may take back. Nothing is joined when it arrives, since texts, registrations,
 * results and trades come in any order and any of them may be missing for good; a `Market` is put
 * together when it is asked for.
 */
import type { Address, ConditionId, Hash, Seq, TokenId } from "../base/ids.ts";
import { blockNumberOf } from "../base/ids.ts";
import type { Contracts } from "../decode/contracts.ts";
import type { Gen3MarketEvent, MarketEvent } from "../decode/events.ts";
import type { LocatedEvent } from "./block-facts.ts";
import { deriveTokenIds } from "./condition-ids.ts";
import { Gen3Book } from "./gen3-book.ts";
import { deriveGen3TokenIds, type Gen3Position, parseGen3TokenId } from "./gen3-ids.ts";
import { type Journal, JournaledMap } from "./journal.ts";
import { type Market, type Resolution, resolutionOf, type TokenTotals } from "./market.ts";
import { generationsOf, type MinuteCandle } from "./minute-candle.ts";
import { displayOf, type MarketText, noText, QuestionBook } from "./question-book.ts";
import { ResolutionLog } from "./resolution-log.ts";

/** A condition: prepared on ConditionalTokens, or of generation 3 and seen for the first time. */
type Condition = {
  readonly conditionId: ConditionId;
  /** `null` in generation 3, like the oracle; `gen3` then tells what the id says. */
  readonly questionId: Hash | null;
  readonly oracle: Address | null;
  readonly gen3: Gen3Position | null;
  readonly outcomeCount: number;
  readonly tokenIds: readonly TokenId[];
  readonly createdAt: number;
  readonly createdSeq: Seq;
  /** Which exchange generations registered its tokens: bit `generation - 1`. */
  readonly registeredBits: number;
};

/** Which outcome of which condition a token is. */
export type TokenPlace = { readonly conditionId: ConditionId; readonly outcomeIndex: number };

/** When something was seen for the first time. Unix seconds. */
type Sighting = { readonly seq: Seq; readonly timestamp: number };

/** Results of generation 3 as their modules would log them. */
const resultYes = [1_000_000n, 0n];
const resultNo = [0n, 1_000_000n];

const noTotals: TokenTotals = {
  trades: 0,
  volumeUsd: 0n,
  volumeShares: 0n,
  lastPrice: null,
  lastTimestamp: 0,
  generations: 0,
};

export class MarketDirectory {
  readonly #contracts: Contracts;
  readonly #questions: QuestionBook;
  readonly #gen3: Gen3Book;
  readonly #conditions: JournaledMap<ConditionId, Condition>;
  readonly #places: JournaledMap<TokenId, TokenPlace>;
  readonly #resolutions: ResolutionLog;
  readonly #totals: JournaledMap<TokenId, TokenTotals>;
  /** The conditions of a generation-3 neg-risk event that are known. */
  readonly #conditionsOfEvent: JournaledMap<Hash, readonly ConditionId[]>;
  /** Registrations of conditions not prepared yet, by generation bits. */
  readonly #earlyRegistrations: JournaledMap<ConditionId, number>;

  constructor(contracts: Contracts, journal: Journal) {
    this.#contracts = contracts;
    this.#questions = new QuestionBook(contracts, journal);
    this.#gen3 = new Gen3Book(journal);
    this.#conditions = new JournaledMap(journal);
    this.#places = new JournaledMap(journal);
    this.#resolutions = new ResolutionLog(journal);
    this.#conditionsOfEvent = new JournaledMap(journal);
    this.#totals = new JournaledMap(journal);
    this.#earlyRegistrations = new JournaledMap(journal);
  }

  /** Takes in one event; those that tell nothing about markets change nothing. */
  applyEvent(located: LocatedEvent): void {
    const { event } = located;
    switch (event.kind) {
      case "condition_prepared":
        return this.#prepare(event, located);
      case "condition_resolved":
        return this.#resolve(located);
      case "token_registered":
        return this.#register(event.conditionId, located.address);
      case "question_initialized":
      case "question_updated":
      case "neg_risk_market_prepared":
      case "neg_risk_question_prepared":
      case "neg_risk_question_requested":
        return this.#questions.apply(event, located.address);
      case "gen3_event_announced":
      case "gen3_reporter_added":
      case "gen3_text_registered":
      case "gen3_condition_migrated":
      case "gen3_combo_prepared":
      case "gen3_remaining_resolved_no":
      case "gen3_other_resolved_yes":
        return this.#applyGen3(event, located);
      default:
        return;
    }
  }

  /** Adds trades to the totals of their tokens, as minute candles in any order. */
  applyCandles(candles: Iterable<MinuteCandle>): void {
    for (const candle of candles) {
      const before = this.#totals.get(candle.tokenId) ?? noTotals;
      this.#totals.set(candle.tokenId, addCandle(before, candle));
      const first = { seq: candle.firstSeq as Seq, timestamp: candle.firstTimestamp };
      this.#learnToken(candle.tokenId, candle.generations, first);
    }
  }

  /** Sets the totals of a token as the store sums them; only while loading. */
  loadTotals(tokenId: TokenId, totals: TokenTotals, first: Sighting): void {
    this.#totals.set(tokenId, totals);
    this.#learnToken(tokenId, totals.generations, first);
  }

  /** The market of a condition; `null` when it was never prepared. */
  market(conditionId: ConditionId): Market | null {
    const condition = this.#conditions.get(conditionId);
    return condition === undefined ? null : this.#describe(condition);
  }

  /** Where a token belongs; `null` when no condition is known to have it. */
  placeOf(tokenId: TokenId): TokenPlace | null {
    return this.#places.get(tokenId) ?? null;
  }

  /** The other token of the pair; `null` when unknown or there is none. */
  complementOf(tokenId: TokenId): TokenId | null {
    const place = this.#places.get(tokenId);
    if (place === undefined) return null;
    const tokenIds = this.#conditions.get(place.conditionId)?.tokenIds ?? [];
    return tokenIds[1 - place.outcomeIndex] ?? null;
  }

  /** The label of a token's outcome; `null` until a text has told it. */
  outcomeOf(tokenId: TokenId): string | null {
    const place = this.#places.get(tokenId);
    const market = place === undefined ? null : this.market(place.conditionId);
    return market?.tokens[place?.outcomeIndex ?? -1]?.outcome ?? null;
  }

  /** Whether a token was ever seen: belongs to a known condition, or was traded. */
  isKnownToken(tokenId: TokenId): boolean {
    return this.#places.get(tokenId) !== undefined || this.#totals.get(tokenId) !== undefined;
  }

  totalsOf(tokenId: TokenId): TokenTotals {
    return this.#totals.get(tokenId) ?? noTotals;
  }

  resolutionOf(conditionId: ConditionId): Resolution | null {
    return this.#resolutions.of(conditionId);
  }

  /** How conditions ended, in chain order. */
  get resolutions(): Pick<ResolutionLog, "ordered" | "indexOf"> {
    return this.#resolutions;
  }

  /**
   * The conditions that are markets (`docs/counting.md`, rule 9): registered or traded on an exchange of
   * ours, answered by an oracle of ours, or with more than two outcomes.
   */
  *listed(): Generator<ConditionId> {
    for (const conditionId of this.#conditions.keys()) {
      const condition = this.#conditions.get(conditionId);
      if (condition !== undefined && this.#isListed(condition)) yield conditionId;
    }
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

  #add(condition: Condition): void {
    const { conditionId, tokenIds } = condition;
    this.#conditions.set(conditionId, condition);
    for (const [outcomeIndex, tokenId] of tokenIds.entries()) {
      this.#places.set(tokenId, { conditionId, outcomeIndex });
    }
  }

  #applyGen3(event: Gen3MarketEvent, located: LocatedEvent): void {
    for (const conditionId of this.#gen3.apply(event, located)) this.#learn(conditionId, located);
    if (event.kind === "gen3_other_resolved_yes") {
      this.#resolveDerived(event.conditionId, located, resultYes);
    }
    if (event.kind === "gen3_remaining_resolved_no") {
      for (const conditionId of this.#conditionsOfEvent.get(event.eventId) ?? []) {
        this.#resolveRemaining(conditionId);
      }
    }
  }

  #learnToken(tokenId: TokenId, generations: number, first: Sighting): void {
    if (!generationsOf(generations).includes(3)) return;
    const conditionId = parseGen3TokenId(tokenId)?.conditionId;
    if (conditionId !== undefined) this.#learn(conditionId, first);
  }

  /**
   * Makes a condition of generation 3 known: nobody has to prepare it, so whatever names it first
   * brings it to life. While loading, trades come after events, so the earlier sighting counts.
   */
  #learn(conditionId: ConditionId, { seq, timestamp }: Sighting): void {
    const gen3 = parseGen3TokenId(conditionId as string as TokenId);
    if (gen3 === null) return;
    const known = this.#conditions.get(conditionId);
    if (known !== undefined) {
      const isEarlier = seq < known.createdSeq;
      if (isEarlier) this.#add({ ...known, createdAt: timestamp, createdSeq: seq });
      return;
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
      registeredBits: 0,
    });
    if (gen3.module !== "neg_risk") return;
    const siblings = this.#conditionsOfEvent.get(gen3.eventId) ?? [];
    this.#conditionsOfEvent.set(gen3.eventId, [...siblings, conditionId]);
    this.#resolveRemaining(conditionId);
  }

  #resolveRemaining(conditionId: ConditionId): void {
    const said = this.#gen3.derivedNoOf(conditionId);
    if (said !== null) this.#resolveDerived(conditionId, said, resultNo);
  }

  #resolveDerived(
    conditionId: ConditionId,
    { seq, timestamp, blockHash, txHash, address }: LocatedEvent,
    numerators: readonly bigint[],
  ): void {
    const place = { seq, timestamp, blockHash, txHash };
    const result = { conditionId, questionId: null, oracle: address, numerators, derived: true };
    this.#resolutions.add({ ...result, ...place });
  }

  #resolve(located: LocatedEvent): void {
    const resolution = resolutionOf(located);
    if (resolution === null) return;
    if (resolution.questionId === null) this.#learn(resolution.conditionId, located);
    this.#resolutions.add(resolution);
  }

  #register(conditionId: ConditionId, exchange: Address): void {
    const contract = this.#contracts.byAddress.get(exchange);
    if (contract?.kind !== "exchange") return;
    const bit = 1 << (contract.generation - 1);
    const condition = this.#conditions.get(conditionId);
    if (condition === undefined) {
      const known = this.#earlyRegistrations.get(conditionId) ?? 0;
      this.#earlyRegistrations.set(conditionId, known | bit);
    } else if ((condition.registeredBits & bit) === 0) {
      const registeredBits = condition.registeredBits | bit;
      this.#conditions.set(conditionId, { ...condition, registeredBits });
    }
  }

  /** Positions of neg-risk conditions are backed by the wrapper; never by what the exchange uses. */
  #collateralOf(oracle: Address): Address {
    const { wrappedCollateral, collateral } = this.#contracts;
    return this.#isNegRiskAdapter(oracle) ? wrappedCollateral : collateral;
  }

  #isNegRisk({ gen3, oracle }: Condition): boolean {
    if (gen3 !== null) return gen3.module === "neg_risk";
    return oracle !== null && this.#isNegRiskAdapter(oracle);
  }

  #isNegRiskAdapter(oracle: Address): boolean {
    return this.#contracts.byAddress.get(oracle)?.kind === "neg_risk_adapter";
  }

  #textOf(condition: Condition): MarketText {
    const { questionId, oracle, gen3 } = condition;
    if (questionId !== null && oracle !== null) {
      return this.#questions.textOf({ questionId, oracle, negRisk: this.#isNegRisk(condition) });
    }
    if (gen3 === null) return noText;
    const negRiskMarketId = gen3.module === "neg_risk" ? gen3.eventId : null;
    return { ...this.#gen3TextOf(gen3), negRiskMarketId };
  }

  /** The text registered for it, that of the older condition, or one made of its legs. */
  #gen3TextOf({ conditionId, eventId }: Gen3Position): MarketText {
    const registered = this.#gen3.textOf(conditionId, eventId);
    if (registered !== null) return displayOf(registered.text, registered.trusted);
    const legacy = this.#gen3.legacyOf(conditionId);
    const older = legacy === null ? undefined : this.#conditions.get(legacy);
    if (older !== undefined) return this.#textOf(older);
    const legs = this.#gen3.legsOf(conditionId);
    return legs === null ? noText : this.#comboTextOf(legs);
  }

  #comboTextOf(legs: readonly TokenId[]): MarketText {
    const parts = legs.map((tokenId) => {
      const place = this.placeOf(tokenId);
      const market = place === null ? null : this.market(place.conditionId);
      return { market, outcome: market?.tokens[place?.outcomeIndex ?? -1]?.outcome ?? null };
    });
    const titles = parts.map(({ market, outcome }) => `${market?.question}: ${outcome}`);
    // A combination of which a part cannot be named is better left unnamed.
    const isNamed = parts.every(({ market, outcome }) => market?.question && outcome !== null);
    if (!isNamed) return noText;
    const trusted = parts.every(({ market }) => market?.metadataSource === "chain");
    const source = trusted ? "chain" : "chain_untrusted";
    return { ...noText, title: titles.join(" + "), outcomes: ["Yes", "No"], source };
  }

  #isListed(condition: Condition): boolean {
    return (
      condition.oracle === null ||
      condition.outcomeCount > 2 ||
      condition.registeredBits !== 0 ||
      this.#contracts.byAddress.has(condition.oracle) ||
      condition.tokenIds.some((tokenId) => this.#totals.get(tokenId) !== undefined)
    );
  }

  #describe(condition: Condition): Market {
    const { conditionId, questionId, oracle, tokenIds } = condition;
    const text = this.#textOf(condition);
    const tradedBits = tokenIds.map((id) => this.totalsOf(id).generations);
    return {
      conditionId,
      questionId,
      oracle,
      outcomeCount: condition.outcomeCount,
      tokens: tokenIds.map((tokenId, outcomeIndex) => ({
        tokenId,
        outcomeIndex,
        outcome: text.outcomes?.[outcomeIndex] ?? null,
      })),
      question: text.title,
      description: text.description,
      metadataSource: text.source,
      eventId: text.eventId,
      negRisk: this.#isNegRisk(condition),
      negRiskMarketId: text.negRiskMarketId,
      exchangeVersions: generationsOf(
        tradedBits.reduce((bits, more) => bits | more, condition.registeredBits),
      ),
      createdAt: condition.createdAt,
      createdBlock: blockNumberOf(condition.createdSeq),
      resolution: this.resolutionOf(conditionId),
    };
  }
}

function addCandle(before: TokenTotals, candle: MinuteCandle): TokenTotals {
  const { close } = candle;
  const isNewer = close !== null && close.seq > (before.lastPrice?.seq ?? (-1 as Seq));
  return {
    trades: before.trades + candle.trades + candle.unpricedTrades,
    volumeUsd: before.volumeUsd + candle.buyVolumeUsd + candle.sellVolumeUsd + candle.unpricedUsd,
    volumeShares: before.volumeShares + candle.volume,
    lastPrice: isNewer ? close : before.lastPrice,
    lastTimestamp: Math.max(before.lastTimestamp, candle.lastTimestamp),
    generations: before.generations | candle.generations,
  };
}
