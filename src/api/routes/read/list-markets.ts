import type { Static } from "typebox";
import type { ConditionId } from "../../../base/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { mapInTurns } from "../../../base/time/turns.ts";
import { readMarketList, searchMarkets } from "../../../query/read-markets.ts";
import { marketRow, presentMarket } from "../../../rows/market-row.ts";
import type { MarketList, MarketPlace } from "../../../views/markets/market-list.ts";
import type { Hits } from "../../../views/search/market-search.ts";
import type { Backend } from "../../backend.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { CursorPosition } from "../../lists/cursor.ts";
import { answerPage, listOf } from "../../lists/list-answer.ts";
import { ListSnapshots } from "../../lists/list-snapshots.ts";
import {
  type MarketQuery,
  marketQuery,
  searchedWords,
  selectionOf,
} from "../../lists/market-query.ts";

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
    handler: async ({ id: requestId, query }) => {
      const places = await readPlaces({ backend, snapshots }, query);
      // Markets may change while others have their turn; none is sent as it was before this.
      const fresh = backend.freshness();
      const found = await mapInTurns(places, (place) => presentAt(backend, place));
      const rows = found.filter((one) => one !== null);
      return answerPage(
        { cursors: backend.cursors, freshness: () => fresh },
        { path, query, rows, positionOf: ({ place }) => [place.name, ...keysOf(place)] },
        { requestId, present: ({ row }) => row },
      );
    },
  });
}

type Lists = {
  readonly backend: Backend;
  readonly snapshots: ListSnapshots<MarketList>;
};

/** A place and the name of its list, empty when there is nothing behind. */
type NamedPlace = MarketPlace & { readonly name: string };

/** The places of a page, and one more, which says that there is a next page. */
async function readPlaces(lists: Lists, query: MarketQuery): Promise<NamedPlace[]> {
  const { backend, snapshots } = lists;
  const { order, limit } = query;
  const start = startOf(backend, query);
  const isKept = snapshots.get(start.name) !== null;
  const words = isKept || query.search === undefined ? null : searchedWords(query.search);
  const hits = words === null ? null : await searchMarkets(backend, words);
  // From here on no one else has a turn, in which the list might be given up.
  const { name, list } = openList(lists, { query, hits }, start);
  const places = list.page(start.edge, { order, limit: limit + 1 });
  return places.map((place) => ({ ...place, name }));
}

/** The market at a place as a row; `null` when a fork has reverted it. */
function presentAt(
  { state }: Backend,
  place: NamedPlace,
): { place: NamedPlace; row: Static<typeof marketRow> } | null {
  const market = state.directory.market(place.conditionId);
  return market === null ? null : { place, row: presentMarket(market, state) };
}

/** The list that a cursor names, and the place behind which the page starts. */
function startOf(
  { cursors }: Backend,
  query: MarketQuery,
): { name: string; edge: MarketPlace | null } {
  if (query.cursor === undefined) return { name: "", edge: null };
  const [name, ...keys] = cursors.decode(path, query, query.cursor);
  return { name: String(name), edge: placeOf(keys) };
}

/** The list that a page is of, and its name when it is kept. */
function openList(
  { backend, snapshots }: Lists,
  { query, hits }: { query: MarketQuery; hits: Hits | null },
  { name, edge }: { name: string; edge: MarketPlace | null },
): { name: string; list: MarketList } {
  const kept = snapshots.get(name);
  if (kept !== null) return { name, list: kept };
  const list = readMarketList(backend, { ...selectionOf(backend.state, query), hits });
  // A list of one page is never asked for again.
  const isKept = edge !== null || list.length > query.limit;
  return { name: isKept ? snapshots.put(list) : "", list };
}

function keysOf({ rank, key, conditionId }: MarketPlace): CursorPosition {
  return [rank, key, conditionId];
}

function placeOf([rank, key, conditionId]: CursorPosition): MarketPlace {
  return { rank: Number(rank), key: Number(key), conditionId: String(conditionId) as ConditionId };
}
