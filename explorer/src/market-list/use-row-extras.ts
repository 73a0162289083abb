import { useEffect, useState } from "preact/hooks";
import type { Market } from "../../../client/src/api.ts";
import { bucketsOf, candlesQuery, windowOf } from "../charts/buckets.ts";
import { lineOf, withSettlement } from "../charts/lines.ts";
import { LoadQueue } from "../service/load-queue.ts";
import { client, hasListedBooks, isPublic } from "../service/session.ts";

/** The values of a row that are loaded only when the row is first seen. */
export type RowExtras = {
  /** Prices of the last 24 hours or the market's life, oldest first; `null` before the first trade. */
  readonly line: readonly (number | null)[];
  /** The dollars in the order book; `null` if it was not read. */
  readonly liquidity: number | null;
};

const readAtOnce = 3;
const freshMs = 120_000;
/**
 * The most rows that load extras without a key. They count against the IP's rate limit, which the page itself needs.
 */
const publicRowsMax = 16;

const queue = new LoadQueue(readAtOnce);
const remembered = new Map<string, RowExtras & { readonly atMs: number }>();
const none: RowExtras = { line: [], liquidity: null };

/** Returns the extras of a market; empty until they are loaded, and for `null`. */
export function useRowExtras(market: Market | null): RowExtras {
  const [, setVersion] = useState(0);
  const id = market?.id ?? null;
  useEffect(() => {
    if (market === null) return;
    const known = remembered.get(market.id);
    if (known !== undefined && Date.now() - known.atMs < freshMs) return;
    if (isPublic.value && remembered.size >= publicRowsMax) return;
    queue.add(async () => {
      remembered.set(market.id, { ...(await readExtras(market)), atMs: Date.now() });
      setVersion((version) => version + 1);
    });
  }, [id]);
  return (id === null ? undefined : remembered.get(id)) ?? none;
}

async function readExtras(market: Market): Promise<RowExtras> {
  const [token] = market.tokens;
  if (token === undefined || market.trades_24h === 0) return none;
  const endMs = market.resolved_at_ms ?? Date.now();
  const life = { firstMs: market.created_at_ms, endMs };
  const window = windowOf({ range: "1D", form: "sparkline", chosen: null, ...life });
  const query = candlesQuery(window, market.resolved_at_ms);
  const candles = client.value.candles(token.token_id, query).page();
  const isBookRead = hasListedBooks.value && market.status === "open";
  const book = isBookRead
    ? client.value.orderBook(token.token_id, { depth: 1 }).catch(() => null)
    : null;
  const buckets = bucketsOf(window, (await candles).data, endMs);
  const line = withSettlement(lineOf(buckets), market).map(({ close }) => close);
  const read = await book;
  const liquidity = read === null ? null : Number(read.bid_depth_usd) + Number(read.ask_depth_usd);
  return { line, liquidity };
}
