/**
 * What is known of conditions and their tokens, and how a `Market` is built from it. Nothing is joined
 * on arrival, because texts, registrations, results and trades come in any order, and any of them can
 * be missing forever. A `Market` is built when it is requested.
 */
import type { Address, ConditionId, Hash, Seq, TokenId } from "../../base/ids.ts";
import { blockNumberOf } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Gen3Position } from "../../market/ids/gen3-ids.ts";
import {
  generationsOf,
  type Market,
  type Resolution,
  type TokenTotals,
} from "../../market/market.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import { Gen3Registry } from "./gen3-registry.ts";
import { displayOf, type MarketText, noText, Questions, withUpdates } from "./questions.ts";
import { ResolutionLog } from "./resolution-log.ts";
import { noTotals, totalsCodec } from "./token-totals.ts";

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
};

/** Which outcome of which condition a token is. */
export type TokenPlace = { readonly conditionId: ConditionId; readonly outcomeIndex: number };

/** All known conditions and their tokens, for reading. `MarketDirectory` adds to them. */
export class Conditions {
  readonly contracts: Contracts;
  protected readonly questions: Questions;
  protected readonly gen3: Gen3Registry;
  protected readonly conditions: JournaledMap<ConditionId, Condition>;
  protected readonly places: JournaledMap<TokenId, TokenPlace>;
  /** The results of conditions, in chain order. */
  readonly resolutions: ResolutionLog;
  protected readonly totals: JournaledMap<TokenId, TokenTotals>;
  /** The venue's market metadata. If a reorg reverts some of it, it is requested again. */
  protected readonly venue: JournaledMap<ConditionId, VenueMetadata>;

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.contracts = contracts;
    this.questions = new Questions(contracts, stateStore);
    this.gen3 = new Gen3Registry(stateStore);
    this.conditions = new JournaledMap(stateStore, "market.condition");
    this.places = new JournaledMap(stateStore, "places");
    this.resolutions = new ResolutionLog(stateStore);
    this.totals = new JournaledMap(stateStore, "totals", totalsCodec);
    this.venue = new JournaledMap(stateStore, "market.venue");
  }

  /** The venue's newest market metadata; `null` when it was not requested or the venue does not know the market. */
  metadataOf(conditionId: ConditionId): VenueMetadata | null {
    return this.venue.get(conditionId) ?? null;
  }

  /** The market of a condition; `null` when the condition is unknown. */
  market(conditionId: ConditionId): Market | null {
    const condition = this.conditions.get(conditionId);
    return condition === undefined ? null : this.describe(condition);
  }

  /** The market of a condition without the venue's market metadata; `null` when the condition is unknown. */
  provenMarket(conditionId: ConditionId): Market | null {
    const condition = this.conditions.get(conditionId);
    return condition === undefined ? null : this.describe(condition, null);
  }

  /** The condition and outcome of a token; `null` when no known condition has the token. */
  placeOf(tokenId: TokenId): TokenPlace | null {
    return this.places.get(tokenId) ?? null;
  }

  /** The other token of the pair; `null` when it is unknown or does not exist. */
  complementOf(tokenId: TokenId): TokenId | null {
    const place = this.places.get(tokenId);
    if (place === undefined) return null;
    const tokenIds = this.conditions.get(place.conditionId)?.tokenIds ?? [];
    return tokenIds[1 - place.outcomeIndex] ?? null;
  }

  /** The token and its complement; the token alone while its complement is unknown or does not exist. */
  pairOf(tokenId: TokenId): readonly TokenId[] {
    const complement = this.complementOf(tokenId);
    return complement === null ? [tokenId] : [tokenId, complement];
  }

  /** The label of a token's outcome; `null` until a text gives it. */
  outcomeOf(tokenId: TokenId): string | null {
    const place = this.places.get(tokenId);
    const market = place === undefined ? null : this.market(place.conditionId);
    return market?.tokens[place?.outcomeIndex ?? -1]?.outcome ?? null;
  }

  /** Whether a token belongs to a known condition or was traded. */
  isKnownToken(tokenId: TokenId): boolean {
    return this.places.get(tokenId) !== undefined || this.totals.get(tokenId) !== undefined;
  }

  totalsOf(tokenId: TokenId): TokenTotals {
    return this.totals.get(tokenId) ?? noTotals;
  }

  resolutionOf(conditionId: ConditionId): Resolution | null {
    return this.resolutions.of(conditionId);
  }

  protected isNegRisk({ gen3, oracle }: Condition): boolean {
    if (gen3 !== null) return gen3.module === "neg_risk";
    return oracle !== null && this.isNegRiskAdapter(oracle);
  }

  protected isNegRiskAdapter(oracle: Address): boolean {
    return this.contracts.byAddress.get(oracle)?.kind === "neg_risk_adapter";
  }

  #textOf(condition: Condition): MarketText {
    const { questionId, oracle, gen3 } = condition;
    // Anyone can prepare more conditions about a question. Only the one with two outcomes is its market.
    if (condition.outcomeCount !== 2) return noText;
    if (questionId !== null && oracle !== null) {
      return this.questions.textOf({ questionId, oracle, negRisk: this.isNegRisk(condition) });
    }
    if (gen3 === null) return noText;
    const negRiskMarketId = gen3.module === "neg_risk" ? gen3.eventId : null;
    const text = this.#gen3TextOf(gen3);
    const eventTitle = this.gen3.eventTitleOf(gen3.eventId) ?? text.eventTitle;
    return { ...text, eventTitle, negRiskMarketId };
  }

  /** Returns the registered text, or else the text of the older condition, or else a text made of the legs. */
  #gen3TextOf({ conditionId, eventId }: Gen3Position): MarketText {
    const registered = this.gen3.textOf(conditionId, eventId);
    if (registered !== null) {
      return withUpdates(displayOf(registered.text, registered.trusted), registered.updates);
    }
    const legacy = this.gen3.legacyOf(conditionId);
    const older = legacy === null ? undefined : this.conditions.get(legacy);
    if (older !== undefined && older.gen3 === null) return this.#textOf(older);
    const legs = this.gen3.legsOf(conditionId);
    return legs === null ? noText : this.#comboTextOf(legs);
  }

  #comboTextOf(legs: readonly TokenId[]): MarketText {
    const parts = legs.map((tokenId) => {
      const place = this.placeOf(tokenId);
      // A leg that is a combination has no text here: combinations that contain each other would recurse forever.
      const isSimple = place !== null && this.gen3.legsOf(place.conditionId) === null;
      const market = isSimple ? this.market(place.conditionId) : null;
      return { market, outcome: market?.tokens[place?.outcomeIndex ?? -1]?.outcome ?? null };
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
      condition.outcomeCount > 2 ||
      condition.registeredBits !== 0 ||
      this.contracts.byAddress.has(condition.oracle) ||
      condition.tokenIds.some((tokenId) => this.totals.get(tokenId) !== undefined)
    );
  }

  protected describe(
    condition: Condition,
    venue: VenueMetadata | null = this.metadataOf(condition.conditionId),
  ): Market {
    const { conditionId, questionId, oracle, tokenIds } = condition;
    const text = this.#textOf(condition);
    const outcomes = text.outcomes ?? venue?.outcomes ?? [];
    const isVenueText = text.source === "none" && venue !== null && venue.question !== null;
    const tradedBits = tokenIds.map((id) => this.totalsOf(id).generations);
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
      exchangeVersions: generationsOf(
        tradedBits.reduce((bits, more) => bits | more, condition.registeredBits),
      ),
      createdAt: condition.createdAt,
      createdBlock: blockNumberOf(condition.createdSeq),
      resolution: this.resolutionOf(conditionId),
      venue,
    };
  }
}
