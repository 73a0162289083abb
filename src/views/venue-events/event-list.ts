/**
 * Lists of events of the venue. An event is in a list when one of its markets is selected. The first of its markets
 * by id represents it, so that a list of events is a list of markets.
 */

import type { Market } from "../../market/market.ts";
import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import { type MarketColumns, marketFlags } from "../markets/market-columns.ts";
import type { MarketDirectory } from "../markets/market-directory.ts";
import { compareMarkets, MarketList, rankByValue } from "../markets/market-list.ts";
import { type MarketSelection, selectMembers } from "../markets/market-selection.ts";

type EventSort = "volume_24h" | "volume" | "created_at" | "end_date";

/** Which events are requested. Amounts are in micros. */
export type EventSelection = {
  readonly market: MarketSelection;
  /** An event is resolved when all of its markets are. */
  readonly status: "open" | "resolved" | "all";
  readonly minVolume: number;
  readonly minDayVolume: number;
  readonly sort: EventSort;
};

/** Sums over the markets of each event, by the number of the event. */
type EventSums = ReturnType<typeof emptySums>;

function emptySums(length: number) {
  return {
    /** The first market by id; -1 without markets. */
    leads: new Int32Array(length).fill(-1),
    /** The best rank of its markets; 0 when none is selected. */
    ranks: new Uint16Array(length),
    isOpen: new Uint8Array(length),
    volume_24h: new Float64Array(length),
    volume: new Float64Array(length),
    /** When the oldest market was created, in unix seconds. */
    created_at: new Float64Array(length).fill(Infinity),
    /** The latest end of a market, in unix milliseconds; 0 when none is known. */
    end_date: new Float64Array(length),
  };
}

/** Returns the requested events, each as its first market. */
export function listEvents(columns: MarketColumns, selection: EventSelection): MarketList {
  const { status, minVolume, minDayVolume, sort } = selection;
  const sums = emptySums(columns.eventCount + 1);
  inChunks(columns.count, (step) => addMarkets(sums, columns, step));
  rankEvents(sums, columns, selection.market);
  const selected: number[] = [];
  for (let venueEvent = 1; venueEvent < sums.leads.length; venueEvent += 1) {
    const isOpen = (sums.isOpen[venueEvent] ?? 0) === 1;
    const isRequested =
      (sums.ranks[venueEvent] ?? 0) > 0 &&
      (status === "all" || (status === "open") === isOpen) &&
      (sums.volume[venueEvent] ?? 0) >= minVolume &&
      (sums.volume_24h[venueEvent] ?? 0) >= minDayVolume;
    if (isRequested) selected.push(venueEvent);
  }
  const keys = Float64Array.from(selected, (venueEvent) => sums[sort][venueEvent] ?? 0);
  return new MarketList(columns, {
    ordinals: Int32Array.from(selected, (venueEvent) => sums.leads[venueEvent] ?? 0),
    ranks: Uint16Array.from(selected, (venueEvent, at) =>
      rankByValue(sums.ranks[venueEvent] ?? 0, sort === "end_date" ? (keys[at] ?? 0) : 1),
    ),
    length: selected.length,
    keys,
  });
}

function addMarkets(sums: EventSums, columns: MarketColumns, { from, to }: Chunk): number {
  const { ids } = columns;
  for (let market = from; market < to; market += 1) {
    const venueEvent = columns.venueEvents.get(market);
    const flags = columns.flags.get(market);
    if (venueEvent === 0 || (flags & marketFlags.listed) === 0) continue;
    const lead = sums.leads[venueEvent] ?? -1;
    if (lead === -1 || compareMarkets(ids, market, lead) < 0) sums.leads[venueEvent] = market;
    if ((flags & marketFlags.resolved) === 0) sums.isOpen[venueEvent] = 1;
    sums.volume[venueEvent] = (sums.volume[venueEvent] ?? 0) + columns.volumeUsd.get(market);
    sums.volume_24h[venueEvent] =
      (sums.volume_24h[venueEvent] ?? 0) + columns.dayVolumeUsd.get(market);
    const createdAt = columns.createdAt.get(market);
    if (createdAt < (sums.created_at[venueEvent] ?? 0)) sums.created_at[venueEvent] = createdAt;
    const endMs = columns.endMs.get(market);
    if (endMs > (sums.end_date[venueEvent] ?? 0)) sums.end_date[venueEvent] = endMs;
  }
  return 0;
}

function rankEvents(sums: EventSums, columns: MarketColumns, selection: MarketSelection): void {
  const { ordinals, ranks } = selectMembers(columns, selection);
  inChunks(ranks.length, ({ from, to }) => {
    for (let at = from; at < to; at += 1) {
      const venueEvent = columns.venueEvents.get(ordinals === null ? at : (ordinals[at] ?? 0));
      const rank = ranks[at] ?? 0;
      if (rank > (sums.ranks[venueEvent] ?? 0)) sums.ranks[venueEvent] = rank;
    }
    return 0;
  });
}

/** Returns the listed markets of an event. `key` is a result of `getEventKey`. */
export function marketsOfEvent(directory: MarketDirectory, key: string): readonly Market[] {
  const { columns } = directory;
  return columns
    .withLabel("event_key", key)
    .filter((ordinal) => (columns.flags.get(ordinal) & marketFlags.listed) !== 0)
    .map((ordinal) => directory.market(columns.conditionIdAt(ordinal)))
    .filter((market) => market !== null);
}
