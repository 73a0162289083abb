/** The venue's market metadata, page by page, in the formats of its API. */
import type { TokenId } from "../../src/base/ids.ts";
import { parseGen3TokenId } from "../../src/market/ids/gen3-ids.ts";

/** A market of the venue. Its other fields are omitted. */
export type VenueMarket = Readonly<Record<string, unknown>> & {
  readonly conditionId: string;
  readonly closed?: boolean;
};

const limitMax = 100;

export class ScriptedMetadata {
  readonly #markets: VenueMarket[] = [];
  /** Markets per page. The venue may return fewer than requested. */
  pageMarkets = limitMax;
  /** Ids that one request may have. */
  idsMax = 100;
  /** The ids of each lookup request, by condition and by token. */
  readonly lookups: (readonly string[])[] = [];
  readonly tokenLookups: (readonly string[])[] = [];
  /** The number of pages that were requested by volume. */
  pagesByVolume = 0;
  /** The cursors of the requested pages, in order; `null` for a first page. */
  readonly cursors: (string | null)[] = [];

  /** Adds a market, or replaces the market of the same condition. */
  put(market: VenueMarket): void {
    const at = this.#markets.findIndex(({ conditionId }) => conditionId === market.conditionId);
    if (at === -1) this.#markets.push(market);
    else this.#markets[at] = market;
  }

  /** Adds a market even if there is already one of the same condition. */
  repeat(market: VenueMarket): void {
    this.#markets.push(market);
  }

  answer(query: URLSearchParams): { status: number; body: string } {
    const limit = Math.min(Number(query.get("limit") ?? 20), limitMax, this.pageMarkets);
    const ids = query.getAll("condition_ids");
    const tokenIds = query.getAll("clob_token_ids");
    const isTooMuch = Math.max(ids.length, tokenIds.length) > this.idsMax || query.has("offset");
    if (isTooMuch) return { status: 422, body: '{"error":"no"}' };
    const isClosed = query.get("closed") === "true";
    const isByVolume = query.get("order") === "volume24hr";
    const after = query.get("after_cursor");
    if (ids.length > 0) this.lookups.push(ids);
    else if (tokenIds.length > 0) this.tokenLookups.push(tokenIds);
    else if (isByVolume) this.pagesByVolume += 1;
    else this.cursors.push(after);
    const markets = this.#markets.filter(
      ({ conditionId, closed = false, clobTokenIds }) =>
        closed === isClosed &&
        (ids.length === 0 || ids.includes(conditionId)) &&
        (tokenIds.length === 0 || getList(clobTokenIds).some((id) => tokenIds.includes(id))),
    );
    if (isByVolume) markets.sort((a, b) => Number(b["volume24hr"]) - Number(a["volume24hr"]));
    const from = after === null ? 0 : Number(Buffer.from(after, "base64url").toString());
    const page = markets.slice(from, from + limit);
    const isLast = from + limit >= markets.length;
    const next = Buffer.from(String(from + limit)).toString("base64url");
    const body = { markets: page, ...(isLast ? {} : { next_cursor: next }) };
    return { status: 200, body: JSON.stringify(body) };
  }
}

/**
 * Formats a market as the venue does: lists are JSON inside strings. A market of generation 3 has an id of 31 bytes and a
 * plain list of tokens.
 */
export function venueMarket(market: {
  readonly conditionId: string;
  readonly tokenIds: readonly string[];
  readonly outcomes?: readonly string[];
  readonly slug: string;
  readonly more?: Readonly<Record<string, unknown>>;
}): VenueMarket {
  const { conditionId, tokenIds, outcomes = ["Yes", "No"], slug, more = {} } = market;
  const isGen3 = parseGen3TokenId(conditionId as TokenId) !== null;
  const ids = isGen3
    ? {
        conditionId: conditionId.slice(0, -2),
        version: "v2",
        clobTokenIds: null,
        positionIds: tokenIds,
      }
    : { conditionId, version: "v1", clobTokenIds: JSON.stringify(tokenIds) };
  return {
    id: String(500_000 + slug.length),
    ...ids,
    slug,
    question: `The venue asks: ${slug}?`,
    description: "As the venue describes it.",
    startDate: "2026-01-02T03:04:05.678901Z",
    endDate: "2026-12-31T00:00:00Z",
    image: "https://venue.example/image.png",
    outcomes: JSON.stringify(outcomes),
    outcomePrices: '["0.5", "0.5"]',
    closed: false,
    ...more,
  };
}

function getList(json: unknown): readonly string[] {
  return typeof json === "string" ? (JSON.parse(json) as string[]) : [];
}
