import { type Static, Type } from "typebox";
import type { ConditionId, Seq } from "../../../base/ids.ts";
import { conditionId, hash } from "../../../base/input/client-texts.ts";
import type { Resolution } from "../../../market/market.ts";
import { requireMarket } from "../../../query/markets/read-markets.ts";
import {
  describeResolution,
  type ResolutionSnapshot,
  snapshotResolutions,
} from "../../../query/markets/read-resolutions.ts";
import { readResultSteps } from "../../../query/markets/read-result-steps.ts";
import {
  resolutionRow,
  resultStepRow,
  toResolutionRow,
  toResultStepRow,
} from "../../../rows/resolution-row.ts";
import { firstSeqAbove } from "../../../storage/covered-facts.ts";
import type { ResolutionRange } from "../../../views/markets/resolution-log.ts";
import { marketsOfEvent } from "../../../views/venue-events/event-list.ts";
import { type Backend, untilChange } from "../../backend.ts";
import { rangeParameters, toRangeFilter } from "../../lists/fill-parameters.ts";
import {
  type ListParts,
  listRoute,
  memorySource,
  type RowSource,
  rowListParameters,
} from "../../lists/row-list.ts";
import type { CursorPosition } from "../../route/cursor.ts";
import { getPage } from "../../route/list-answer.ts";
import type { Route } from "../../route/route.ts";

const path = "/v1/resolutions";
const querystring = Type.Object({
  ...rangeParameters,
  condition_id: Type.Optional(conditionId),
  neg_risk_market_id: Type.Optional(hash),
});

type ResolutionParameters = Static<typeof querystring>;

/** Lists resolutions from memory, because a result that follows from other results has no log to read. */
export function listResolutions(parts: ListParts): Route {
  const { directory } = parts.state;
  return listRoute(parts, {
    path,
    summary: "List resolutions",
    description: "Resolved conditions with their payouts, newest first",
    querystring,
    row: resolutionRow,
    open: ({ query }) => resolutionSource(parts, query),
    toRow: (resolution, context) =>
      toResolutionRow(describeResolution(resolution, directory), context),
  });
}

function resolutionSource(backend: Backend, query: ResolutionParameters): RowSource<Resolution> {
  const from = { index: getFirstIndex(backend, query), step: getStep(query) };
  const list = { range: getRange(query, backend), from };
  const take = (limit: number) => snapshotResolutions(backend, list, limit);
  return {
    first: async (count) => {
      const { indexes, at } = take(count);
      return indexes.map(at);
    },
    toPosition,
    openAll: async (rowsMax) => {
      const { indexes, at } = take(rowsMax + 1);
      const { rows: sent, edge } = getPage(indexes, rowsMax, (index) => toPosition(at(index)));
      return { rowCount: sent.length, edge, chunks: toChunks({ indexes: sent, at }) };
    },
  };
}

/** Resolutions read per turn. Each takes some 10 us, so that a turn is short. */
const resultsAtOnce = 250;

function* toChunks({ indexes, at }: ResolutionSnapshot): Generator<readonly Resolution[]> {
  for (let from = 0; from < indexes.length; from += resultsAtOnce)
    yield indexes.slice(from, from + resultsAtOnce).map(at);
}

function toPosition({ seq, conditionId: id }: Resolution): CursorPosition {
  return [seq, id];
}

function getStep({ order }: ResolutionParameters): 1 | -1 {
  return order === "asc" ? 1 : -1;
}

/** Returns the index at which the page starts. Throws `INVALID_CURSOR`. */
function getFirstIndex({ state, cursors }: Backend, query: ResolutionParameters): number {
  const { resolutions } = state.directory;
  const step = getStep(query);
  const position = cursors.decode(path, query);
  if (position === null) return step === 1 ? 0 : resolutions.count - 1;
  const [seq, id] = position;
  const found = { seq: Number(seq) as Seq, conditionId: String(id) as ConditionId };
  const edge = resolutions.indexOf(found);
  // A reorg can have reverted the row of the cursor.
  const isThere = resolutions.at(edge)?.conditionId === found.conditionId;
  return step === 1 && !isThere ? edge : edge + step;
}

function getRange(query: ResolutionParameters, { facts, state }: Backend): ResolutionRange {
  const { seqTo = Infinity, ...range } = toRangeFilter(query);
  const end = query.status === "finalized" ? firstSeqAbove(facts.coverage) : Infinity;
  return { ...range, seqTo: Math.min(seqTo, end), conditionIds: requestedConditions(query, state) };
}

/** Returns the conditions that a query selects; `undefined` for any. */
function requestedConditions(
  { condition_id: id, neg_risk_market_id: eventId }: ResolutionParameters,
  { directory }: Backend["state"],
): ReadonlySet<ConditionId> | undefined {
  const named = id === undefined ? undefined : new Set(directory.conditionsOfMarket(id));
  if (eventId === undefined) return named;
  const ofEvent = new Set(
    marketsOfEvent(directory, eventId).flatMap((market) =>
      directory.conditionsOfMarket(market.conditionId),
    ),
  );
  return named === undefined ? ofEvent : new Set([...named].filter((one) => ofEvent.has(one)));
}

/** Lists the steps to the result of a market. */
export function listResultSteps(parts: ListParts): Route {
  return listRoute(parts, {
    path: "/v1/markets/{id}/resolution",
    summary: "List the steps to a result",
    description:
      "How a market got its result, oldest first: the requests to its oracle, proposals, disputes, resets and settlements, and the results that were reported to it and to its mirror",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring: Type.Object({ ...rowListParameters }),
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
