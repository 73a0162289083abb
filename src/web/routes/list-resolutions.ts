import { Type } from "typebox";
import type { Hash } from "../../base/ids.ts";
import { resolutionOf } from "../../market/market.ts";
import { presentResolution, resolutionRow } from "../../rows/resolution-row.ts";
import { readEvents } from "../../store/read-events.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import { positionAfter, rangeFilter, rangeQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { conditionId } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const querystring = Type.Object({ ...rangeQuery, condition_id: Type.Optional(conditionId) });

/** How conditions ended. */
export function listResolutions(backend: Backend): Route {
  const path = "/v1/resolutions";
  return defineRoute({
    method: "GET",
    path,
    access: "read",
    summary: "Resolutions of conditions, newest first",
    querystring,
    response: listOf(resolutionRow),
    errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    handler: async ({ id: requestId, query }) => {
      const { condition_id, order, status } = query;
      const events = await readEvents(backend.store, {
        ...rangeFilter(query),
        kinds: ["condition_resolved"],
        ...(condition_id === undefined ? {} : { subject: condition_id as string as Hash }),
        order,
        after: positionAfter(backend, path, query),
        limit: query.limit + 1,
        finalizedOnly: status === "finalized",
      });
      const rows = events.flatMap((event) => resolutionOf(event) ?? []);
      const context = rowContextOf(backend);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (resolution) => [resolution.seq] },
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
