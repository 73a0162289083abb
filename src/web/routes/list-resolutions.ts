import { type Static, Type } from "typebox";
import { type ConditionId, firstSeqOf, type Seq } from "../../base/ids.ts";
import type { Resolution } from "../../market/market.ts";
import { presentResolution, resolutionRow } from "../../rows/resolution-row.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import { rangeFilter, rangeQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { conditionId } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const querystring = Type.Object({ ...rangeQuery, condition_id: Type.Optional(conditionId) });

type ResolutionQuery = Static<typeof querystring>;

/** How conditions ended, from memory: results that follow from others have no log of their own. */
export function listResolutions(backend: Backend): Route {
  const path = "/v1/resolutions";
  return defineRoute({
    method: "GET",
    path,
    access: "read",
    summary: "Resolutions of conditions, newest first",
    querystring,
    response: listOf(resolutionRow),
    errors: ["INVALID_CURSOR"],
    cacheControl: "private, max-age=1",
    handler: ({ id: requestId, query }) => {
      const rows = selectResolutions(backend, query, path);
      const context = rowContextOf(backend);
      return answerPage(
        backend,
        { path, query, rows, positionOf: ({ seq, conditionId: id }) => [seq, id] },
        {
          requestId,
          present: (resolution) => {
            const market = context.directory.market(resolution.conditionId);
            return presentResolution(resolution, market, context);
          },
        },
      );
    },
  });
}

/** One row more than asked for, in the order asked for, from where the page before ended. */
function selectResolutions(backend: Backend, query: ResolutionQuery, path: string): Resolution[] {
  const { resolutions } = backend.state.directory;
  const step = query.order === "asc" ? 1 : -1;
  let index = query.order === "asc" ? 0 : resolutions.count - 1;
  if (query.cursor !== undefined) {
    const [seq, id] = backend.cursors.decode(path, query, query.cursor);
    const conditionId = String(id) as ConditionId;
    const edge = resolutions.indexOf({ seq: Number(seq) as Seq, conditionId });
    // The row of the cursor itself may have been taken back by a fork.
    const isThere = resolutions.at(edge)?.conditionId === conditionId;
    index = query.order === "asc" && !isThere ? edge : edge + step;
  }
  const rows: Resolution[] = [];
  for (const resolution of resolutions.select(rangeOf(query, backend), { index, step })) {
    rows.push(resolution);
    if (rows.length > query.limit) break;
  }
  return rows;
}

function rangeOf(query: ResolutionQuery, { store }: Backend) {
  const { timestampFrom = 0, timestampTo = Infinity, seqFrom = 0, ...rest } = rangeFilter(query);
  const { seqTo = Infinity, txHash } = rest;
  const finalSeq = firstSeqOf((store.coverage?.last.number ?? -1) + 1);
  return {
    seqFrom,
    seqTo: query.status === "finalized" ? Math.min(seqTo, finalSeq) : seqTo,
    timestampFrom,
    timestampTo,
    txHash,
    conditionId: query.condition_id,
  };
}
