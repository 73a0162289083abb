/**
 * The texts that say what conditions are about. A normal condition names a UMA question on its oracle.
 * A neg-risk condition names a question of the adapter, which the operator ties to the UMA request that
 * answers it. It also belongs to a neg-risk market, which has its own text.
 *
 * Anyone can write these texts. The source of a known creator's text is `chain`, of any other text
 * `chain_untrusted`. A text that does not hash to the id it claims is ignored.
 */
import type { Address, ConditionId, Hash } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { MarketEvent } from "../../contracts/events.ts";
import { deriveConditionId } from "../../market/ids/condition-ids.ts";
import { toKeccak } from "../../market/ids/keccak.ts";
import type { MetadataSource } from "../../market/market.ts";
import {
  decodeText,
  type EventText,
  parseEventText,
  parseNegRiskQuestionText,
  parseQuestionText,
  type QuestionText,
} from "../../market/question-text.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";

/** The events that have a text, and those that link texts. */
export type QuestionEvent = Extract<
  MarketEvent,
  { kind: `question_${string}` | `neg_risk_${string}` }
>;

/** The joined text of one condition, for display. */
export type MarketText = {
  readonly title: string | null;
  readonly description: string | null;
  readonly outcomes: readonly [string, string] | null;
  readonly source: MetadataSource;
  readonly eventId: string | null;
  readonly eventTitle: string | null;
  readonly negRiskMarketId: Hash | null;
  /** Composed here, because the chain has no text. A text of the venue replaces it. */
  readonly isComposed: boolean;
};

type UmaQuestion = {
  readonly adapter: Address;
  readonly text: QuestionText;
  readonly creator: Address | null;
  readonly trusted: boolean;
  /** The creator's later posts about the question, oldest first. */
  readonly updates: readonly string[];
};
type NegRiskQuestion = {
  readonly negRiskMarketId: Hash;
  readonly requestId: Hash | null;
  readonly text: QuestionText;
};
type NegRiskMarket = {
  readonly text: EventText;
  readonly trusted: boolean;
  /** The fee of conversions, in hundredths of a percent. */
  readonly feeBips: number;
};

/** How many posts about one question are kept. No one clarifies a question more often. */
const updatesMax = 100;

/** The text of a condition about which nothing was written. */
export const noText: MarketText = {
  title: null,
  description: null,
  outcomes: null,
  source: "none",
  eventId: null,
  eventTitle: null,
  negRiskMarketId: null,
  isComposed: false,
};

