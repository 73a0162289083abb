import type { ConditionId, Seq } from "../../base/ids.ts";
import { mapInTurns } from "../../base/time/turns.ts";
import type { Resolution } from "../../market/market.ts";
import { rowContextOf } from "../../query/row-context.ts";
import { presentResolution } from "../../rows/resolution-row.ts";
import type { ChannelRequest } from "../frames/frame-fields.ts";
import type { Channel, Entry, StreamSources } from "../hub/channel.ts";
import { checkRequest, shownFilter } from "../hub/channel-request.ts";

/** How conditions ended, where it was logged. */
export function openResolutions(request: ChannelRequest, sources: StreamSources): Channel {
  checkRequest(request, { fields: [], filters: ["condition_id", "finality"] });
  const { directory } = sources.state;
  const { resolutions } = directory;
  const asked = request.filter?.condition_id;
  const conditionIds = asked === undefined ? undefined : new Set([asked]);
  const indexBehind = (position: number): number =>
    resolutions.indexOf({ seq: (position + 1) as Seq, conditionId: "" as ConditionId });
  const select = (from: {
    index: number;
    step: 1 | -1;
  }): Iterator<Resolution> & Iterable<Resolution> =>
    resolutions.select({ ...everything, conditionIds }, from);
  const entryOf = (resolution: Resolution): Entry => {
    const market = directory.market(resolution.conditionId);
    const row = presentResolution(resolution, market, rowContextOf(sources));
    return { seq: row.seq, id: row.id, json: JSON.stringify(row) };
  };
  const idsBehind = (position: number): string[] =>
    [...select({ index: indexBehind(position), step: 1 })].map((one) => entryOf(one).id);
  return {
    event: "resolution",
    asked: { type: "resolutions", ...shownFilter(request) },
    label: { type: "resolutions" },
    isFinalOnly: request.filter?.finality === "finalized",
    interest: { tokenIds: [], events: true },
    readAfter: async (after, { limit }) =>
      mapInTurns(takeGroups(select({ index: indexBehind(after), step: 1 }), limit), entryOf),
    readNewest: async (through, count) => {
      const newest = select({ index: indexBehind(through) - 1, step: -1 });
      return takeFirst(newest, count).toReversed().map(entryOf);
    },
    revertedBy: (_removed, rewindTo) => idsBehind(rewindTo),
  };
}

const everything = {
  seqFrom: 0,
  seqTo: Number.MAX_SAFE_INTEGER,
  timestampFrom: 0,
  timestampTo: Infinity,
  txHash: undefined,
};

function takeFirst(results: Iterable<Resolution>, count: number): Resolution[] {
  const taken: Resolution[] = [];
  for (const result of results) {
    if (taken.push(result) >= count) break;
  }
  return taken;
}

/** `limit` results or somewhat more: those of one log stay together, as a page ends at a position. */
function takeGroups(results: Iterable<Resolution>, limit: number): Resolution[] {
  const taken: Resolution[] = [];
  for (const result of results) {
    if (taken.length >= limit && result.seq !== taken.at(-1)?.seq) break;
    taken.push(result);
  }
  return taken;
}
