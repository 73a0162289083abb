import { type Static, Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { getEventKey } from "../../../market/market.ts";
import { getEventRow } from "../../../query/markets/market-rows.ts";
import { readEventList } from "../../../query/markets/read-markets.ts";
import { eventRow } from "../../../rows/event-row.ts";
import type { MarketState } from "../../../views/markets/market-state.ts";
import type { Hits } from "../../../views/search/market-search.ts";
import { type EventSelection, marketsOfEvent } from "../../../views/venue-events/event-list.ts";
import type { Backend } from "../../backend.ts";
import { listParameters } from "../../bulk/bulk-format.ts";
import { MarketLists } from "../../lists/market-lists.ts";
import { marketParameters, toSelection } from "../../lists/market-parameters.ts";
import { type ListParts, listRoute } from "../../lists/row-list.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const pageRows = 20;
/** Parameters of the list of markets that the list of events does not have. */
const ofMarkets = [
  "include",
  "active",
  "slug",
  "created_after",
  "created_before",
  "end_after",
  "end_before",
] as const;

const eventParameters = Type.Object({
  ...Type.Omit(marketParameters, ofMarkets).properties,
  ...listParameters({ pageRows, pageRowsMax: 50 }),
  sort: Type.Enum(["volume_24h", "volume", "created_at", "end_date"], { default: "volume_24h" }),
});
type EventParameters = Static<typeof eventParameters>;

/** Lists events with their markets. An event is listed when one of its markets matches. */
export function listEvents(parts: ListParts, clock: Clock): Route {
  const lists = new MarketLists(parts, clock);
  const { state } = parts;
  return listRoute(parts, {
    path: "/v1/events",
    summary: "List events",
    description: "Events with their markets, totals and prices",
    querystring: eventParameters,
    pageRows,
    row: eventRow,
    cacheControl: "private, max-age=10",
    open: ({ query, path }) =>
      lists.open({
        path,
        query,
        open: (hits) => readEventList(parts, requestedEvents(state, query, hits)),
        present: (conditionId) => {
          const key = getKey(state, conditionId);
          return key === null ? null : findEvent(state, key);
        },
        // A reorg also reverts market metadata, until it is requested again.
        isListed: (conditionId) => getKey(state, conditionId) !== null,
      }),
  });
}

/** Returns one event by `neg_risk_market_id`, venue id or slug. */
export function getEvent({ state }: Backend): Route {
  return defineRoute({
    path: "/v1/events/{id}",
    summary: "Get an event",
    description: "One event by its id, the venue's id or slug",
    params: Type.Object({
      id: Type.String({ minLength: 1, maxLength: 200, examples: ["903193"] }),
    }),
    response: toObjectShape(eventRow),
    cacheControl: "private, max-age=10",
    handler: ({ params: { id } }) => {
      const row = findEvent(state, id) ?? eventNamed(state, id);
      if (row === null) throw new AppError("NOT_FOUND", "No event has this id");
      return { data: row };
    },
  });
}

function requestedEvents(
  state: MarketState,
  query: EventParameters,
  hits: Hits | null,
): EventSelection {
  const { status, sort, min_volume: volume, min_volume_24h: dayVolume, ...rest } = query;
  return {
    market: { ...toSelection(state, { ...rest, status: "all", sort: "volume" }), hits },
    status,
    minVolume: Number(volume ?? 0n),
    minDayVolume: Number(dayVolume ?? 0n),
    sort,
  };
}

function getKey({ directory }: MarketState, conditionId: Parameters<typeof directory.market>[0]) {
  const market = directory.market(conditionId);
  return market === null ? null : getEventKey(market);
}

/** Returns an event by its key; `null` when it has no markets. */
function findEvent(state: MarketState, key: string): Static<typeof eventRow> | null {
  const markets = marketsOfEvent(state.directory, key);
  const [first] = markets;
  // The event of generation 3 that mirrors a neg-risk event names that event too.
  return first === undefined ? null : getEventRow(getEventKey(first) ?? key, markets, state);
}

function eventNamed(state: MarketState, name: string): Static<typeof eventRow> | null {
  const { columns } = state.directory;
  const [ordinal] = [...columns.withLabel("event", name), ...columns.withLabel("event_slug", name)];
  const key = ordinal === undefined ? null : getKey(state, columns.conditionIdAt(ordinal));
  return key === null ? null : findEvent(state, key);
}
