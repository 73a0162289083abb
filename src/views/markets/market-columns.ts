/**
 * All markets as columns of numbers and search indexes, so that a list is one scan over all of them:
 * 1.5 million take some milliseconds. A market is identified by its ordinal, which counts markets in
 * the order in which they became known. `Conditions` has the rest of a market.
 */

import type { ConditionId, Hash } from "../../base/ids.ts";
import { getEventKey, type Market } from "../../market/market.ts";
import { Column, type ColumnKind, idBytes, readId, writeId } from "../disk/column.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { MarketSearch } from "../search/market-search.ts";
import { TextSearch } from "../search/text-search.ts";

/** The yes-or-no properties of a market, as bits. */
export const marketFlags = { listed: 1, resolved: 2, negRisk: 4, mirrored: 8 } as const;

/** The kinds of labels, which are matched as a whole. `event_key` is the result of `getEventKey`. */
export type LabelKind = "event" | "event_key" | "event_slug" | "slug" | "category" | "tag";

/** The score of a market by the bits of the fields that have a label: there is one field. */
const marked = Uint8Array.of(0, 1);
const labelWeights = { whole: marked, start: marked, within: marked };

/** Sums over the markets that have a label. Micros. */
type LabelCount = {
  readonly markets: number;
  readonly openMarkets: number;
  readonly dayVolumeUsd: number;
  /** One of the markets; -1 without one. */
  readonly ordinal: number;
};

export class MarketColumns {
  readonly #journal: UndoLog;
  readonly #count: Column<"f64">;
  /** Ordinals of markets that a reorg has reverted. No other market gets them. */
  readonly #reverted = new Set<number>();
  readonly #ids: Column<"u8">;
  /** The first four bytes of each id as a number, to order otherwise equal markets. Compact, so fast to scan. */
  readonly idLeads = new Column("u32");
  readonly flags: Column<"u8">;
  /** The position at which the condition became a market, apart from its mirror; 0 before that. */
  readonly listedSeq: Column<"f64">;
  /** When the condition was prepared or first seen, in unix seconds. */
  readonly createdAt: Column<"f64">;
  /** Unix seconds; 0 without a trade. */
  readonly lastTradeAt: Column<"f64">;
  /** When the market ends, in unix milliseconds; 0 when no end is known. */
  readonly endMs: Column<"f64">;
  /** Micros. Exact up to 9 billion dollars, several times the volume of the largest market so far. */
  readonly volumeUsd: Column<"f64">;
  /** Micros plus 1, to order markets; 0 while it is not known. */
  readonly openInterest: Column<"f64">;
  /** Micros of the last 24 hours, summed by `DayWindow`. Not saved: each start sums them again. */
  readonly dayVolumeUsd = new Column("f64");
  /** Trades of the last 24 hours, summed in the same way. */
  readonly dayTrades = new Column("f64");
  /** The change of the first outcome's price in 24 hours, in micros. Out of date where `isDayStale` is 1. */
  readonly dayChange = new Column("f64");
  readonly isDayStale = new Column("u8");
  /** The dollars in its order book, as the venue reported them last, in micros; 0 when it did not. */
  readonly liquidityUsd: Column<"f64">;
  /** When the venue was last asked about the market, in unix seconds; 0 for never. */
  readonly venueAt: Column<"u32">;
  /** What the venue answered, as `venueFlags` of `MetadataLedger`. */
  readonly venueFlags: Column<"u8">;
  /** The number of the market's event, from 1; 0 for none. */
  readonly venueEvents: Column<"u32">;
  readonly #numbers: Column[] = [];
  readonly #eventCount: Column<"f64">;
  readonly #eventNumbers: JournaledMap<Hash, number>;
  readonly search: MarketSearch;
  readonly labels: TextSearch;

  constructor(stateStore: StateStore) {
    const numbers = <Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind> => {
      const column = stateStore.column(name, kind);
      this.#numbers.push(column);
      return column;
    };
    this.#journal = stateStore.journal;
    this.#count = stateStore.column("markets.count", "f64");
    this.#ids = stateStore.column("markets.ids", "u8");
    this.flags = numbers("markets.flags", "u8");
    this.listedSeq = numbers("markets.listed_seq", "f64");
    this.createdAt = numbers("markets.created_at", "f64");
    this.lastTradeAt = numbers("markets.last_trade_at", "f64");
    this.endMs = numbers("markets.end_ms", "f64");
    this.volumeUsd = numbers("markets.volume_usd", "f64");
    this.liquidityUsd = numbers("markets.liquidity_usd", "f64");
    this.openInterest = numbers("markets.open_interest", "f64");
    this.venueAt = numbers("markets.venue_at", "u32");
    this.venueFlags = numbers("markets.venue_flags", "u8");
    this.venueEvents = numbers("markets.events", "u32");
    this.#eventCount = stateStore.column("markets.event_count", "f64");
    this.#eventNumbers = new JournaledMap(stateStore, "event_numbers");
    this.search = new MarketSearch(stateStore);
    this.labels = new TextSearch(stateStore, "labels", 1);
    this.#reserve(this.count);
    for (let ordinal = 0; ordinal < this.count; ordinal += 1) {
      this.#setLead(ordinal);
    }
  }

  /** The number of ordinals, which are below it. Those of reverted markets count too. */
  get count(): number {
    return this.#count.get(0);
  }

  /** The ids, 32 bytes each, in the order of ordinals. */
  get ids(): Uint8Array<ArrayBuffer> {
    return this.#ids.values;
  }

