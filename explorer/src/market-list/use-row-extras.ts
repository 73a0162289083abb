import type { RefObject } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Market } from "../../../clients/typescript/src/api.ts";
import { candlesQuery, getWindow, toBuckets } from "../charts/buckets.ts";
import { toLine, withSettlement } from "../charts/lines.ts";
import { ledgerTokens } from "../service/ledgers.ts";
import { resumesInSeconds } from "../service/limited-fetch.ts";
import { client, isPublic, outage } from "../service/session.ts";
import { Refresher } from "./refresher.ts";

/** The values of a row that cost requests of their own. They are read while the row is on the screen. */
export type RowExtras = {
  /** Prices of the last 24 hours or the market's life, oldest first; `null` before the first trade. */
  readonly line: readonly (number | null)[];
};

/** Up to two requests for each row: at most a third of the limit of a read key, with a screen of rows a tenth. */
const keyPace = { freshMs: 45_000, burst: 60, perReadMs: 600 };
/** Without a key, requests count toward the IP's rate limit, which the page itself needs. */
const publicPace = { freshMs: 300_000, burst: 16, perReadMs: 20_000 };

const none: RowExtras = { line: [] };
const extras = new Refresher(readExtras, () => (isPublic.value ? publicPace : keyPace));

const tickMs = 250;
setInterval(() => {
  const isAllowed = outage.value === null && resumesInSeconds.value === null;
  if (isAllowed && !document.hidden) extras.tick(Date.now());
}, tickMs);

/**
 * Returns the reference of a row, and the extras of its market, which are kept fresh while the row is on the screen;
 * `null` until they are read.
 */
export function useRowExtras(
  market: Market,
): readonly [RefObject<HTMLTableRowElement | null>, RowExtras | null] {
  const row = useRef<HTMLTableRowElement>(null);
  const newest = useRef(market);
  newest.current = market;
  const [, redraw] = useReducer((version: number) => version + 1, 0);
  useEffect(() => {
    if (row.current === null) return;
    let release: (() => void) | null = null;
    const observer = new IntersectionObserver((entries) => {
      release?.();
      release = null;
      if (entries.at(-1)?.isIntersecting !== true) return;
      release = extras.watch(
        market.id,
        () => newest.current,
        () => redraw(null),
      );
    });
    observer.observe(row.current);
    return () => {
      observer.disconnect();
      release?.();
    };
  }, [market.id]);
  return [row, extras.valueOf(market.id)];
}

async function readExtras(market: Market): Promise<RowExtras> {
  const [token] = ledgerTokens(market);
  if (token === undefined || market.trades_24h === 0) return none;
  const endMs = market.resolved_at_ms ?? Date.now();
  const life = { firstMs: market.created_at_ms, endMs };
  const window = getWindow({ range: "1D", form: "sparkline", chosen: null, ...life });
  const query = candlesQuery(window, market.resolved_at_ms);
  const candles = client.value.candles(token.id, query).page();
  const buckets = toBuckets(window, (await candles).data, endMs);
  const line = withSettlement(toLine(buckets), market).map(({ close }) => close);
  return { line };
}
