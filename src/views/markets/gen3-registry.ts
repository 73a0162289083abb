/**
 * What is known of generation 3 beyond what its ids say: which events were announced, what texts
 * were registered, what older conditions were migrated, and which legs combinations have. Any of
 * it may be missing, and come late.
 */
import type { Address, ConditionId, Hash, TokenId } from "../../base/ids.ts";
import type { Gen3MarketEvent } from "../../contracts/events.ts";
import { deriveGen3ConditionIds } from "../../market/ids/gen3-ids.ts";
import { parseQuestionText, type QuestionText } from "../../market/question-text.ts";
import type { StateStore } from "../disk/state-store.ts";
import { JournaledMap, type UndoLog } from "./undo-log.ts";

type Announcement = Extract<Gen3MarketEvent, { kind: "gen3_event_announced" }>["marketType"];
type RegisteredText = { readonly text: QuestionText; readonly requester: Address };

/** The contract allows 65,536 conditions an event; real ones have below 256. */
const conditionsOfEventMax = 4096;

export class Gen3Registry {
  readonly #announcements: JournaledMap<Hash, Announcement>;
  readonly #texts: JournaledMap<Hash, RegisteredText>;
  readonly #reporters: JournaledMap<Address, true>;
  readonly #legacy: JournaledMap<ConditionId, ConditionId>;
  readonly #legs: JournaledMap<ConditionId, readonly TokenId[]>;

  constructor(stateStore: StateStore, journal: UndoLog) {
    const mapOf = <Key extends string, Value>(name: string) =>
      new JournaledMap<Key, Value>(journal, stateStore.table(name));
    this.#announcements = mapOf("market.announcement");
    this.#texts = mapOf("market.text");
    this.#reporters = mapOf("gen3_reporters");
    this.#legacy = mapOf("market.legacy");
    this.#legs = mapOf("market.legs");
  }

  /** Takes in one event; returns the conditions that are known to exist from now on. */
  apply(event: Gen3MarketEvent): readonly ConditionId[] {
    switch (event.kind) {
      case "gen3_event_announced":
        this.#announcements.set(event.eventId, event.marketType);
        return conditionsOf(event.eventId);
      case "gen3_reporter_added":
        this.#reporters.set(event.reporter, true);
        return [];
      case "gen3_text_registered": {
        const text = parseQuestionText(Buffer.from(event.text.slice(2), "hex"));
        this.#texts.set(event.requestId, { text, requester: event.requester });
        return [];
      }
      case "gen3_condition_migrated":
        this.#legacy.set(event.conditionId, event.legacyConditionId);
        return [event.conditionId];
      case "gen3_combo_prepared":
        this.#legs.set(event.conditionId, event.legs);
        return [event.conditionId];
      case "gen3_remaining_resolved_no":
        return conditionsOf(event.eventId);
      case "gen3_other_resolved_yes":
        return [event.conditionId];
    }
  }

  /** The older condition whose question this one goes on with; `null` for native ones. */
  legacyOf(conditionId: ConditionId): ConditionId | null {
    return this.#legacy.get(conditionId) ?? null;
  }

  /** The positions that must all win; `null` for conditions that are no combination. */
  legsOf(conditionId: ConditionId): readonly TokenId[] | null {
    return this.#legs.get(conditionId) ?? null;
  }

  /** The title registered for an atomic event; `null` when there is none. */
  eventTitleOf(eventId: Hash): string | null {
    if (this.#announcements.get(eventId) !== "atomic") return null;
    return this.#texts.get(eventId)?.text.title?.trim() || null;
  }

  /** The text of a condition of its own, and whether a reporter registered it; that of an atomic event is not one. */
  textOf(conditionId: ConditionId, eventId: Hash): { text: QuestionText; trusted: boolean } | null {
    if (this.#announcements.get(eventId) === "atomic") return null;
    const known = this.#texts.get(conditionId as string as Hash);
    if (known === undefined) return null;
    return { text: known.text, trusted: this.#reporters.get(known.requester) === true };
  }
}

function conditionsOf(eventId: Hash): readonly ConditionId[] {
  return deriveGen3ConditionIds(eventId).slice(0, conditionsOfEventMax);
}
