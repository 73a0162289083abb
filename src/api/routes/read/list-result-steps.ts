import { Type } from "typebox";
import { requireMarket } from "../../../query/markets/read-markets.ts";
import { readResultSteps } from "../../../query/markets/read-result-steps.ts";
import { resultStepRow, toResultStepRow } from "../../../rows/resolution-row.ts";
import { untilChange } from "../../backend.ts";
import { bulkQuery } from "../../bulk/bulk-format.ts";
import { cursor } from "../../http/parameters.ts";
import { memorySource } from "../../lists/memory-source.ts";
import { type ListParts, listRoute } from "../../lists/row-list.ts";
import type { Route } from "../../route/route.ts";

const pageRows = 100;

/** Lists the steps to the result of a market. */
export function listResultSteps(parts: ListParts): Route {
  return listRoute(parts, {
    path: "/v1/markets/{id}/resolution",
    summary: "List the steps to a result",
    description:
      "How a market got its result, oldest first: the requests to its oracle, proposals, disputes, resets and settlements, and the results that were reported to it and to its mirror",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring: Type.Object({ ...bulkQuery({ pageRows }), cursor: Type.Optional(cursor) }),
    row: resultStepRow,
    toRow: toResultStepRow,
    getCachePolicy: () => untilChange(parts),
    open: async ({ params, query, path }) =>
      memorySource(await readResultSteps(parts, requireMarket(parts, params.id)), {
        after: parts.cursors.decode(path, query),
        toPosition: ({ seq, step }) => [seq, step],
        isAfter: ({ seq, step }, [edge, last]) =>
          seq > Number(edge) || (seq === edge && step > String(last)),
      }),
  });
}