export class Questions {
  readonly #contracts: Contracts;
  /** By UMA question id. Two adapters can have the same id: the first one did not derive it from the text. */
  readonly #umaQuestions: JournaledMap<Hash, readonly UmaQuestion[]>;
  readonly #negRiskQuestions: JournaledMap<Hash, NegRiskQuestion>;
  readonly #negRiskMarkets: JournaledMap<Hash, NegRiskMarket>;
  /** The neg-risk questions of a market, by its id, and those that a request answers, by the request's id. */
  readonly #questionsByMarket: JournaledMap<Hash, readonly Hash[]>;
  readonly #negRiskAdapters: readonly Address[];

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.#contracts = contracts;
    this.#umaQuestions = new JournaledMap(stateStore, "uma_questions");
    this.#negRiskQuestions = new JournaledMap(stateStore, "neg_risk_questions");
    this.#negRiskMarkets = new JournaledMap(stateStore, "neg_risk_markets");
    this.#questionsByMarket = new JournaledMap(stateStore, "neg_risk_questions_of");
    const all = [...contracts.byAddress.values()];
    this.#negRiskAdapters = all
      .filter(({ kind }) => kind === "neg_risk_adapter")
      .map(({ address }) => address);
  }

  /** Applies one event of the contract at `address`. Returns the conditions whose text can have changed. */
  apply(event: QuestionEvent, address: Address): readonly ConditionId[] {
    switch (event.kind) {
      case "question_initialized":
        this.#addUmaQuestion(event, address);
        return this.#conditionsAsking(event.questionId, address);
      case "question_updated":
        this.#addUpdate(event, address);
        return this.#conditionsAsking(event.questionId, address);
      case "neg_risk_market_prepared":
        this.#negRiskMarkets.set(event.negRiskMarketId, {
          text: parseEventText(toBytes(event.text)),
          trusted: this.#contracts.byAddress.get(event.oracle)?.kind === "neg_risk_operator",
          feeBips: Number(event.feeBips),
        });
        return this.#negRiskConditions(this.#questionsByMarket.get(event.negRiskMarketId) ?? []);
      case "neg_risk_question_prepared":
        this.#addNegRiskQuestion(event, null);
        return this.#negRiskConditions([event.questionId]);
      case "neg_risk_question_requested": {
        this.#addNegRiskQuestion(event, event.requestId);
        const requested = this.#umaQuestions.get(event.requestId) ?? [];
        return [
          ...this.#negRiskConditions([event.questionId]),
          ...requested.map(({ adapter }) => getCondition(adapter, event.requestId)),
        ];
      }
    }
  }

  toText(condition: { questionId: Hash; oracle: Address; negRisk: boolean }): MarketText {
    const { questionId, oracle, negRisk } = condition;
    return negRisk ? this.#negRiskText(questionId) : this.#umaText(questionId, oracle);
  }

  /** The text of a neg-risk market, as that of a market without questions. */
  textOfNegRiskMarket(negRiskMarketId: Hash): MarketText {
    const market = this.#negRiskMarkets.get(negRiskMarketId);
    const text = getEventText(market);
    const source = getSource(text.eventTitle, market?.trusted === true);
    return { ...noText, ...text, source, negRiskMarketId };
  }

  /** The neg-risk market of a question that its adapter has prepared; `null` for other questions. */
  getNegRiskMarket(questionId: Hash): Hash | null {
    return this.#negRiskQuestions.get(questionId)?.negRiskMarketId ?? null;
  }

  /** The UMA request that answers a neg-risk question; `null` while no operator has named it. */
  getRequestId(questionId: Hash): Hash | null {
    return this.#negRiskQuestions.get(questionId)?.requestId ?? null;
  }

  /** The number of questions of a neg-risk market, which are numbered from 0. The first of them can be unknown. */
  getQuestionCount(negRiskMarketId: Hash): number {
    const indexes = (this.#questionsByMarket.get(negRiskMarketId) ?? [])
      .filter((questionId) => questionId.startsWith(negRiskMarketId.slice(0, -2)))
      .map((questionId) => Number.parseInt(questionId.slice(-2), 16));
    return Math.max(-1, ...indexes) + 1;
  }

  /** The conditions of a neg-risk question, one on each adapter, prepared or not. */
  conditionsOfQuestion(questionId: Hash): readonly ConditionId[] {
    return this.#negRiskConditions([questionId]);
  }

  /** The fee of conversions of the event of a neg-risk question, in hundredths of a percent. */
  getFeeBips(questionId: Hash): number {
    const question = this.#negRiskQuestions.get(questionId);
    const market = question && this.#negRiskMarkets.get(question.negRiskMarketId);
    return market?.feeBips ?? 0;
  }

  #addUmaQuestion(
    event: Extract<QuestionEvent, { kind: "question_initialized" }>,
    adapter: Address,
  ): void {
    const bytes = toBytes(event.text);
    if (event.isHashOfText && toKeccak(bytes) !== event.questionId) return;
    const { creator, questionId } = event;
    const trusted = creator !== null && this.#contracts.knownCreators.has(creator);
    const text = parseQuestionText(bytes);
    this.#putUmaQuestion(questionId, { adapter, text, creator, trusted, updates: [] });
  }

  /** Anyone can post on the bulletin board; only the creator's posts are about the question. */
  #addUpdate(event: Extract<QuestionEvent, { kind: "question_updated" }>, adapter: Address): void {
    const { questionId, owner } = event;
    const question = this.#umaQuestions.get(questionId)?.find((q) => q.adapter === adapter);
    const update = decodeText(toBytes(event.text));
    if (question === undefined || question.creator !== owner || update === null) return;
    const updates = [...question.updates, update].slice(0, updatesMax);
    this.#putUmaQuestion(questionId, { ...question, updates });
  }

  #putUmaQuestion(questionId: Hash, question: UmaQuestion): void {
    const existing = this.#umaQuestions.get(questionId) ?? [];
    const others = existing.filter(({ adapter }) => adapter !== question.adapter);
    this.#umaQuestions.set(questionId, [...others, question]);
  }

  /** A question is announced twice: first by the adapter, then by the operator, with the request. */
  #addNegRiskQuestion(
    event: { questionId: Hash; negRiskMarketId: Hash; text: string },
    requestId: Hash | null,
  ): void {
    const existing = this.#negRiskQuestions.get(event.questionId);
    this.#negRiskQuestions.set(event.questionId, {
      negRiskMarketId: event.negRiskMarketId,
      requestId: requestId ?? existing?.requestId ?? null,
      text: parseNegRiskQuestionText(toBytes(event.text)),
    });
    this.#tie(event.negRiskMarketId, event.questionId);
    if (requestId !== null) this.#tie(requestId, event.questionId);
  }

  #tie(id: Hash, questionId: Hash): void {
    const existing = this.#questionsByMarket.get(id) ?? [];
    if (!existing.includes(questionId)) this.#questionsByMarket.set(id, [...existing, questionId]);
  }

  /** The condition of a question on its adapter, and the neg-risk ones that ask it. */
  #conditionsAsking(questionId: Hash, adapter: Address): readonly ConditionId[] {
    const questionIds = [questionId, ...(this.#questionsByMarket.get(questionId) ?? [])];
    return [getCondition(adapter, questionId), ...this.#negRiskConditions(questionIds)];
  }

  #negRiskConditions(questionIds: readonly Hash[]): readonly ConditionId[] {
    return this.#negRiskAdapters.flatMap((adapter) =>
      questionIds.map((questionId) => getCondition(adapter, questionId)),
    );
  }

  /**
   * A UMA request behind a neg-risk question has the text of that question's condition, and of no other that names it.
   */
  #umaText(questionId: Hash, oracle: Address): MarketText {
    if (this.#questionsByMarket.get(questionId) !== undefined) return noText;
    const question = (this.#umaQuestions.get(questionId) ?? []).find((q) => q.adapter === oracle);
    return question === undefined
      ? noText
      : withUpdates(toDisplay(question.text, question.trusted), question.updates);
  }

  #negRiskText(questionId: Hash): MarketText {
    const question = this.#negRiskQuestions.get(questionId);
    if (question === undefined) return noText;
    const market = this.#negRiskMarkets.get(question.negRiskMarketId);
    const requested = this.#umaQuestions.get(question.requestId ?? questionId) ?? [];
    // On the first adapter, anyone could ask any question under this id.
    const request = requested.find(({ creator }) => creator !== null);
    const trusted = market?.trusted === true && (request?.trusted ?? true);
    return {
      ...withUpdates(toDisplay(request?.text ?? question.text, trusted), request?.updates ?? []),
      ...getEventText(market),
      negRiskMarketId: question.negRiskMarketId,
    };
  }
}

/** Returns a text as clients see it: without blanks around it, otherwise as it was written. */
export function toDisplay(text: QuestionText, trusted: boolean): MarketText {
  const title = text.title?.trim() || null;
  return {
    ...noText,
    title,
    description: text.description?.trim() || null,
    outcomes: text.outcomes,
    source: getSource(title, trusted),
  };
}

function getSource(title: string | null, trusted: boolean): MetadataSource {
  if (title === null) return "none";
  return trusted ? "chain" : "chain_untrusted";
}

function getEventText(
  market: NegRiskMarket | undefined,
): Pick<MarketText, "eventId" | "eventTitle"> {
  const { eventId = null, title = null } = market?.text ?? {};
  return { eventId, eventTitle: title?.trim() || null };
}

/** Appends later posts to the description, as the venue does. */
export function withUpdates(text: MarketText, updates: readonly string[]): MarketText {
  if (updates.length === 0) return text;
  const parts = [text.description ?? "", ...updates.map((update) => `Update: ${update.trim()}`)];
  return { ...text, description: parts.join("\n\n").trim() };
}

function getCondition(oracle: Address, questionId: Hash): ConditionId {
  return deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 });
}

function toBytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
