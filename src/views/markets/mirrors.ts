/**
 * Decides which conditions of generation 3 are mirrors of which legacy conditions: the same question on another ledger.
 * A log of a module links them, when it registers a mirror or resolves it. Without such a log the ids do: a binary
 * mirror has the low 16 bytes of its legacy condition, and a neg-risk event those of the legacy neg-risk market, with
 * the number of its questions. Anyone can trade any id and prepare any condition, so ids link nothing where two
 * legacy ids fit, where a log names another mirror, or on another resolution chain.
 */
import type { ConditionId, Hash, TokenId } from "../../base/ids.ts";
import {
  deriveGen3ConditionId,
  type Gen3Position,
  getArity,
  parseGen3TokenId,
} from "../../market/ids/gen3-ids.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import { listEventConditions } from "./gen3-registry.ts";
import type { Questions } from "./questions.ts";

/** A legacy condition with two outcomes. */
export type LegacyCondition = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash;
  readonly isNegRisk: boolean;
  /** The first mirror that a log names. */
  readonly namedMirrorId: ConditionId | null;
};

/** The legacy condition that a log names, and the block in which the mirror was registered; `null` without that log. */
type Link = { readonly legacyId: ConditionId; readonly registeredBlock: number | null };

/** What is known under an id of generation 3: of a condition, of an event, or of an event without its arity. */
type Entry = {
  readonly isSeen?: true;
  readonly link?: Link;
  /** The legacy conditions or neg-risk markets with these low 16 bytes. */
  readonly candidates?: readonly Hash[];
  /** The legacy neg-risk market of an event, or without arity the event: both follow from the link of a condition. */
  readonly linkedId?: Hash;
};

/** Two are enough to know that ids decide nothing. */
const candidatesMax = 2;

export class Mirrors {
  readonly #entries: JournaledMap<Hash, Entry>;
  readonly #questions: Questions;
  readonly #findLegacy: (conditionId: ConditionId) => LegacyCondition | null;

  constructor(
    stateStore: StateStore,
    questions: Questions,
    findLegacy: (conditionId: ConditionId) => LegacyCondition | null,
  ) {
    this.#entries = new JournaledMap(stateStore, "market.mirror");
    this.#questions = questions;
    this.#findLegacy = findLegacy;
  }

  /** Finds the legacy condition of a mirror, of those that are known; `null` for all other conditions. */
  findLegacy(conditionId: ConditionId): ConditionId | null {
    const position = parseMirror(conditionId);
    if (position === null) return null;
    const { link } = this.#get(conditionId);
    const legacyId = link?.legacyId ?? this.#findByIds(position);
    const legacy = legacyId === null ? null : this.#findLegacy(legacyId);
    if (legacy === null) return null;
    if (link !== undefined) return legacy.namedMirrorId === conditionId ? legacyId : null;
    const isOfModule = legacy.isNegRisk === (position.module === "neg_risk");
    return legacy.namedMirrorId === null && isOfModule ? legacyId : null;
  }

  /** Whether a condition is a mirror, whether its legacy condition is known or not. "Other" of a mirrored event is none. */
  isMirror(conditionId: ConditionId): boolean {
    const position = parseMirror(conditionId);
    if (position === null) return false;
    const { eventId, conditionIndex } = position;
    const isNamed = conditionIndex < getArity(eventId) && this.getNegRiskMarket(eventId) !== null;
    return isNamed || this.#get(conditionId).link !== undefined;
  }

  /** The block in which a mirror was registered; `null` without such a log. */
  getRegisteredBlock(conditionId: ConditionId): number | null {
    return this.#get(conditionId).link?.registeredBlock ?? null;
  }

  /** The legacy neg-risk market of an event of generation 3; `null` for native events, and while it is unknown. */
  getNegRiskMarket(eventId: Hash): Hash | null {
    const { linkedId } = this.#get(eventId);
    if (linkedId !== undefined) return linkedId;
    const market = this.#onlyCandidate(withoutArity(eventId));
    return market !== null && this.getEvent(market) === eventId ? market : null;
  }

  /** The event of generation 3 that mirrors a legacy neg-risk market, seen or not; `null` for one without questions. */
  getEvent(negRiskMarketId: Hash): Hash | null {
    const base = getMirrorId(negRiskMarketId, "neg_risk");
    const { linkedId } = this.#get(base);
    const count = this.#questions.getQuestionCount(negRiskMarketId);
    if (linkedId !== undefined || count === 0) return linkedId ?? null;
    return `${base.slice(0, 36)}${count.toString(16).padStart(4, "0")}${base.slice(40)}` as Hash;
  }

