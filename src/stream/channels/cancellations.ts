import { mapYielding } from "../../base/time/turns.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { readEvents } from "../../query/read-events.ts";
import { getRowContext } from "../../query/row-context.ts";
import {
  cancellationKinds,
  isCancellation,
  toCancellationRow,
} from "../../rows/exchange-event-row.ts";
import { idFields } from "../../rows/trade-row.ts";
import type { ChannelLog, Entry, Opening } from "../hub/channel.ts";

/** Opens the `cancellations` channel: events on the chain that end orders, or can end them. */
export function openCancellations({ sources }: Opening): ChannelLog {
  const entryWriter = () => {
    const context = getRowContext(sources);
    return (event: LocatedEvent): Entry[] => {
      const row = toCancellationRow(event, context);
      return row === null ? [] : [{ seq: row.seq, json: JSON.stringify(row) }];
    };
  };
  return {
    event: "cancellation",
    interest: () => ({ tokenIds: [], events: true }),
    toEntries: (block) => block.events.flatMap(entryWriter()),
    read: async (page) => {
      const events = await readEvents(sources.facts, { ...page, kinds: cancellationKinds });
      return (await mapYielding(events, entryWriter())).flat();
    },
    revertedBy: (removed) =>
      removed
        .flatMap(({ events }) => events)
        .filter(({ event }) => isCancellation(event))
        .map((event) => idFields(event).id),
  };
}