  /** Adds a market of which only the id is known. Returns its ordinal: after a reorg, the one that it had before. */
  add(conditionId: ConditionId): number {
    const isSame = (ordinal: number): boolean => this.conditionIdAt(ordinal) === conditionId;
    const ordinal = this.#reverted.values().find(isSame) ?? this.#append(conditionId);
    this.#reverted.delete(ordinal);
    this.#journal.addChange({
      undo: () => this.#reverted.add(ordinal),
      redo: () => this.#reverted.delete(ordinal),
    });
    return ordinal;
  }

  #append(conditionId: ConditionId): number {
    const ordinal = this.count;
    this.#reserve(ordinal + 1);
    writeId(this.#ids, ordinal, conditionId);
    this.#setLead(ordinal);
    this.#count.set(0, ordinal + 1);
    return ordinal;
  }

  /** Whether a reorg has reverted the market of an ordinal. */
  isReverted(ordinal: number): boolean {
    return this.#reverted.has(ordinal);
  }

  #setLead(ordinal: number): void {
    const { buffer } = this.ids;
    this.idLeads.set(ordinal, Buffer.from(buffer).readUInt32BE(ordinal * idBytes));
  }

  /** Makes room in all columns. After a loop has read past the end of one, V8 handles all its numbers as objects. */
  #reserve(length: number): void {
    for (const column of this.#numbers) column.reserve(length);
    const { dayVolumeUsd, dayTrades, dayChange, isDayStale, idLeads } = this;
    const unsaved = [dayVolumeUsd, dayTrades, dayChange, isDayStale, idLeads];
    for (const column of unsaved) column.reserve(length);
  }

  conditionIdAt(ordinal: number): ConditionId {
    return readId(this.#ids, ordinal) as ConditionId;
  }

  /** Sets a number of a market, and notes the change so that a reorg can revert it. */
  set(column: Column, ordinal: number, value: number): void {
    this.#journal.setAt(column, ordinal, value);
  }

  setTexts(ordinal: number, market: Market): void {
    const { slug = null, category = null, tags = [], eventSlug = null } = market.venue ?? {};
    const eventKey = getEventKey(market);
    this.search.put(ordinal, market);
    this.set(this.venueEvents, ordinal, eventKey === null ? 0 : this.#getEventNumber(eventKey));
    const labels: readonly [LabelKind, string | null][] = [
      ["event", market.eventId],
      ["event_key", eventKey],
      ["event_key", market.mirrorEventId],
      ["event_slug", eventSlug],
      ["slug", slug],
      ["category", category],
      ...tags.map((tag): [LabelKind, string] => ["tag", tag]),
    ];
    const terms = labels.flatMap(([kind, value]) => (value === null ? [] : toLabel(kind, value)));
    this.labels.put(ordinal, [terms]);
  }

  /** The highest number of an event. Some of these events can have lost all their markets. */
  get eventCount(): number {
    return this.#eventCount.get(0);
  }

  #getEventNumber(key: string): number {
    // A key is a hash, or a number of up to 20 digits.
    const hash = `0x${key.replace("0x", "").padStart(64, "0")}` as Hash;
    const existing = this.#eventNumbers.get(hash);
    if (existing !== undefined) return existing;
    const number = this.eventCount + 1;
    this.#journal.setAt(this.#eventCount, 0, number);
    this.#eventNumbers.set(hash, number);
    return number;
  }

  /** Returns an array by ordinal, with 1 for the markets that have one of the labels. */
  getMarks(kind: LabelKind, values: readonly string[]): Uint8Array {
    const marks = new Uint8Array(this.count);
    for (const value of values) {
      const found = this.labels.findTerms(toLabel(kind, value), "whole");
      this.labels.scoreTerms(found, labelWeights, { scores: marks, among: null });
    }
    return marks;
  }

  /** The labels of a kind, by number, as `toLabel` writes them. Some can have lost all their markets. */
  getLabels(kind: LabelKind): readonly (readonly [number, string])[] {
    const prefix = `${kind}:`;
    const terms = this.labels.termsAfter(prefix);
    return [...terms].map(([label, text]) => [label, text.slice(prefix.length)] as const);
  }

  /** The labels of a kind that listed markets have, as `getLabels` gives them. */
  getListedLabels(kind: LabelKind): readonly string[] {
    const listed = this.getLabels(kind).filter(([label]) => this.countLabel(label).markets > 0);
    return listed.map(([, text]) => text);
  }

  /** Counts the listed markets that have a label of `getLabels`, and sums their volume of 24 hours. */
  countLabel(label: number): LabelCount {
    const count = { markets: 0, openMarkets: 0, dayVolumeUsd: 0, ordinal: -1 };
    this.labels.forEachItem(label, (ordinal) => {
      const flags = this.flags.get(ordinal);
      if ((flags & marketFlags.listed) === 0 || this.isReverted(ordinal)) return;
      count.markets += 1;
      if ((flags & marketFlags.resolved) === 0) count.openMarkets += 1;
      count.dayVolumeUsd += this.dayVolumeUsd.get(ordinal);
      count.ordinal = ordinal;
    });
    return count;
  }

  /** The ordinals of the markets that have a label, in no particular order. */
  withLabel(kind: LabelKind, value: string): number[] {
    const marks = this.getMarks(kind, [value]);
    const found: number[] = [];
    for (let at = marks.indexOf(1); at !== -1; at = marks.indexOf(1, at + 1)) found.push(at);
    return found;
  }
}

/** Returns the term of a label. Categories and tags are matched in any case. An event can be named by its key. */
function toLabel(kind: LabelKind, value: string): string {
  // The venue's ids are numbers, so a hash is the key of a neg-risk event.
  if (kind === "event" && /^0x/i.test(value)) return `event_key:${value.toLowerCase()}`;
  return `${kind}:${kind === "category" || kind === "tag" ? value.toLowerCase() : value}`;
}
