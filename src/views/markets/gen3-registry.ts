/**
 * What is known of generation 3 beyond what its ids encode: announced events, registered texts,
 * migrated conditions, and the legs of combinations. Any of it can be missing, or come late.
 */
import type { Address, ConditionId, Hash, TokenId } from "../../base/ids.ts";
import type { Gen3MarketEvent } from "../../contracts/events.ts";
import { deriveGen3ConditionIds } from "../../market/ids/gen3-ids.ts";
import { parseQuestionText, type QuestionText } from "../../market/question-text.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";

type Announcement = Extract<Gen3MarketEvent, { kind: "gen3_event_announced" }>["marketType"];
type RegisteredText = { readonly text: QuestionText; readonly requester: Address };

/** How many conditions of an event are added. The contract allows 65,536; real events have fewer than 256. */
const conditionsOfEventMax = 4096;

export class Gen3Registry {
  readonly #announcements: JournaledMap<Hash, Announcement>;
  readonly #texts: JournaledMap<Hash, RegisteredText>;
  readonly #reporters: JournaledMap<Address, true>;
  readonly #legacy: JournaledMap<ConditionId, ConditionId>;
  readonly #legs: JournaledMap<ConditionId, readonly TokenId[]>;

  constructor(stateStore: StateStore) {
    this.#announcements = new JournaledMap(stateStore, "market.announcement");
    this.#texts = new JournaledMap(stateStore, "market.text");
    this.#reporters = new JournaledMap(stateStore, "gen3_reporters");
    this.#legacy = new JournaledMap(stateStore, "market.legacy");
    this.#legs = new JournaledMap(stateStore, "market.legs");
  }

  /** Applies one event. Returns the conditions that it shows to exist. */
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

  /** The older condition that was migrated to this one; `null` for native conditions. */
  legacyOf(conditionId: ConditionId): ConditionId | null {
    return this.#legacy.get(conditionId) ?? null;
  }

  /** The legs of a combination, which must all win; `null` for other conditions. */
  legsOf(conditionId: ConditionId): readonly TokenId[] | null {
    return this.#legs.get(conditionId) ?? null;
  }

  /** The title registered for an atomic event; `null` when there is none. */
  eventTitleOf(eventId: Hash): string | null {
    if (this.#announcements.get(eventId) !== "atomic") return null;
    return this.#texts.get(eventId)?.text.title?.trim() || null;
  }

  /** A condition's own text, and whether a reporter registered it; `null` without one, and in atomic events. */
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
