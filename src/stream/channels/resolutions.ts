import { mapYielding } from "../../base/time/turns.ts";
import type { Resolution } from "../../market/market.ts";
import { describeResolution } from "../../query/markets/read-resolutions.ts";
import { getRowContext } from "../../query/row-context.ts";
import { resolutionId, toResolutionRow } from "../../rows/resolution-row.ts";
import { type ChannelLog, type Entry, firstGroups, type Opening } from "../hub/channel.ts";

/** Opens the `resolutions` channel. The position of a resolution is that of the log it follows from. */
export function openResolutions({ request, sources }: Opening): ChannelLog {
  const { directory } = sources.state;
  const { resolutions } = directory;
  const requested = request.filter?.condition_id;
  // The mirror of a condition can become known later.
  const range = () =>
    requested === undefined
      ? {}
      : { conditionIds: new Set(directory.conditionsOfMarket(requested)) };
  const resolutionsAfter = (position: number) =>
    resolutions.select(range(), { index: resolutions.firstFrom(position + 1), step: 1 });
  const toEntry = (resolution: Resolution): Entry => {
    const row = toResolutionRow(describeResolution(resolution, directory), getRowContext(sources));
    return { seq: row.seq, json: JSON.stringify(row) };
  };
  return {
    event: "resolution",
    interest: () => ({ tokenIds: [], events: true }),
    read: async ({ order, after, limit }) => {
      if (order === "asc")
        return mapYielding(firstGroups(resolutionsAfter(after ?? -1), limit), toEntry);
      const index = after === null ? resolutions.count - 1 : resolutions.firstFrom(after) - 1;
      const newest = resolutions.select(range(), { index, step: -1 }).take(limit);
      return mapYielding(newest, toEntry);
    },
    revertedBy: (_removed, rewindTo) => resolutionsAfter(rewindTo).map(resolutionId).toArray(),
  };
}
