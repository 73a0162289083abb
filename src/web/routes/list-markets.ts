import type { Clock } from "../../base/clock.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { Market } from "../../market/market.ts";
import { marketRow, presentMarket } from "../../rows/market-row.ts";
import type { Backend } from "../backend.ts";
import type { CursorPosition } from "../cursor.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { ListSnapshots } from "../list-snapshots.ts";
import {
  type MarketPlace,
  type MarketQuery,
  marketQuery,
  placeOrder,
  selectMarkets,
} from "../market-query.ts";
import { defineRoute, type Route } from "../route.ts";

const path = "/v1/markets";

/** Markets, by volume unless asked otherwise. */
export function listMarkets(backend: Backend, clock: Clock): Route {
  const snapshots = new ListSnapshots<MarketPlace>(clock);
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
      const { name, list, start } = openList(backend, snapshots, query);
      const rows = readPage(backend, list, { start, limit: query.limit });
      return answerPage(
        backend,
        { path, query, rows, positionOf: ({ place }) => [name, ...keysOf(place)] },
        { requestId, present: ({ market }) => presentMarket(market, backend.state) },
      );
    },
  });
}

/** The list that a page is of, its name, and where the page starts in it. */
function openList(
  backend: Backend,
  snapshots: ListSnapshots<MarketPlace>,
  query: MarketQuery,
): { name: string; list: readonly MarketPlace[]; start: number } {
  if (query.cursor === undefined) {
    const list = selectMarkets(backend.state, query);
    // A list of one page is never asked for again.
    const name = list.length > query.limit ? snapshots.put(list) : "";
    return { name, list, start: 0 };
  }
  const [known, ...keys] = backend.cursors.decode(path, query, query.cursor);
  const kept = snapshots.get(String(known));
  const list = kept ?? selectMarkets(backend.state, query);
  const name = kept === null ? snapshots.put(list) : String(known);
  return { name, list, start: firstBehind(list, placeOf(keys), query) };
}

/** One market more than asked for; those that a fork has taken back meanwhile are passed over. */
function readPage(
  { state }: Backend,
  list: readonly MarketPlace[],
  { start, limit }: { start: number; limit: number },
): { place: MarketPlace; market: Market }[] {
  const rows: { place: MarketPlace; market: Market }[] = [];
  for (let at = start; at < list.length && rows.length <= limit; at += 1) {
    const place = list[at];
    const market = place === undefined ? null : state.directory.market(place.conditionId);
    if (place !== undefined && market !== null) rows.push({ place, market });
  }
  return rows;
}

/** The index of the first place behind another, which need not be in the list. */
function firstBehind(list: readonly MarketPlace[], edge: MarketPlace, query: MarketQuery): number {
  const order = placeOrder(query);
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = list[middle];
    if (place !== undefined && order(place, edge) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keysOf({ rank, key, conditionId }: MarketPlace): CursorPosition {
  return [rank, key.toString(), conditionId];
}

function placeOf([rank, key, conditionId]: CursorPosition): MarketPlace {
  return {
    rank: Number(rank),
    key: BigInt(key ?? 0),
    conditionId: String(conditionId) as ConditionId,
  };
}
