import { mapInTurns } from "../../base/time/turns.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { readEvents } from "../../query/read-events.ts";
import { rowContextOf } from "../../query/row-context.ts";
import {
  cancellationKinds,
  isCancellation,
  presentCancellation,
} from "../../rows/exchange-event-row.ts";
import { idFields } from "../../rows/trade-row.ts";
import {
  type ChannelLog,
  type Entry,
  type Opening,
  pageAfter,
  pageThrough,
} from "../hub/channel.ts";

/** Opens the `cancellations` channel: events on the chain that end orders, or can end them. */
export function openCancellations({ sources }: Opening): ChannelLog {
  const kinds = cancellationKinds;
  const entryWriter = () => {
    const context = rowContextOf(sources);
    return (event: LocatedEvent): Entry[] => {
      const row = presentCancellation(event, context);
      return row === null ? [] : [{ seq: row.seq, json: JSON.stringify(row) }];
    };
  };
  return {
    event: "cancellation",
    interest: () => ({ tokenIds: [], events: true }),
    entriesOf: (block) => block.events.flatMap(entryWriter()),
    readAfter: async (after, { limit }) => {
      const events = await readEvents(sources.facts, { kinds, ...pageAfter(after), limit });
      return (await mapInTurns(events, entryWriter())).flat();
    },
    readNewest: async (through, limit) => {
      const events = await readEvents(sources.facts, { kinds, ...pageThrough(through), limit });
      return events.toReversed().flatMap(entryWriter());
    },
    revertedBy: (removed, rewindTo) =>
      removed
        .flatMap(({ events }) => events)
        .filter(({ seq, event }) => seq > rewindTo && isCancellation(event))
        .map((event) => idFields(event).id),
  };
}
