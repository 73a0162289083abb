import { Type } from "typebox";
import { requireMarket } from "../../../query/markets/read-markets.ts";
import { readResultSteps } from "../../../query/markets/read-result-steps.ts";
import { resultStepRow, toResultStepRow } from "../../../rows/resolution-row.ts";
import { untilChange } from "../../backend.ts";
import { bulkQuery } from "../../bulk/bulk-format.ts";
import { cursor } from "../../http/parameters.ts";
import { memorySource } from "../../lists/memory-source.ts";
import { answerList, type ListParts, publicAs, rowListRoute } from "../../lists/row-list.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const pageRows = 100;

/** Lists the steps to the result of a market. */
export function listResultSteps(parts: ListParts): Route {
  return defineRoute({
    ...rowListRoute(resultStepRow),
    path: "/v1/markets/{id}/resolution",
    summary: "List the steps to a result",
    description:
      "How a market got its result, oldest first: the requests to its oracle, proposals, disputes, resets and settlements, and the results that were reported to it and to its mirror",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring: Type.Object({ ...bulkQuery({ pageRows }), cursor: Type.Optional(cursor) }),
    getCachePolicy: () => untilChange(parts),
    handler: async ({ params, query }, reply) => {
      const market = requireMarket(parts, params.id);
      const path = `/v1/markets/${market.conditionId}/resolution`;
      const source = memorySource(await readResultSteps(parts, market), {
        after: parts.cursors.decode(path, query),
        toPosition: ({ seq, step }) => [seq, step],
        isAfter: ({ seq, step }, [edge, last]) =>
          seq > Number(edge) || (seq === edge && step > String(last)),
      });
      const list = { path, query, row: resultStepRow, source };
      return answerList(parts, reply, { ...list, ...publicAs(toResultStepRow) });
    },
  });
}
