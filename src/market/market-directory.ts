/**
 * All markets known from the chain: a fold of events and trades in chain order, with undo for the
 * blocks that a fork may take back. Nothing is joined when it arrives, since texts, registrations,
 * results and trades come in any order and any of them may be missing for good; a `Market` is put
 * together when it is asked for.
 */
import type { Address, ConditionId, Hash, Seq, TokenId } from "../base/ids.ts";
import { blockNumberOf } from "../base/ids.ts";
import type { Contracts } from "../decode/contracts.ts";
import type { MarketEvent } from "../decode/events.ts";
import type { LocatedEvent } from "./block-facts.ts";
import { deriveTokenIds } from "./condition-ids.ts";
import { type Journal, JournaledMap } from "./journal.ts";
import { type Market, type Resolution, resolutionOf, type TokenTotals } from "./market.ts";
import { generationsOf, type MinuteCandle } from "./minute-candle.ts";
import { QuestionBook } from "./question-book.ts";

/** A condition as ConditionalTokens prepared it. */
type Condition = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash;
  readonly oracle: Address;
  readonly outcomeCount: number;
  readonly tokenIds: readonly TokenId[];
  readonly createdAt: number;
  readonly createdBlock: number;
  /** Which exchange generations registered its tokens: bit `generation - 1`. */
  readonly registeredBits: number;
};

/** Which outcome of which condition a token is. */
export type TokenPlace = { readonly conditionId: ConditionId; readonly outcomeIndex: number };

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
  readonly #conditions: JournaledMap<ConditionId, Condition>;
  readonly #places: JournaledMap<TokenId, TokenPlace>;
  readonly #resolutions: JournaledMap<ConditionId, Resolution>;
  readonly #totals: JournaledMap<TokenId, TokenTotals>;
  /** Registrations of conditions not prepared yet, by generation bits. */
  readonly #earlyRegistrations: JournaledMap<ConditionId, number>;

  constructor(contracts: Contracts, journal: Journal) {
    this.#contracts = contracts;
    this.#questions = new QuestionBook(contracts, journal);
    this.#conditions = new JournaledMap(journal);
    this.#places = new JournaledMap(journal);
    this.#resolutions = new JournaledMap(journal);
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
      case "neg_risk_market_prepared":
      case "neg_risk_question_prepared":
      case "neg_risk_question_requested":
        return this.#questions.apply(event, located.address);
      default:
        return;
    }
  }

  /** Adds trades to the totals of their tokens, as minute candles in any order. */
  applyCandles(candles: Iterable<MinuteCandle>): void {
    for (const candle of candles) {
      const before = this.#totals.get(candle.tokenId) ?? noTotals;
      this.#totals.set(candle.tokenId, addCandle(before, candle));
    }
  }

  /** Sets the totals of a token as the store sums them; only while loading. */
  loadTotals(tokenId: TokenId, totals: TokenTotals): void {
    this.#totals.set(tokenId, totals);
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
    return this.#resolutions.get(conditionId) ?? null;
  }

  /**
   * The conditions that are markets (`chain.md`, rule 9): registered or traded on an exchange of
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
    this.#conditions.set(conditionId, {
      conditionId,
      questionId,
      oracle,
      outcomeCount: outcomeSlotCount,
      tokenIds,
      createdAt: timestamp,
      createdBlock: blockNumberOf(seq),
      registeredBits: this.#earlyRegistrations.get(conditionId) ?? 0,
    });
    for (const [outcomeIndex, tokenId] of tokenIds.entries()) {
      this.#places.set(tokenId, { conditionId, outcomeIndex });
    }
  }

  #resolve(located: LocatedEvent): void {
    const resolution = resolutionOf(located);
    if (resolution !== null) this.#resolutions.set(resolution.conditionId, resolution);
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
    return this.#isNegRisk(oracle) ? this.#contracts.wrappedCollateral : this.#contracts.collateral;
  }

  #isNegRisk(oracle: Address): boolean {
    return this.#contracts.byAddress.get(oracle)?.kind === "neg_risk_adapter";
  }

  #isListed(condition: Condition): boolean {
    return (
      condition.outcomeCount > 2 ||
      condition.registeredBits !== 0 ||
      this.#contracts.byAddress.has(condition.oracle) ||
      condition.tokenIds.some((tokenId) => this.#totals.get(tokenId) !== undefined)
    );
  }

  #describe(condition: Condition): Market {
    const { conditionId, questionId, oracle, tokenIds } = condition;
    const negRisk = this.#isNegRisk(oracle);
    const text = this.#questions.textOf({ questionId, oracle, negRisk });
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
      negRisk,
      negRiskMarketId: text.negRiskMarketId,
      exchangeVersions: generationsOf(
        tradedBits.reduce((bits, more) => bits | more, condition.registeredBits),
      ),
      createdAt: condition.createdAt,
      createdBlock: condition.createdBlock,
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
