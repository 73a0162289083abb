/**
 * All markets as columns of numbers and lists of words, so that a list is one walk over all of
 * them: 1.5 million take some milliseconds. A market is known by its ordinal, the order in which
 * they became known; what it is, is put together from elsewhere.
 */

import type { ConditionId, Hash } from "../../base/ids.ts";
import { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import { MarketSearch, type MarketTexts } from "../search/market-search.ts";
import { TextSearch } from "../search/text-search.ts";
import { JournaledMap, type UndoLog } from "./undo-log.ts";

const idBytes = 32;

/** What can be asked of a market with yes or no, as bits. */
export const marketFlags = { listed: 1, resolved: 2, negRisk: 4 } as const;

/** What is asked for exactly, as it is written; `event_key` as `eventKeyOf` makes it. */
export type LabelKind = "event" | "event_key" | "event_slug" | "slug" | "category" | "tag";

type FoundBy = MarketTexts & {
  readonly eventKey: string | null;
  readonly eventSlug: string | null;
};

export class MarketColumns {
  readonly #journal: UndoLog;
  readonly #count: Column<"f64">;
  readonly #ids: Column<"u8">;
  /** The first four bytes of each id as a number: close together, for the order of markets that are equal otherwise. */
  readonly idLeads = new Column("u32");
  readonly flags: Column<"u8">;
  /** Where on the chain it became a market; 0 while it is none. */
  readonly listedSeq: Column<"f64">;
  /** Unix seconds. */
  readonly createdAt: Column<"f64">;
  readonly lastTradeAt: Column<"f64">;
  /** Unix milliseconds, 0 where no end is known. */
  readonly endMs: Column<"f64">;
  /** Micros; exact up to 9 billion dollars, which is several times the largest market there was. */
  readonly volumeUsd: Column<"f64">;
  /** The last 24 hours, which `DayWindow` sums: they follow the time, so they are rebuilt at each start. */
  readonly dayVolumeUsd = new Column("f64");
  readonly dayTrades = new Column("f64");
  /** When the venue was last asked about it, Unix seconds; 0 for never. */
  readonly venueAt: Column<"u32">;
  /** What came of that, as `venueFlags`. */
  readonly venueFlags: Column<"u8">;
  /** The event that it is part of by number, from 1; 0 for none. */
  readonly events: Column<"u32">;
  readonly #eventCount: Column<"f64">;
  readonly #eventNumbers: JournaledMap<Hash, number>;
  readonly search: MarketSearch;
  readonly labels: TextSearch;

  constructor(stateStore: StateStore, journal: UndoLog) {
    this.#journal = journal;
    this.#count = stateStore.column("markets.count", "f64");
    this.#ids = stateStore.column("markets.ids", "u8");
    this.flags = stateStore.column("markets.flags", "u8");
    this.listedSeq = stateStore.column("markets.listed_seq", "f64");
    this.createdAt = stateStore.column("markets.created_at", "f64");
    this.lastTradeAt = stateStore.column("markets.last_trade_at", "f64");
    this.endMs = stateStore.column("markets.end_ms", "f64");
    this.volumeUsd = stateStore.column("markets.volume_usd", "f64");
    this.venueAt = stateStore.column("markets.venue_at", "u32");
    this.venueFlags = stateStore.column("markets.venue_flags", "u8");
    this.events = stateStore.column("markets.events", "u32");
    this.#eventCount = stateStore.column("markets.event_count", "f64");
    this.#eventNumbers = new JournaledMap(journal, stateStore.table("event_numbers"));
    this.search = new MarketSearch(stateStore, journal);
    this.labels = new TextSearch({ stateStore, journal }, "labels", 1);
    this.#reserve(this.count);
    for (let ordinal = 0; ordinal < this.count; ordinal += 1) {
      this.#setLead(ordinal);
    }
  }

  /** How many there are; ordinals are below it. */
  get count(): number {
    return this.#count.get(0);
  }

  /** The 32 bytes of each id, one behind the other. */
  get ids(): Uint8Array<ArrayBuffer> {
    return this.#ids.values;
  }

  /** Adds a market of which nothing but its id is known; returns its ordinal. */
  add(conditionId: ConditionId): number {
    const ordinal = this.count;
    this.#reserve(ordinal + 1);
    // An ordinal that a fork has freed may have been something else.
    for (const column of this.#numbers) this.#journal.setAt(column, ordinal, 0);
    for (const index of [this.search, this.labels]) index.remove(ordinal);
    const start = ordinal * idBytes;
    this.#ids.reserve(start + idBytes);
    this.#ids.values.set(Buffer.from(conditionId.slice(2), "hex"), start);
    this.#ids.touch(start, start + idBytes - 1);
    this.#setLead(ordinal);
    this.#journal.setAt(this.#count, 0, ordinal + 1);
    return ordinal;
  }

  #setLead(ordinal: number): void {
    const { buffer } = this.ids;
    this.idLeads.set(ordinal, Buffer.from(buffer).readUInt32BE(ordinal * idBytes));
  }

  /** Makes room in all columns: once a loop has met an index without a number, V8 reads all numbers as objects. */
  #reserve(length: number): void {
    for (const column of this.#numbers) column.reserve(length);
    for (const column of [this.dayVolumeUsd, this.dayTrades, this.idLeads]) column.reserve(length);
  }

  conditionIdAt(ordinal: number): ConditionId {
    const start = ordinal * idBytes;
    const digits = Buffer.from(this.ids.buffer, start, idBytes).toString("hex");
    return `0x${digits}` as ConditionId;
  }

  get #numbers(): readonly Column[] {
    const { flags, listedSeq, createdAt, lastTradeAt, endMs, volumeUsd } = this;
    const { venueAt, venueFlags, events } = this;
    return [
      flags,
      listedSeq,
      createdAt,
      lastTradeAt,
      endMs,
      volumeUsd,
      venueAt,
      venueFlags,
      events,
    ];
  }

  /** Sets a number of a market, for forks to revert. */
  set(column: Column, ordinal: number, value: number): void {
    this.#journal.setAt(column, ordinal, value);
  }

  setTexts(ordinal: number, texts: FoundBy): void {
    const { slug, category, tags, eventId, eventKey, eventSlug } = texts;
    this.search.put(ordinal, texts);
    this.#journal.setAt(
      this.events,
      ordinal,
      eventKey === null ? 0 : this.#eventNumberOf(eventKey),
    );
    const labels = [
      labelOf("event", eventId),
      labelOf("event_key", eventKey),
      labelOf("event_slug", eventSlug),
      labelOf("slug", slug),
      labelOf("category", category),
      ...tags.map((tag) => labelOf("tag", tag)),
    ];
    this.labels.put(ordinal, [labels.filter((label) => label !== null)]);
  }

  /** Events have numbers up to this; some may have no markets any more. */
  get eventCount(): number {
    return this.#eventCount.get(0);
  }

  #eventNumberOf(key: string): number {
    // Keys are hashes, or up to 20 digits.
    const hash = `0x${key.replace("0x", "").padStart(64, "0")}` as Hash;
    const known = this.#eventNumbers.get(hash);
    if (known !== undefined) return known;
    const number = this.eventCount + 1;
    this.#journal.setAt(this.#eventCount, 0, number);
    this.#eventNumbers.set(hash, number);
    return number;
  }

  /** Those that became markets behind a position, with where they did, in the order of the chain. */
  listedAfter(after: number): { readonly seq: number; readonly conditionId: ConditionId }[] {
    const found: { seq: number; ordinal: number }[] = [];
    for (let ordinal = 0; ordinal < this.count; ordinal += 1) {
      const seq = this.listedSeq.get(ordinal);
      if (seq > after && seq > 0) found.push({ seq, ordinal });
    }
    return found
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ seq, ordinal }) => ({ seq, conditionId: this.conditionIdAt(ordinal) }));
  }

  /** 1 by ordinal for the markets that have one of the labels. */
  marksOf(kind: LabelKind, values: readonly string[]): Uint8Array {
    const marks = new Uint8Array(this.count);
    for (const value of values) {
      this.labels.scoreTerm(labelOf(kind, value) ?? "", new Uint8Array([0, 1]), marks);
    }
    return marks;
  }

  /** The ordinals of the markets that have a label, in no particular order. */
  withLabel(kind: LabelKind, value: string): number[] {
    const marks = this.marksOf(kind, [value]);
    const found: number[] = [];
    for (let at = marks.indexOf(1); at !== -1; at = marks.indexOf(1, at + 1)) found.push(at);
    return found;
  }
}

/** A label as it is written; categories and tags are asked for in whatever case. */
function labelOf(kind: LabelKind, value: string | null): string | null {
  if (value === null) return null;
  return `${kind}:${kind === "category" || kind === "tag" ? value.toLowerCase() : value}`;
}