  addSeen({ conditionId, eventId }: Gen3Position): void {
    for (const id of [conditionId, eventId]) {
      if (this.#get(id).isSeen !== true) this.#set(id, { isSeen: true });
    }
  }

  /** Notes what a log says about a mirror; the first one counts. Returns whether it is the first. */
  addLink(conditionId: ConditionId, { legacyId, registeredBlock }: Link): boolean {
    if (parseMirror(conditionId) === null) return false;
    const { link } = this.#get(conditionId);
    const isFirst = link === undefined;
    if (isFirst || (link.legacyId === legacyId && link.registeredBlock === null)) {
      this.#set(conditionId, { link: { legacyId, registeredBlock } });
    }
    return isFirst;
  }

  /** Records a legacy condition that was prepared. Returns the conditions that can be affected. */
  addLegacy(legacy: LegacyCondition): readonly ConditionId[] {
    const { conditionId, questionId, isNegRisk, namedMirrorId: named } = legacy;
    const affected = named === null ? [] : [named, ...this.linkEvent(named, legacy)];
    if (!isNegRisk) {
      const mirrorId = getMirrorId(conditionId, "binary");
      this.#addCandidate(mirrorId, conditionId as string as Hash);
      return [...affected, mirrorId as string as ConditionId];
    }
    return [...affected, ...this.#mirrorsOfQuestion(questionId)];
  }

  /** Links the events of a mirror that a log names and of its legacy condition. Returns the affected conditions. */
  linkEvent(
    mirrorId: ConditionId,
    { questionId, isNegRisk }: LegacyCondition,
  ): readonly ConditionId[] {
    const position = parseMirror(mirrorId);
    if (!isNegRisk || position?.module !== "neg_risk") return [];
    const { eventId } = position;
    const [base, marketId] = [withoutArity(eventId), getMarketId(questionId)];
    const isFirst =
      this.#get(eventId).linkedId === undefined && this.#get(base).linkedId === undefined;
    if (!isFirst || getMirrorId(marketId, "neg_risk") !== base) return [];
    const before = this.getEvent(marketId);
    this.#set(eventId, { linkedId: marketId });
    this.#set(base, { linkedId: eventId });
    return [...this.#seenIn(before), ...this.#seenIn(eventId)];
  }

  /** Records a question of a neg-risk market whose event was `before`. Returns the affected conditions. */
  addQuestion(
    { negRiskMarketId, questionId }: { negRiskMarketId: Hash; questionId: Hash },
    before: Hash | null,
  ): readonly ConditionId[] {
    const base = getMirrorId(negRiskMarketId, "neg_risk");
    const others = this.#addCandidate(base, negRiskMarketId);
    const after = this.getEvent(negRiskMarketId);
    const changed = before === after ? [] : [before, after];
    return [
      ...[...changed, ...others.map((id) => this.getEvent(id))].flatMap((id) => this.#seenIn(id)),
      ...this.#mirrorsOfQuestion(questionId),
    ];
  }

  /** The "Other" of the event that mirrors a legacy neg-risk market: it has no legacy condition. */
  getOther(negRiskMarketId: Hash): readonly ConditionId[] {
    return this.#seenIn(this.getEvent(negRiskMarketId)).slice(-1);
  }

  #findByIds({ module, conditionId, eventId, conditionIndex }: Gen3Position): ConditionId | null {
    if (module === "binary") {
      const legacy = this.#onlyCandidate(conditionId as string as Hash);
      return legacy as string | null as ConditionId | null;
    }
    const marketId = this.getNegRiskMarket(eventId);
    if (marketId === null || conditionIndex >= Math.min(getArity(eventId), 256)) return null;
    const digits = conditionIndex.toString(16).padStart(2, "0");
    const questionId = `${marketId.slice(0, -2)}${digits}` as Hash;
    if (this.#questions.getNegRiskMarket(questionId) !== marketId) return null;
    const found = this.#questions
      .conditionsOfQuestion(questionId)
      .filter((legacyId) => this.#findLegacy(legacyId) !== null);
    return found.length === 1 ? (found[0] ?? null) : null;
  }

  #mirrorsOfQuestion(questionId: Hash): readonly ConditionId[] {
    const eventId = this.getEvent(getMarketId(questionId));
    const index = Number.parseInt(questionId.slice(-2), 16);
    return eventId === null ? [] : [deriveGen3ConditionId(eventId, index)];
  }

  #seenIn(eventId: Hash | null): readonly ConditionId[] {
    const isSeen = eventId !== null && this.#get(eventId).isSeen === true;
    return isSeen ? listEventConditions(eventId) : [];
  }

  #onlyCandidate(id: Hash): Hash | null {
    const { candidates = [] } = this.#get(id);
    return candidates.length === 1 ? (candidates[0] ?? null) : null;
  }

  /** Returns the other candidates. */
  #addCandidate(id: Hash, candidate: Hash): readonly Hash[] {
    const { candidates = [] } = this.#get(id);
    if (candidates.includes(candidate) || candidates.length === candidatesMax) return [];
    this.#set(id, { candidates: [...candidates, candidate] });
    return candidates;
  }

  #get(id: Hash | ConditionId): Entry {
    return this.#entries.get(id as string as Hash) ?? {};
  }

  #set(id: Hash | ConditionId, more: Entry): void {
    this.#entries.set(id as string as Hash, { ...this.#get(id), ...more });
  }
}

/** Parses the id of a condition that can be a mirror: of module 1 or 2, and of this chain; else `null`. */
function parseMirror(conditionId: ConditionId): Gen3Position | null {
  const position = parseGen3TokenId(conditionId as string as TokenId);
  const isOfThisChain = conditionId.slice(56, 60) === "0000";
  return position?.module === "combinatorial" || !isOfThisChain ? null : position;
}

/** Returns the id of generation 3 with the low 16 bytes of a legacy id, and with the arity 0. */
function getMirrorId(legacyId: Hash | ConditionId, module: "binary" | "neg_risk"): Hash {
  const digits = module === "binary" ? "01" : "02";
  return `0x${digits}${legacyId.slice(-32)}`.padEnd(66, "0") as Hash;
}

/** Returns the neg-risk market of a question: the adapter numbers questions in the last byte. */
function getMarketId(questionId: Hash): Hash {
  return `${questionId.slice(0, -2)}00` as Hash;
}

function withoutArity(eventId: Hash): Hash {
  return `${eventId.slice(0, 36)}${"0".repeat(30)}` as Hash;
}
