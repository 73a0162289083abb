import type { Address, Hash } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { eventColumns, getSubject, parseEvent } from "../storage/codec/event-codec.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { pageSettings } from "../storage/engine/read-settings.ts";
import { hexLiteral, wordLiteral } from "../storage/sql-literal.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import {
  type Conditions,
  isAmong,
  joinConditions,
  type RangeFilter,
  rangeConditions,
} from "./condition.ts";
import { type ListOrder, RowSnapshot, type StoredList } from "./row-snapshot.ts";

type EventKind = LocatedEvent["event"]["kind"];

/** A filter of events. An absent field matches every event. */
export type EventFilter = RangeFilter & {
  /** The kinds of events. An empty list matches no event. */
  readonly kinds?: readonly EventKind[] | undefined;
  readonly addresses?: readonly Address[] | undefined;
  /** The subjects of the events: conditions, questions, orders, or padded addresses. */
  readonly subjects?: readonly Hash[] | undefined;
};

const eventConditions: Conditions<EventFilter, LocatedEvent> = {
  ...rangeConditions,
  kinds: isAmong("kind", wordLiteral, ({ event }) => event.kind),
  addresses: isAmong("address", hexLiteral, ({ address }) => address),
  subjects: isAmong("subject", hexLiteral, ({ event }) => getSubject(event)),
};

/** A list of events, in ascending or descending order. */
export type EventList = ListOrder & EventFilter;

/** Returns how to read the rows of a list of events. */
export function storedEvents(list: EventList): StoredList<LocatedEvent> {
  return {
    ...list,
    query: "events",
    table: "events",
    read: readStoredEvents,
    settings: pageSettings,
    unfinalizedIn: (headBuffer) => headBuffer.events(),
    ...joinConditions(eventConditions, list),
  };
}

/** Reads one page, like `readFills`. */
export async function readEvents(
  facts: IndexedFacts,
  page: EventList & { readonly limit: number },
): Promise<readonly LocatedEvent[]> {
  return new RowSnapshot(facts, storedEvents(page)).first(page.limit);
}

async function readStoredEvents(engine: Engine, clauses: string): Promise<readonly LocatedEvent[]> {
  const rows = await engine.query(`SELECT ${eventColumns} FROM events ${clauses}`);
  return rows.map(parseEvent);
}
