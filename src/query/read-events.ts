import type { Address, Hash, Seq } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { subjectOf } from "../storage/codec/event-codec.ts";
import { eventColumns, parseEvent } from "../storage/codec/event-columns.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { pageSettings } from "../storage/read-settings.ts";
import { hexLiteral, integerLiteral, listLiteral, wordLiteral } from "../storage/sql-literal.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { type ListOrder, readRows, type StoredList } from "./merged-list.ts";

type EventKind = LocatedEvent["event"]["kind"];

/** Which events. Absent means any. Times are unix seconds, `From` inclusive, `To` exclusive. */
export type EventFilter = {
  /** None of them asks for nothing. */
  readonly kinds?: readonly EventKind[];
  readonly addresses?: readonly Address[];
  /** What the events are about: a condition, an order, a padded user. */
  readonly subject?: Hash;
  readonly txHash?: Hash;
  readonly seqFrom?: Seq;
  readonly seqTo?: Seq;
  readonly timestampFrom?: number;
  readonly timestampTo?: number;
};

/** A list of events, in the order of the chain or against it. */
export type EventList = ListOrder & EventFilter;

/** Where the rows of a list are. */
export function storedEvents({
  order,
  after,
  finalizedOnly,
  ...filter
}: EventList): StoredList<LocatedEvent> {
  return {
    order,
    after,
    finalizedOnly,
    question: "events",
    table: "events",
    read: readStoredEvents,
    settings: pageSettings,
    sql: eventSql(filter),
    unfinalizedIn: (headBuffer) => headBuffer.events(),
    holds: (located) => isWanted(located, filter),
  };
}

/** Reads one page, like `readFills`. */
export async function readEvents(
  store: IndexedFacts,
  { limit, ...list }: EventList & { readonly limit: number },
): Promise<readonly LocatedEvent[]> {
  return readRows(store, storedEvents(list), { limit });
}

async function readStoredEvents(engine: Engine, clauses: string): Promise<readonly LocatedEvent[]> {
  const rows = await engine.query(`SELECT ${eventColumns} FROM events ${clauses}`);
  return rows.map(parseEvent);
}

function eventSql(filter: EventFilter): string {
  const { kinds, addresses, subject, txHash, seqFrom, seqTo, timestampFrom, timestampTo } = filter;
  return [
    "1",
    ...(kinds === undefined ? [] : [anyOf("kind", kinds.map(wordLiteral))]),
    ...(addresses === undefined ? [] : [anyOf("address", addresses.map(hexLiteral))]),
    ...(subject === undefined ? [] : [`subject = ${hexLiteral(subject)}`]),
    ...(txHash === undefined ? [] : [`tx_hash = ${hexLiteral(txHash)}`]),
    ...(seqFrom === undefined ? [] : [`seq >= ${integerLiteral(seqFrom)}`]),
    ...(seqTo === undefined ? [] : [`seq < ${integerLiteral(seqTo)}`]),
    ...(timestampFrom === undefined ? [] : [`timestamp >= ${integerLiteral(timestampFrom)}`]),
    ...(timestampTo === undefined ? [] : [`timestamp < ${integerLiteral(timestampTo)}`]),
  ].join(" AND ");
}

function anyOf(column: string, literals: readonly string[]): string {
  return literals.length === 0 ? "0" : `${column} IN ${listLiteral(literals)}`;
}

function isWanted(located: LocatedEvent, filter: EventFilter): boolean {
  const { seq, timestamp, txHash, address, event } = located;
  const { seqFrom = 0, seqTo = Infinity, timestampFrom = 0, timestampTo = Infinity } = filter;
  return (
    (filter.kinds?.includes(event.kind) ?? true) &&
    seq >= seqFrom &&
    seq < seqTo &&
    timestamp >= timestampFrom &&
    timestamp < timestampTo &&
    (filter.addresses?.includes(address) ?? true) &&
    (filter.txHash === undefined || txHash === filter.txHash) &&
    (filter.subject === undefined || subjectOf(event) === filter.subject)
  );
}
