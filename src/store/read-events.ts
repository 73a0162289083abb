import type { Hash, Seq } from "../base/ids.ts";
import { firstSeqOf } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { subjectOf } from "./event-codec.ts";
import { eventColumns, parseEvent } from "./event-columns.ts";
import type { FactStore } from "./fact-store.ts";
import { hexLiteral, integerLiteral, listLiteral, wordLiteral } from "./sql-literal.ts";

type EventKind = LocatedEvent["event"]["kind"];

/** Which events, in which order. Times are unix seconds, `From` inclusive, `To` exclusive. */
export type EventPage = {
  /** None of them asks for nothing. */
  readonly kinds: readonly EventKind[];
  /** What the events are about: a condition, an order, a padded user. */
  readonly subject?: Hash;
  readonly txHash?: Hash;
  readonly seqFrom?: Seq;
  readonly seqTo?: Seq;
  readonly timestampFrom?: number;
  readonly timestampTo?: number;
  readonly order: "asc" | "desc";
  /** Rows behind this position only, exclusive. */
  readonly after: Seq | null;
  readonly limit: number;
  readonly finalizedOnly: boolean;
};

/** Reads one page of events over the store and the tail as one, like `readFills`. */
export async function readEvents(
  store: FactStore,
  page: EventPage,
): Promise<readonly LocatedEvent[]> {
  if (page.kinds.length === 0) return [];
  const boundary = firstSeqOf((store.coverage?.last.number ?? -1) + 1);
  const held = page.finalizedOnly ? [] : store.tail.events().filter((e) => isWanted(e, page));
  const stored = await readStored(store, page, boundary);
  const rows = [...stored, ...held].toSorted((a, b) => a.seq - b.seq);
  return (page.order === "asc" ? rows : rows.toReversed()).slice(0, page.limit);
}

async function readStored(
  store: FactStore,
  page: EventPage,
  boundary: Seq,
): Promise<LocatedEvent[]> {
  const { kinds, subject, txHash, order } = page;
  const { from, to } = seqRange(page);
  const conditions = [
    `kind IN ${listLiteral(kinds.map(wordLiteral))}`,
    `seq >= ${integerLiteral(from)} AND seq < ${integerLiteral(Math.min(to, boundary))}`,
    `timestamp >= ${integerLiteral(page.timestampFrom ?? 0)}`,
    `timestamp < ${integerLiteral(page.timestampTo ?? Number.MAX_SAFE_INTEGER)}`,
    ...(subject === undefined ? [] : [`subject = ${hexLiteral(subject)}`]),
    ...(txHash === undefined ? [] : [`tx_hash = ${hexLiteral(txHash)}`]),
  ];
  const rows = await store.engine.query(
    `SELECT ${eventColumns} FROM oddwire.events WHERE ${conditions.join(" AND ")}
     ORDER BY seq ${order === "asc" ? "ASC" : "DESC"} LIMIT ${integerLiteral(page.limit)}`,
  );
  return rows.map(parseEvent);
}

function isWanted(located: LocatedEvent, page: EventPage): boolean {
  const { seq, timestamp, txHash, event } = located;
  const { from, to } = seqRange(page);
  return (
    page.kinds.includes(event.kind) &&
    seq >= from &&
    seq < to &&
    timestamp >= (page.timestampFrom ?? 0) &&
    timestamp < (page.timestampTo ?? Infinity) &&
    (page.txHash === undefined || txHash === page.txHash) &&
    (page.subject === undefined || subjectOf(event) === page.subject)
  );
}

/** The positions a page can hold: `from` inclusive, `to` exclusive, the cursor taken in. */
function seqRange({ seqFrom, seqTo, order, after }: EventPage): { from: number; to: number } {
  const from = seqFrom ?? 0;
  const to = seqTo ?? Number.MAX_SAFE_INTEGER;
  if (after === null) return { from, to };
  return order === "asc"
    ? { from: Math.max(from, after + 1), to }
    : { from, to: Math.min(to, after) };
}
