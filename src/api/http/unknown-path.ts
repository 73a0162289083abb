import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { findSynonym, nearName } from "../../base/near-name.ts";
import { getRootUrl } from "./static-file.ts";

const apiPath = /^\/+(?:api|v[0-9])\b/i;

/** Returns whether a browser is opening a page rather than calling the API. */
export function wantsPage({ method, url = "", headers }: IncomingMessage): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !apiPath.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
}

/**
 * Returns where a request with a slash too many belongs: the relative URL of the known path, with the query. `null` when
 * that is unknown too, or when no slash is the reason.
 */
export function findCanonicalTarget(
  url: string | undefined,
  routes: readonly string[],
): string | null {
  const [path = "", ...query] = (url ?? "").split("?");
  const segments = path.split("/").filter((segment) => segment !== "");
  const canonical = `/${segments.join("/")}`;
  if (!path.startsWith("/") || canonical === path) return null;
  // An id that is missing between two slashes must not be replaced by what follows.
  const isTrailing = canonical === path.slice(0, -1);
  const isKnown = routes.some((one) => {
    const words = one.slice(1).split("/");
    const matches = (word: string, at: number) =>
      word === segments[at] || (isTrailing && word.startsWith("{"));
    return one === canonical || (words.length === segments.length && words.every(matches));
  });
  if (!isKnown) return null;
  return [getRootUrl(path) + segments.join("/"), ...query].join("?");
}

/**
 * Returns `NOT_FOUND` for an unknown path. Its message suggests what was probably meant. A path of the API that cannot be
 * decoded is a `VALIDATION_ERROR`.
 */
export function unknownPath(url: string | undefined, routes: readonly string[]): AppError {
  const target = url ?? "";
  if (apiPath.test(target) && !isDecodable(target.replace(/\?.*/s, "")))
    return invalid("path", "must be valid percent-encoded UTF-8");
  const requested = toWords(target.replace(/\?.*/s, ""));
  // Pages of the explorer have the same names as lists, so they are not suggested to API clients.
  const paths = apiPath.test(target) ? routes.filter((path) => path.startsWith("/v1/")) : routes;
  const meant = findCounterpart(requested, paths) ?? findNear(requested, paths);
  const guess = meant === null ? "; see" : `; did you mean ${meant}? See`;
  return new AppError("NOT_FOUND", `There is no such path${guess} /docs`);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function findNear(words: readonly string[], paths: readonly string[]): string | null {
  const pathWords = paths.flatMap(toWords);
  const requested = words.map((word) => findSynonym(word, pathWords) ?? word);
  const candidates = paths.map((path) => ({ path, words: toWords(path) }));
  // Another first word would be another thing.
  const alike = candidates.filter(({ words: [first] }) => first === requested[0]);
  const pathByWords = new Map(
    (alike.length > 0 ? alike : candidates).map(({ path, words: own }) => {
      const filled = own.map((word, at) => (word === id ? (requested[at] ?? id) : word));
      return [filled.join("/"), path] as const;
    }),
  );
  const near = nearName(requested.join("/"), pathByWords.keys());
  return (near === null ? alike[0]?.path : pathByWords.get(near)) ?? null;
}

/** Paths of other APIs, above all of Polymarket, by their words. Of several counterparts, the first known one counts. */
const counterparts: Readonly<Record<string, readonly string[]>> = {
  midpoint: ["/v1/price/{token_id} (mid)"],
  midpoints: ["/v1/price?token_ids= (mid)"],
  spread: ["/v1/price/{token_id} (spread)"],
  spreads: ["/v1/price?token_ids= (spread)"],
  prices: ["/v1/price?token_ids="],
  "last-trade-price": ["/v1/price/{token_id} (last_trade)"],
  "last-trades-prices": ["/v1/price?token_ids= (last_trade)"],
  "prices-history": ["/v1/candles/{token_id}"],
  "batch-prices-history": ["/v1/candles/{token_id}"],
  history: ["/v1/candles/{token_id}"],
  chart: ["/v1/candles/{token_id}"],
  klines: ["/v1/candles/{token_id}"],
  ohlcv: ["/v1/candles/{token_id}"],
  book: ["/v1/orderbook/{token_id}"],
  books: ["/v1/orderbook/{token_id}"],
  depth: ["/v1/orderbook/{token_id}"],
  "tick-size": ["/v1/orderbook/{token_id} (tick_size)"],
  "data/trades": ["/v1/trades"],
  "data/orders": ["/v1/orders/{order_hash}"],
  "sampling-markets": ["/v1/markets"],
  "simplified-markets": ["/v1/markets"],
  "sampling-simplified-markets": ["/v1/markets"],
  search: ["/v1/markets?search="],
  "public-search": ["/v1/markets?search="],
  positions: ["/v1/wallets/{address}/positions"],
  "closed-positions": ["/v1/wallets/{address}/positions?status=closed"],
  value: ["/v1/wallets/{address}/positions"],
  activity: ["/v1/wallets/{address}/activity", "/v1/trades?wallet="],
  traded: ["/v1/wallets/{address}"],
  holders: ["/v1/markets/{id}/holders", "/v1/holders"],
  oi: ["/v1/open-interest", "/v1/markets"],
  "live-volume": ["/v1/events/{id}"],
  volume: ["/v1/stats"],
  totals: ["/v1/stats"],
  leaderboard: ["/v1/leaderboard", "/v1/wallets"],
  "wallets/*/trades": ["/v1/trades?wallet="],
  "wallets/*/activity": ["/v1/trades?wallet="],
  "markets/*/trades": ["/v1/trades?condition_id="],
  "markets/*/fills": ["/v1/fills?condition_id="],
  "markets/*/price": ["/v1/price/{token_id}"],
  "markets/*/prices": ["/v1/price?token_ids="],
  "markets/*/candles": ["/v1/candles/{token_id}"],
  "markets/*/history": ["/v1/candles/{token_id}"],
  "markets/*/book": ["/v1/orderbook/{token_id}"],
  "markets/*/orderbook": ["/v1/orderbook/{token_id}"],
  "markets/*/tags": ["/v1/markets/{id}"],
  "markets/slug": ["/v1/markets/{id}"],
  "events/slug": ["/v1/events/{id}"],
  "events/*/markets": ["/v1/markets?event_id="],
  "events/*/trades": ["/v1/trades?event_id="],
  ws: ["/v1/stream"],
  websocket: ["/v1/stream"],
  healthz: ["/v1/health"],
  livez: ["/v1/health"],
  readyz: ["/v1/ready"],
  ok: ["/v1/health"],
  swagger: ["/docs"],
  redoc: ["/docs"],
};

/** Finds the counterpart of a path by all of its words, or else by the first ones. */
function findCounterpart(words: readonly string[], paths: readonly string[]): string | null {
  for (let length = words.length; length > 0; length -= 1) {
    const key = words.slice(0, length).join("/");
    const found = Object.hasOwn(counterparts, key) ? counterparts[key] : undefined;
    const meant = found?.find((one) => paths.includes(one.replace(/[? ].*/, "")));
    if (meant !== undefined) return meant;
  }
  return null;
}

/** Replaces ids and path parameters, because neither shows which path was meant. */
const id = "*";

/** Returns the words of a path, without version and empty segments, and with ids replaced. */
function toWords(path: string): string[] {
  const segments = path.split("/").filter((segment) => segment !== "");
  const start = segments.findIndex((segment) => !/^(api|v[0-9])$/i.test(segment));
  const words = start === -1 ? [] : segments.slice(start);
  return words.map((word) => (/^[a-z._-]+$/i.test(word) ? word : id));
}
