/**
 * What is known of generation 3 beyond what its ids encode: announced events, registered texts,
 * and the legs of combinations. Any of it can be missing, or come late.
 */
import { isDeepStrictEqual } from "node:util";
import type { Address, ConditionId, Hash, Seq, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Gen3MarketEvent } from "../../contracts/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { deriveGen3ConditionIds } from "../../market/ids/gen3-ids.ts";
import { findPriceWindow, type PriceWindow } from "../../market/price-window.ts";
import { parseRules, parseRulesUpdate, type QuestionText } from "../../market/question-text.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";

type Announcement = Pick<
  Extract<Gen3MarketEvent, { kind: "gen3_event_announced" }>,
  "marketType"
> & { readonly seq: Seq };
type RegisteredText = {
  readonly text: QuestionText;
  /** The account that registered the text, and the contract at which it did. */
  readonly accounts: readonly Address[];
  readonly isNumerical: boolean;
};
/** The text of a condition. It is trusted if one of its accounts reports the results of its event. */
export type ConditionText = {
  readonly text: QuestionText;
  readonly trusted: boolean;
  readonly updates: readonly string[];
};

/** How many conditions of an event are added. The contract allows 65,536; real events have fewer than 256. */
const conditionsOfEventMax = 4096;

const assetPairsKey = "0x" as Hash;

/** How many reporters of an event, asset pairs, and texts and updates of a request, are kept. Real ones have a few. */
const itemsMax = 100;

