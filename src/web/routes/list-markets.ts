import type { Clock } from "../../base/clock.ts";
import type { ConditionId } from "../../base/ids.ts";
import { MarketList, type MarketPlace } from "../../market/market-list.ts";
import { marketRow, presentMarket } from "../../rows/market-row.ts";
import type { Backend } from "../backend.ts";
import type { CursorPosition } from "../cursor.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { ListSnapshots } from "../list-snapshots.ts";
import { type MarketQuery, marketQuery, selectionOf } from "../market-query.ts";
import { defineRoute, type Route } from "../route.ts";

const path = "/v1/markets";

/** Markets, by volume unless asked otherwise. */
export function listMarkets(backend: Backend, clock: Clock): Route {
  const snapshots = new ListSnapshots<MarketList>(clock);
  return defineRoute({
    method: "GET",
    path,
    access: "read",
    summary: "Markets, with search, filters and pagination",
    querystring: marketQuery,
    response: listOf(marketRow),
    errors: ["INVALID_CURSOR"],
    cacheControl: "private, max-age=300",
    isTagged: () => true,
    handler: ({ id: requestId, query }) => {
      const { order, limit } = query;
      const { name, list, edge } = openList(backend, snapshots, query);
      // One more than asked for says that there is a next page.
      const places = list.page(edge, { order, limit: limit + 1 });
      const rows = places.flatMap((place) => {
        const market = backend.state.directory.market(place.conditionId);
        return market === null ? [] : [{ place, market }];
      });
      return answerPage(
        backend,
        { path, query, rows, positionOf: ({ place }) => [name, ...keysOf(place)] },
        { requestId, present: ({ market }) => presentMarket(market, backend.state) },
      );
    },
  });
}

/** The list that a page is of, its name, and the place the page starts behind. */
function openList(
  backend: Backend,
  snapshots: ListSnapshots<MarketList>,
  query: MarketQuery,
): { name: string; list: MarketList; edge: MarketPlace | null } {
  const { state, cursors } = backend;
  const select = () => new MarketList(state.directory.columns, selectionOf(state, query));
  if (query.cursor === undefined) {
    const list = select();
    // A list of one page is never asked for again.
    const name = list.length > query.limit ? snapshots.put(list) : "";
    return { name, list, edge: null };
  }
  const [known, ...keys] = cursors.decode(path, query, query.cursor);
  const kept = snapshots.get(String(known));
  const list = kept ?? select();
  const name = kept === null ? snapshots.put(list) : String(known);
  return { name, list, edge: placeOf(keys) };
}

function keysOf({ rank, key, conditionId }: MarketPlace): CursorPosition {
  return [rank, key, conditionId];
}

function placeOf([rank, key, conditionId]: CursorPosition): MarketPlace {
  return { rank: Number(rank), key: Number(key), conditionId: String(conditionId) as ConditionId };
}
