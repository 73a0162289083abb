/**
 * What is known of conditions and their tokens, and how a `Market` is built from it. Nothing is joined
 * on arrival, because texts, registrations, results and trades come in any order, and any of them can
 * be missing forever. A `Market` is built when it is requested.
 */
import type { Address, ConditionId, Hash, Seq, TokenId } from "../../base/ids.ts";
import { toBlockNumber } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { type Gen3Position, getArity, parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import { noSupply, type TokenSupply } from "../../market/ledger/holder.ts";
import {
  getGenerations,
  type Market,
  type Resolution,
  type TokenFacts,
  type TokenTotals,
} from "../../market/market.ts";
import { windowOutcomes } from "../../market/price-window.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import { UnknownContracts } from "../unknown-contracts.ts";
import { type ConditionText, Gen3Registry } from "./gen3-registry.ts";
import { type LegacyCondition, Mirrors } from "./mirrors.ts";
import { type MarketText, noText, Questions, toDisplay, withUpdates } from "./questions.ts";
import { ResolutionLog } from "./resolution-log.ts";
import { noTotals, supplyCodec, totalsCodec } from "./token-totals.ts";

/** A condition that was prepared on ConditionalTokens, or one of generation 3 that was seen. */
export type Condition = {
  readonly conditionId: ConditionId;
  /** `null` in generation 3, like the oracle. There, `gen3` has what the condition id encodes. */
  readonly questionId: Hash | null;
  readonly oracle: Address | null;
  readonly gen3: Gen3Position | null;
  readonly outcomeCount: number;
  readonly tokenIds: readonly TokenId[];
  readonly createdAt: number;
  readonly createdSeq: Seq;
  /** Which exchange generations registered its tokens: bit `generation - 1`. */
  readonly registeredBits: number;
  readonly ordinal: number;
  /** The mirror of a legacy condition, or the legacy condition of a mirror: together they are one market. */
  readonly pairedId?: ConditionId | undefined;
  /** The first mirror of a legacy condition that a log names. */
  readonly namedMirrorId?: ConditionId | undefined;
  /** How it holds its tokens, if only the venue has named it: no log has. Then `createdSeq` is 0. */
  readonly adoptedAs?: "standard" | "neg_risk" | undefined;
};

/** Which outcome of which condition a token is. */
export type TokenSlot = { readonly conditionId: ConditionId; readonly outcomeIndex: number };

/** All known conditions and their tokens, for reading. `MarketDirectory` adds to them. */
export class Conditions {
  readonly contracts: Contracts;
  readonly questions: Questions;
  readonly gen3: Gen3Registry;
  protected readonly mirrors: Mirrors;
  /** The contracts in use that are not configured. */
  readonly unknownContracts: UnknownContracts;
  protected readonly conditions: JournaledMap<ConditionId, Condition>;
  protected readonly slots: JournaledMap<TokenId, TokenSlot>;
  /** The results of conditions, in chain order. */
  readonly resolutions: ResolutionLog;
  protected readonly totals: JournaledMap<TokenId, TokenTotals>;
  protected readonly supplies: JournaledMap<TokenId, TokenSupply>;
  /** The first block indexed; `null` before it. */
  firstBlock: number | null = null;
  /** The venue's market metadata. If a reorg reverts some of it, it is requested again. */
  protected readonly venue: JournaledMap<ConditionId, VenueMetadata>;

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.contracts = contracts;
    this.questions = new Questions(contracts, stateStore);
    this.gen3 = new Gen3Registry(contracts, stateStore);
    this.unknownContracts = new UnknownContracts(contracts, stateStore);
    this.conditions = new JournaledMap(stateStore, "market.condition");
    this.mirrors = new Mirrors(stateStore, this.questions, (conditionId) => {
      const condition = this.conditions.get(conditionId);
      return condition === undefined ? null : this.asLegacy(condition);
    });
    this.slots = new JournaledMap(stateStore, "places");
    this.resolutions = new ResolutionLog(stateStore);
    this.totals = new JournaledMap(stateStore, "totals", totalsCodec);
    this.supplies = new JournaledMap(stateStore, "supplies", supplyCodec);
    this.venue = new JournaledMap(stateStore, "market.venue");
  }

  /** The venue's newest market metadata; `null` when it was not requested or the venue does not know the market. */
  getMetadata(conditionId: ConditionId): VenueMetadata | null {
    return this.venue.get(conditionId) ?? null;
  }

  /** The market of a condition, which can be a mirror; `null` when the condition is unknown. */
  market(conditionId: ConditionId): Market | null {
    const condition = this.conditions.get(this.getMarketId(conditionId));
    return condition === undefined ? null : this.describeMarket(condition);
  }

  /** A condition alone, without its mirror and the venue's market metadata; `null` when it is unknown. */
  provenMarket(conditionId: ConditionId): Market | null {
    const condition = this.conditions.get(conditionId);
    return condition === undefined ? null : this.describe(condition, null);
  }

  /** The condition whose market a condition belongs to: the legacy condition of a mirror, otherwise the condition itself. */
  getMarketId(conditionId: ConditionId): ConditionId {
    const condition = this.conditions.get(conditionId);
    return (condition?.gen3 ? condition.pairedId : undefined) ?? conditionId;
  }

  /** A condition, and its mirror or the legacy condition that it mirrors. */
  conditionsOfMarket(conditionId: ConditionId): readonly ConditionId[] {
    const pairedId = this.conditions.get(conditionId)?.pairedId;
    return pairedId === undefined ? [conditionId] : [conditionId, pairedId];
  }

  /** The tokens of a condition's market, in both ledgers. */
  getTokenIds(conditionId: ConditionId): readonly TokenId[] {
    const ids = this.conditionsOfMarket(conditionId);
    return ids.flatMap((id) => this.conditions.get(id)?.tokenIds ?? []);
  }

  /** The token of the same outcome on the other ledger: of the mirror, or of the legacy condition; `null` without one. */
  getMirroredToken(tokenId: TokenId): TokenId | null {
    const slot = this.slots.get(tokenId);
    const pairedId = slot && this.conditions.get(slot.conditionId)?.pairedId;
    const paired = pairedId && this.conditions.get(pairedId);
    return (slot && paired?.tokenIds[slot.outcomeIndex]) ?? null;
  }

  /** How a condition that only the venue has named holds its tokens; `null` for all others. */
  adoptedAs(conditionId: ConditionId): NonNullable<Condition["adoptedAs"]> | null {
    return this.conditions.get(conditionId)?.adoptedAs ?? null;
  }

  /** The condition and outcome of a token; `null` when no known condition has the token. */
  getSlot(tokenId: TokenId): TokenSlot | null {
    return this.slots.get(tokenId) ?? null;
  }

  /** The other token of the pair; `null` when it is unknown or does not exist. */
  getComplement(tokenId: TokenId): TokenId | null {
    const slot = this.slots.get(tokenId);
    if (slot === undefined) return null;
    const tokenIds = this.conditions.get(slot.conditionId)?.tokenIds ?? [];
    return tokenIds[1 - slot.outcomeIndex] ?? null;
  }

  /** The token and its complement; the token alone while its complement is unknown or does not exist. */
  getPair(tokenId: TokenId): readonly TokenId[] {
    const complement = this.getComplement(tokenId);
    return complement === null ? [tokenId] : [tokenId, complement];
  }

  /** Describes a token, its outcome and its market. */
  getToken(tokenId: TokenId): TokenFacts {
    const { conditionId = null, outcomeIndex = null } = this.slots.get(tokenId) ?? {};
    const market = conditionId && this.market(conditionId);
    const outcome = market?.tokens[outcomeIndex ?? -1]?.outcome ?? null;
    const complement = this.getComplement(tokenId);
    return { tokenId, complement, conditionId, outcomeIndex, outcome, market };
  }

  /** Whether a token belongs to a known condition or was traded. */
  isKnownToken(tokenId: TokenId): boolean {
    return this.slots.get(tokenId) !== undefined || this.totals.get(tokenId) !== undefined;
  }

  getTotals(tokenId: TokenId): TokenTotals {
    return this.totals.get(tokenId) ?? noTotals;
  }

  /** How much of a token was minted, burnt and taken out of circulation since the start of coverage. */
  getSupply(tokenId: TokenId): TokenSupply {
    return this.supplies.get(tokenId) ?? { ...noSupply, seq: -1 };
  }

  /** Whether every transfer of a token is indexed: all of its contract are, or its market was made within the coverage. */
  isCompleteToken(tokenId: TokenId): boolean {
    const kind = parseGen3TokenId(tokenId) === null ? "conditional_tokens" : "position_manager";
    return this.isCompleteContract(kind) || this.#isBornCovered(tokenId);
  }

  /** Whether every log of a token contract is indexed. */
  isCompleteContract(kind: "conditional_tokens" | "position_manager"): boolean {
    const contracts = [...this.contracts.byAddress.values()].filter((one) => one.kind === kind);
    return (this.firstBlock ?? 0) <= Math.min(...contracts.map(({ startBlock }) => startBlock));
  }

  /** The fee of conversions of a token's event, in hundredths of a percent. */
  conversionFeeBips(tokenId: TokenId): number {
    const slot = this.slots.get(tokenId);
    const condition = slot && this.conditions.get(slot.conditionId);
    const questionId = condition?.questionId ?? null;
    return questionId === null ? 0 : this.questions.getFeeBips(questionId);
  }

  /** Whether a token's condition was prepared or announced within the coverage, not only named by the venue. */
  #isBornCovered(tokenId: TokenId): boolean {
    const slot = this.slots.get(tokenId);
    const condition = slot && this.conditions.get(slot.conditionId);
    if (condition === undefined || condition.adoptedAs !== undefined) return false;
    return condition.gen3 === null || this.gen3.getAnnouncedSeq(condition.gen3.eventId) !== null;
  }

  /** The result of a condition alone: its mirror has its own. */
  getResolution(conditionId: ConditionId): Resolution | null {
    return this.resolutions.of(conditionId);
  }

  /** The condition as one that can have a mirror; `null` for all others. */
  protected asLegacy(condition: Condition): LegacyCondition | null {
    const { conditionId, questionId, gen3, outcomeCount, namedMirrorId = null } = condition;
    if (questionId === null || gen3 !== null || outcomeCount !== 2) return null;
    return { conditionId, questionId, namedMirrorId, isNegRisk: this.isNegRisk(condition) };
  }

  protected isNegRisk({ gen3, oracle, adoptedAs }: Condition): boolean {
    if (adoptedAs !== undefined) return adoptedAs === "neg_risk";
    if (gen3 !== null) return gen3.module === "neg_risk";
    return oracle !== null && this.isNegRiskAdapter(oracle);
  }

  protected isNegRiskAdapter(oracle: Address): boolean {
    return this.contracts.byAddress.get(oracle)?.kind === "neg_risk_adapter";
  }

  #toText(condition: Condition): MarketText {
    const { questionId, oracle, gen3 } = condition;
    // Anyone can prepare more conditions about a question. Only the one with two outcomes is its market.
    if (condition.outcomeCount !== 2) return noText;
    if (questionId !== null && oracle !== null) {
      return this.questions.toText({ questionId, oracle, negRisk: this.isNegRisk(condition) });
    }
    if (gen3 === null) return noText;
    const text = this.#getGen3Text(gen3);
    if (gen3.module !== "neg_risk") return text;
    const venueEvent = this.#getGen3EventText(gen3.eventId);
    const composed = text.title === null ? this.#composeQuestion(gen3, venueEvent) : null;
    const { eventId, eventTitle, negRiskMarketId } = venueEvent;
    return { ...(composed ?? text), eventId, eventTitle, negRiskMarketId };
  }

  /** Returns the text of an event of module 2, as that of a market without questions. */
  #getGen3EventText(eventId: Hash): MarketText {
    const marketId = this.mirrors.getNegRiskMarket(eventId);
    if (marketId !== null) return this.questions.textOfNegRiskMarket(marketId);
    const text = toMarketText(this.gen3.getEventText(eventId));
    return { ...text, outcomes: null, eventTitle: text.title, negRiskMarketId: eventId };
  }

  /** Composes the text of a condition that has none by the rules of its module; `null` where it can have one. */
  #composeQuestion(
    { eventId, conditionIndex }: Gen3Position,
    venueEvent: MarketText,
  ): MarketText | null {
    const arity = getArity(eventId);
    const isOther = conditionIndex === arity;
    // Anyone can use ids that no event has.
    const isOfEvent = arity > 0 && conditionIndex <= arity;
    if (!isOfEvent || !(isOther || this.gen3.isAtomic(eventId))) return null;
    // The result of an atomic event is the index of its true condition.
    const answer = isOther ? "Other" : `answer ${conditionIndex}`;
    const title = venueEvent.eventTitle === null ? null : `${venueEvent.eventTitle} (${answer})`;
    return { ...venueEvent, title, outcomes: ["Yes", "No"], isComposed: true };
  }

  /** Returns the registered text, or one made of the price window, or one made of the legs. */
  #getGen3Text({ conditionId, eventId }: Gen3Position): MarketText {
    const registered = this.gen3.toText(conditionId, eventId);
    if (registered !== null) return toMarketText(registered);
    const windowTitle = this.gen3.getWindowTitle(eventId);
    if (windowTitle !== undefined) {
      const source = windowTitle === null ? "none" : "chain";
      return { ...noText, title: windowTitle, outcomes: windowOutcomes, source, isComposed: true };
    }
    const legs = this.gen3.getLegs(conditionId);
    return legs === null ? noText : this.#getComboText(legs);
  }

  #getComboText(legs: readonly TokenId[]): MarketText {
    const parts = legs.map((tokenId) => {
      const slot = this.getSlot(tokenId);
      // A leg that is a combination has no text here: combinations that contain each other would recurse forever.
      const isSimple = slot !== null && this.gen3.getLegs(slot.conditionId) === null;
      const market = isSimple ? this.market(slot.conditionId) : null;
      return { market, outcome: market?.tokens[slot?.outcomeIndex ?? -1]?.outcome ?? null };
    });
    const titles = parts.map(({ market, outcome }) => `${market?.question}: ${outcome}`);
    // Yes pays when all legs win, whatever their names. Without the names of all legs there is no question.
    const text = { ...noText, outcomes: ["Yes", "No"] } as const;
    const isNamed = parts.every(({ market, outcome }) => market?.question && outcome !== null);
    if (!isNamed) return text;
    const trusted = parts.every(({ market }) => market?.metadataSource === "chain");
    const source = trusted ? "chain" : "chain_untrusted";
    return { ...text, title: titles.join(" + "), source };
  }

  /** Whether it counts as a market (`docs/counting.md`, rule 9). */
  protected isListed(condition: Condition): boolean {
    return (
      condition.oracle === null ||
      condition.adoptedAs !== undefined ||
      condition.outcomeCount > 2 ||
      condition.registeredBits !== 0 ||
      this.contracts.byAddress.has(condition.oracle) ||
      condition.tokenIds.some((tokenId) => this.totals.get(tokenId) !== undefined)
    );
  }

  /** Describes a market: a condition, with its mirror if it has one. */
  protected describeMarket(condition: Condition): Market {
    const { conditionId, gen3, pairedId } = condition;
    const mirror = gen3 === null && pairedId ? this.conditions.get(pairedId) : undefined;
    if (mirror === undefined) return this.describe(condition);
    const venue = this.getMetadata(conditionId) ?? this.getMetadata(mirror.conditionId);
    const own = this.describe(condition, venue);
    const other = this.describe(mirror, venue);
    const text = own.question === null && other.question !== null ? other : own;
    const getOutcome = (index: number) =>
      text.tokens[index]?.outcome ?? own.tokens[index]?.outcome ?? null;
    const named = (tokens: Market["tokens"]) =>
      tokens.map((token) => ({ ...token, outcome: getOutcome(token.outcomeIndex) }));
    return {
      ...own,
      tokens: named(own.tokens),
      question: text.question,
      description: text.description,
      metadataSource: text.metadataSource,
      exchangeVersions: [...new Set([...own.exchangeVersions, ...other.exchangeVersions])],
      resolution: getEarlier(own.resolution, other.resolution),
      mirror: {
        conditionId: mirror.conditionId,
        tokens: named(other.tokens),
        createdAt: mirror.createdAt,
        registeredBlock: this.mirrors.getRegisteredBlock(mirror.conditionId),
        resolution: other.resolution,
      },
      mirrorEventId: other.mirrorEventId,
    };
  }

  /** Describes a condition alone. */
  protected describe(
    condition: Condition,
    venue: VenueMetadata | null = this.getMetadata(condition.conditionId),
  ): Market {
    const { conditionId, questionId, oracle, tokenIds } = condition;
    const text = this.#toText(condition);
    const isWithoutText = text.source === "none" || text.isComposed;
    const isVenueText = isWithoutText && venue !== null && venue.question !== null;
    const candidates = [text.outcomes, venue?.outcomes];
    const outcomes =
      (isVenueText ? candidates.toReversed() : candidates).find((labels) => labels) ?? [];
    const tradedBits = tokenIds.map((id) => this.getTotals(id).generations);
    const { gen3 } = condition;
    const isMirrorEvent = gen3?.module === "neg_risk" && text.negRiskMarketId !== gen3.eventId;
    return {
      conditionId,
      questionId,
      oracle,
      outcomeCount: condition.outcomeCount,
      tokens: tokenIds.map((tokenId, outcomeIndex) => ({
        tokenId,
        outcomeIndex,
        outcome: outcomes[outcomeIndex] ?? null,
      })),
      question: isVenueText ? venue.question : text.title,
      description: text.description ?? (isVenueText ? venue.description : null),
      metadataSource: isVenueText ? "venue" : text.source,
      eventId: text.eventId ?? venue?.eventId ?? null,
      eventTitle: text.eventTitle ?? venue?.eventTitle ?? null,
      negRisk: this.isNegRisk(condition),
      negRiskMarketId: text.negRiskMarketId,
      exchangeVersions: getGenerations(
        tradedBits.reduce((bits, more) => bits | more, condition.registeredBits),
      ),
      createdAt: condition.createdAt,
      createdBlock: condition.adoptedAs === undefined ? toBlockNumber(condition.createdSeq) : null,
      resolution: this.getResolution(conditionId),
      venue,
      mirror: null,
      mirrorEventId: isMirrorEvent ? gen3.eventId : null,
    };
  }
}

function toMarketText(registered: ConditionText | null): MarketText {
  if (registered === null) return noText;
  const { text, trusted, updates } = registered;
  return withUpdates(toDisplay(text, trusted), updates);
}

function getEarlier(one: Resolution | null, other: Resolution | null): Resolution | null {
  if (one === null || other === null) return one ?? other;
  return other.seq < one.seq ? other : one;
}