export class Gen3Registry {
  readonly #announcements: JournaledMap<Hash, Announcement>;
  /** By condition or atomic event: its texts, oldest first. A reporter registers one. */
  readonly #texts: JournaledMap<Hash, readonly RegisteredText[]>;
  readonly #updates: JournaledMap<Hash, readonly string[]>;
  /** By event, the modules that report its results. */
  readonly #reporters: JournaledMap<Hash, readonly Address[]>;
  /** By event, the price window that its question is about. */
  readonly #windows: JournaledMap<Hash, PriceWindow>;
  readonly #assetPairs: JournaledMap<Hash, readonly Hash[]>;
  readonly #contracts: Contracts;
  readonly #legs: JournaledMap<ConditionId, readonly TokenId[]>;

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.#contracts = contracts;
    this.#windows = new JournaledMap(stateStore, "market.window");
    this.#assetPairs = new JournaledMap(stateStore, "market.asset_pairs");
    this.#announcements = new JournaledMap(stateStore, "market.announcement");
    this.#texts = new JournaledMap(stateStore, "market.text");
    this.#updates = new JournaledMap(stateStore, "market.text_updates");
    this.#reporters = new JournaledMap(stateStore, "market.reporters");
    this.#legs = new JournaledMap(stateStore, "market.legs");
  }

  /** Applies one event. Returns the conditions that it shows to exist. */
  apply(
    event: Gen3MarketEvent,
    { address, seq, timestamp }: Pick<LocatedEvent, "address" | "seq" | "timestamp">,
  ): readonly ConditionId[] {
    switch (event.kind) {
      case "gen3_event_announced":
        this.#announcements.set(event.eventId, { marketType: event.marketType, seq });
        return listEventConditions(event.eventId);
      case "gen3_reporter_added":
        add(this.#reporters, event.eventId, event.reporter);
        return this.#isOfWindow(event.eventId) ? listEventConditions(event.eventId) : [];
      case "gen3_text_registered": {
        const { requestId, requester, isNumerical } = event;
        const text = parseRules(toBytes(event.text));
        add(this.#texts, requestId, { text, accounts: [requester, address], isNumerical });
        return [];
      }
      case "gen3_text_updated": {
        const update = parseRulesUpdate(toBytes(event.text));
        if (update !== null) add(this.#updates, event.requestId, update);
        return [];
      }
      case "gen3_window_reported": {
        const { eventId, questionId } = event;
        const assetPairs = this.#assetPairs.get(assetPairsKey) ?? [];
        const window = findPriceWindow(questionId, timestamp, assetPairs);
        if (window !== null) this.#windows.set(eventId, window);
        add(this.#reporters, eventId, address);
        return listEventConditions(eventId);
      }
      case "gen3_asset_pair_added":
        add(this.#assetPairs, assetPairsKey, event.assetPair);
        return [];
      case "gen3_module_added":
      case "gen3_contract_upgraded":
        return [];
      case "gen3_condition_migrated":
      case "gen3_migration_resolved":
        return [event.conditionId];
      case "gen3_combo_prepared":
        this.#legs.set(event.conditionId, event.legs);
        return [event.conditionId];
      case "gen3_remaining_resolved_no":
        return listEventConditions(event.eventId);
      case "gen3_other_resolved_yes":
        return [event.conditionId];
    }
  }

  /** The log by which the venue announced an event, which it does before anyone can have its tokens; `null` without one. */
  getAnnouncedSeq(eventId: Hash): Seq | null {
    return this.#announcements.get(eventId)?.seq ?? null;
  }

  /** The legs of a combination, which must all win; `null` for other conditions. */
  getLegs(conditionId: ConditionId): readonly TokenId[] | null {
    return this.#legs.get(conditionId) ?? null;
  }

  /** The text that all conditions of an atomic event share; `null` without one, and for other events. */
  getEventText(eventId: Hash): ConditionText | null {
    return this.isAtomic(eventId) ? this.#registeredText(eventId, eventId) : null;
  }

  /** A condition's own text; `null` without one, and in atomic events. */
  toText(conditionId: ConditionId, eventId: Hash): ConditionText | null {
    const requestId = conditionId as string as Hash;
    return this.isAtomic(eventId) ? null : this.#registeredText(requestId, eventId);
  }

  /** The title of an event about a price window: `null` until the window is known, `undefined` for other events. */
  getWindowTitle(eventId: Hash): string | null | undefined {
    if (!this.#isOfWindow(eventId)) return undefined;
    const window = this.#windows.get(eventId);
    return window === undefined ? null : formatPriceWindow(window);
  }

  #isOfWindow(eventId: Hash): boolean {
    const { byAddress } = this.#contracts;
    const reporters = this.#reporters.get(eventId) ?? [];
    return reporters.some((one) => byAddress.get(one)?.kind === "chainlink_module");
  }

  /** The first trusted text of a request, or else the first one. Before its reporters are known, any text is trusted. */
  #registeredText(requestId: Hash, eventId: Hash): ConditionText | null {
    const texts = this.#texts.get(requestId) ?? [];
    const reporters = this.#reporters.get(eventId);
    const trusted = texts.find(
      ({ accounts }) => reporters?.some((one) => accounts.includes(one)) ?? true,
    );
    const [first] = texts;
    if (first === undefined) return null;
    const updates = this.#updates.get(requestId) ?? [];
    return { text: (trusted ?? first).text, trusted: trusted !== undefined, updates };
  }

  /** Whether all conditions share one text. Its request has the id of the first condition. */
  isAtomic(eventId: Hash): boolean {
    const isAnnounced = this.#announcements.get(eventId)?.marketType === "atomic";
    return isAnnounced || (this.#texts.get(eventId) ?? []).some((one) => one.isNumerical);
  }
}

/** Adds an item to the list of a key, unless it is there or the list is full. */
function add<Item>(lists: JournaledMap<Hash, readonly Item[]>, key: Hash, item: Item): void {
  const items = lists.get(key) ?? [];
  const isNew = !items.some((one) => isDeepStrictEqual(one, item));
  if (isNew && items.length < itemsMax) lists.set(key, [...items, item]);
}

function toBytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}

/** Returns the conditions of an event that are added with it. */
export function listEventConditions(eventId: Hash): readonly ConditionId[] {
  return deriveGen3ConditionIds(eventId).slice(0, conditionsOfEventMax);
}

/** Formats a window as the title of its question: `BTC/USD up or down, 5 minutes, 2026-10-05 22:20 UTC`. */
function formatPriceWindow({ pair, durationSeconds, startSeconds }: PriceWindow): string {
  const minutes = durationSeconds / 60;
  const [count, unit] = minutes < 60 ? [minutes, "minute"] : [minutes / 60, "hour"];
  const length = `${count} ${unit}${count === 1 ? "" : "s"}`;
  const start = new Date(startSeconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  return `${pair} up or down, ${length}, ${start} UTC`;
}
