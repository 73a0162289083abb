import { metadataLimits } from "../../base/config/venue-limits.ts";
import { type ConditionId, formatTokenId, type TokenId } from "../../base/ids.ts";
import type { VenueHttp } from "../venue-http.ts";
import { type MetadataMarket, parseMarket } from "./parse-market.ts";

/** A page of market metadata. */
export type MarketPage = {
  /** Each condition once; the last entry counts. */
  readonly markets: readonly MetadataMarket[];
  /** Entries that do not identify a market. */
  readonly unreadable: number;
  /** The cursor of the next page; `null` after the last. */
  readonly nextCursor: string | null;
};

/** The venue lists open and closed markets separately. */
export type MetadataPassHalf = "open" | "closed";

/** A page to request, of all markets or of some. */
export type MarketPageRequest = {
  readonly half: MetadataPassHalf;
  /** The end of the previous page; `null` for the first page. */
  readonly cursor?: string | null;
  /** Limits the request to these conditions, or to the markets of these tokens, at most `lookupIdsMax`. */
  readonly conditionIds?: readonly ConditionId[];
  readonly tokenIds?: readonly TokenId[];
  /** Whether the markets with the highest volume in 24 hours come first. */
  readonly isByVolume?: boolean;
};

/** Fetches one page of market metadata. Throws `VenueError`. */
export async function fetchMarketPage(
  http: VenueHttp,
  { half, cursor = null, conditionIds = [], tokenIds = [], isByVolume = false }: MarketPageRequest,
  signal: AbortSignal,
): Promise<MarketPage> {
  const query = new URLSearchParams({
    limit: String(metadataLimits.marketsPerPage),
    closed: String(half === "closed"),
    include_tag: "true",
  });
  if (cursor !== null) query.set("after_cursor", cursor);
  for (const id of conditionIds.flatMap(getForms)) query.append("condition_ids", id);
  for (const id of tokenIds) query.append("clob_token_ids", formatTokenId(id));
  if (isByVolume) {
    query.set("order", "volume24hr");
    query.set("ascending", "false");
  }
  const path = `/markets/keyset?${query.toString()}`;
  return http.fetch({ method: "GET", path, read: parsePage }, signal);
}

function parsePage(value: unknown): MarketPage | null {
  const { markets: list, next_cursor: next } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const nextCursor = getCursor(next);
  if (!Array.isArray(list) || nextCursor === undefined) return null;
  const markets = new Map<ConditionId, MetadataMarket>();
  let unreadable = Math.max(0, list.length - metadataLimits.pageMarketsMax);
  for (const entry of list.slice(0, metadataLimits.pageMarketsMax) as readonly unknown[]) {
    const market = parseMarket(entry);
    if (market === null) unreadable += 1;
    else markets.set(market.conditionId, market);
  }
  return { markets: [...markets.values()], unreadable, nextCursor };
}

/** Returns `undefined` if the value is not a cursor; `null` if there is no next page. */
function getCursor(next: unknown): string | null | undefined {
  if (next === undefined || next === null || next === "") return null;
  const isCursor = typeof next === "string" && next.length <= metadataLimits.cursorLengthMax;
  return isCursor ? next : undefined;
}

/**
 * Returns the forms of an id to request. The venue writes generation-3 ids with 31 bytes. Here they end in a zero byte,
 * as other ids can too.
 */
function getForms(conditionId: ConditionId): readonly string[] {
  return conditionId.endsWith("00") ? [conditionId, conditionId.slice(0, -2)] : [conditionId];
}
