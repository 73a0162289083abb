import type { ConditionId, Seq } from "../../base/ids.ts";
import { mapInTurns } from "../../base/time/turns.ts";
import type { Resolution } from "../../market/market.ts";
import { rowContextOf } from "../../query/row-context.ts";
import { presentResolution, resolutionId } from "../../rows/resolution-row.ts";
import { type ChannelLog, type Entry, firstGroups, type Opening } from "../hub/channel.ts";

/** Opens the `resolutions` channel. The position of a resolution is that of the log it follows from. */
export function openResolutions({ request, sources }: Opening): ChannelLog {
  const { resolutions } = sources.state.directory;
  const wanted = request.filter?.condition_id;
  const conditionIds = wanted === undefined ? undefined : new Set([wanted]);
  const indexAfter = (position: number): number =>
    resolutions.indexOf({ seq: (position + 1) as Seq, conditionId: "" as ConditionId });
  const resolutionsAfter = (position: number) =>
    resolutions.select({ conditionIds }, { index: indexAfter(position), step: 1 });
  const entryOf = (resolution: Resolution): Entry => {
    const row = presentResolution(resolution, rowContextOf(sources));
    return { seq: row.seq, json: JSON.stringify(row) };
  };
  return {
    event: "resolution",
    interest: () => ({ tokenIds: [], events: true }),
    readAfter: async (after, { limit }) =>
      mapInTurns(firstGroups(resolutionsAfter(after), limit), entryOf),
    readNewest: async (through, count) => {
      const from = { index: indexAfter(through) - 1, step: -1 } as const;
      const newest = resolutions.select({ conditionIds }, from).take(count);
      return newest.map(entryOf).toArray().toReversed();
    },
    revertedBy: (_removed, rewindTo) => resolutionsAfter(rewindTo).map(resolutionId).toArray(),
  };
}
