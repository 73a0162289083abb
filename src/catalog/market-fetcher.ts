import type { ConditionId } from "../base/ids.ts";
import { catalogueLimits } from "../base/venue-limits.ts";
import { type CatalogueMarket, parseMarket } from "./parse-market.ts";
import type { PoliteHttp } from "./polite-http.ts";

/** A page of the catalogue. */
export type MarketPage = {
  /** Each condition once; what came last counts. */
  readonly markets: readonly CatalogueMarket[];
  /** Entries that do not even say which market they are about. */
  readonly unreadable: number;
  /** What the next page is asked for with; `null` when there is none. */
  readonly nextCursor: string | null;
};

/** The half of the catalogue that is meant. */
export type CatalogueHalf = "open" | "closed";

type Asked = {
  readonly half: CatalogueHalf;
  /** Where the page before ended; `null` for the first. */
  readonly cursor?: string | null;
  /** Only these, up to `lookupIdsMax` of them. */
  readonly conditionIds?: readonly ConditionId[];
};

/** Asks for one page of the catalogue; `null` when what came is none. Throws `VenueError`. */
export async function fetchMarketPage(
  http: PoliteHttp,
  { half, cursor = null, conditionIds = [] }: Asked,
  signal: AbortSignal,
): Promise<MarketPage | null> {
  const query = new URLSearchParams({
    limit: String(catalogueLimits.marketsPerPage),
    closed: String(half === "closed"),
    include_tag: "true",
  });
  if (cursor !== null) query.set("after_cursor", cursor);
  for (const id of conditionIds.flatMap(formsOf)) query.append("condition_ids", id);
  const path = `/markets/keyset?${query.toString()}`;
  return readPage(await http.fetch({ method: "GET", path }, signal));
}

function readPage(value: unknown): MarketPage | null {
  const { markets: list, next_cursor: next } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const nextCursor = cursorOf(next);
  if (!Array.isArray(list) || nextCursor === undefined) return null;
  const markets = new Map<ConditionId, CatalogueMarket>();
  let unreadable = Math.max(0, list.length - catalogueLimits.pageMarketsMax);
  for (const entry of list.slice(0, catalogueLimits.pageMarketsMax) as readonly unknown[]) {
    const market = parseMarket(entry);
    if (market === null) unreadable += 1;
    else markets.set(market.conditionId, market);
  }
  return { markets: [...markets.values()], unreadable, nextCursor };
}

/** `undefined` when it is none, which is not the same as that there is no next page. */
function cursorOf(next: unknown): string | null | undefined {
  if (next === undefined || next === null || next === "") return null;
  const isCursor = typeof next === "string" && next.length <= catalogueLimits.cursorLengthMax;
  return isCursor ? next : undefined;
}

/** Of generation 3 the venue prints 31 bytes, which end in a zero byte here, as others may too. */
function formsOf(conditionId: ConditionId): readonly string[] {
  return conditionId.endsWith("00") ? [conditionId, conditionId.slice(0, -2)] : [conditionId];
}
