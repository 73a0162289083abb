/**
 * Parses the venue's order book messages, of the stream and of responses, as its clients and documentation describe
 * them. Anything else is refused piece by piece. Nothing here throws.
 */

import { venueLimits } from "../../base/config/venue-limits.ts";
import { parseSafeMicros } from "../../base/decimal.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Level } from "./book-side.ts";

/** The fields of a book other than its levels, as the venue wrote them, because the hash covers that text. */
export type BookFacts = {
  /** The condition id. */
  readonly market: string;
  readonly minOrderSize: string | null;
  readonly tickSize: string | null;
  readonly negRisk: boolean | null;
  /** Empty before the first trade. */
  readonly lastTradePrice: string | null;
  /** `v2` for tokens of generation 3; other books have none. */
  readonly version: string | null;
};

/** A whole book. */
export type BookSnapshot = {
  readonly kind: "book";
  /** The token, as the venue's decimal. */
  readonly assetId: string;
  /** When the book last changed, in Unix milliseconds of the venue. */
  readonly timestampMs: number;
  /** The hash of the whole book; `null` if it was not sent. */
  readonly hash: string | null;
  readonly facts: BookFacts;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};

/** The new size of a level; 0 removes the level. */
export type LevelChange = Level & { readonly side: "bid" | "ask" };

/** Changes of one book that belong together. */
export type BookChanges = {
  readonly kind: "changes";
  readonly assetId: string;
  readonly timestampMs: number;
  readonly changes: readonly LevelChange[];
  /** The hash of the whole book after the changes; `null` if it was not sent. */
  readonly hash: string | null;
  /** The best prices after the changes; `undefined` if not sent, `null` for an empty side. */
  readonly bestBid: number | null | undefined;
  readonly bestAsk: number | null | undefined;
};

/** An event of the stream. */
export type BookEvent =
  | BookSnapshot
  | BookChanges
  | { readonly kind: "fact"; readonly assetId: string; readonly fact: Partial<BookFacts> }
  | BrokenEvent;

/** A text that cannot be parsed, and the tokens and the market that it names. */
export type BrokenEvent = {
  readonly kind: "broken";
  readonly assetIds: readonly string[];
  readonly market: string | null;
};

type Fields = Readonly<Record<string, unknown>>;

const priceMax = 1_000_000;
const hashPattern = /^(?:0x)?[0-9a-zA-Z]{1,64}$/;
const marketPattern = /^0x[0-9a-fA-F]{1,64}$/;
const assetPattern = /^[0-9]{1,78}$/;
const versionPattern = /^[0-9A-Za-z._-]{1,20}$/;
const namedAssets = /"asset_id"\s*:\s*"([0-9]{1,78})"/g;
const namedMarket = /"market"\s*:\s*"(0x[0-9a-fA-F]{1,64})"/;

/** Parses the events of one message. Events that do not concern books are left out. */
export function parseBookMessage(text: string): readonly BookEvent[] {
  const value = tryParseJson(text);
  const events: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (value === null || events.length > venueLimits.messageEventsMax) return [brokenText(text)];
  try {
    return events.flatMap(parseEvent);
  } catch {
    return [brokenText(text)]; // a part that cannot be parsed is nested too deeply to be a text again
  }
}

/** Parses a whole book, of a response or of the stream; returns `null` if anything about it is invalid. */
export function parseSnapshot(value: unknown): BookSnapshot | null {
  if (!isJsonObject(value)) return null;
  const { asset_id: assetId, market } = value;
  const timestampMs = parseTimestamp(value["timestamp"]);
  const bids = parseLevels(value["bids"]);
  const asks = parseLevels(value["asks"]);
  if (!isMatch(assetPattern, assetId) || !isMatch(marketPattern, market)) return null;
  if (timestampMs === null || bids === null || asks === null) return null;
  const { neg_risk: negRisk, version } = value;
  const facts = {
    market,
    minOrderSize: toDecimal(value["min_order_size"]),
    tickSize: toDecimal(value["tick_size"]),
    negRisk: typeof negRisk === "boolean" ? negRisk : null,
    lastTradePrice: toDecimal(value["last_trade_price"]),
    version: isMatch(versionPattern, version) ? version : null,
  };
  const hash = getHash(value["hash"]);
  return { kind: "book", assetId, timestampMs, hash, facts, bids, asks };
}

function parseEvent(value: unknown): BookEvent[] {
  if (!isJsonObject(value)) return [broken(value)];
  const { event_type: type } = value;
  switch (type) {
    case "book":
      return [parseSnapshot(value) ?? broken(value)];
    case "price_change":
      return parseChanges(value);
    case "last_trade_price":
      return [parseFact(value, "lastTradePrice", value["price"])];
    case "tick_size_change":
      return [parseFact(value, "tickSize", value["new_tick_size"])];
    default:
      return typeof type === "string" ? [] : [broken(value)];
  }
}

function parseFact(value: Fields, name: keyof BookFacts, sent: unknown): BookEvent {
  const { asset_id: assetId } = value;
  const decimal = toDecimal(sent);
  if (!isMatch(assetPattern, assetId) || !decimal) return broken(value);
  return { kind: "fact", assetId, fact: { [name]: decimal } };
}

/**
 * Parses the changes of a message, grouped by book. The last change of a book has the hash and best prices after all of
 * them.
 */
function parseChanges(value: Fields): BookEvent[] {
  const timestampMs = parseTimestamp(value["timestamp"]);
  // Until 2025 a message had one change instead of a list.
  const entries = value["price_changes"] ?? [value];
  const isList = Array.isArray(entries) && entries.length <= venueLimits.messageEventsMax;
  if (!isList || timestampMs === null) return [broken(value)];
  const events: BookEvent[] = [];
  const parsed: ParsedChange[] = [];
  for (const entry of entries as readonly unknown[]) {
    const change = parseChange(entry);
    if (change === null) events.push(broken([entry, { market: value["market"] }]));
    else parsed.push(change);
  }
  for (const [assetId, ofBook] of Map.groupBy(parsed, (change) => change.assetId)) {
    const changes = ofBook.map(({ level }) => level);
    const last = ofBook.at(-1)?.entry ?? {};
    const bestBid = parseBest(last["best_bid"], 0);
    const bestAsk = parseBest(last["best_ask"], priceMax);
    const hash = getHash(last["hash"]);
    events.push({ kind: "changes", assetId, timestampMs, changes, hash, bestBid, bestAsk });
  }
  return events;
}

type ParsedChange = {
  readonly assetId: string;
  readonly level: LevelChange;
  readonly entry: Fields;
};

function parseChange(entry: unknown): ParsedChange | null {
  if (!isJsonObject(entry)) return null;
  const { asset_id: assetId, side } = entry;
  const price = parsePrice(entry["price"]);
  const size = toMicros(entry["size"]);
  if (!isMatch(assetPattern, assetId) || price === null || size === null) return null;
  if (side !== "BUY" && side !== "SELL") return null;
  return { assetId, entry, level: { side: side === "BUY" ? "bid" : "ask", price, size } };
}

function parseLevels(value: unknown): Level[] | null {
  if (!Array.isArray(value) || value.length > venueLimits.levelsMax) return null;
  const levels: Level[] = [];
  const prices = new Set<number>();
  for (const entry of value as readonly unknown[]) {
    if (!isJsonObject(entry)) return null;
    const price = parsePrice(entry["price"]);
    const size = toMicros(entry["size"]);
    if (price === null || size === null || prices.has(price)) return null;
    prices.add(price);
    if (size > 0) levels.push({ price, size });
  }
  return levels;
}

function toMicros(value: unknown): number | null {
  return typeof value === "string" ? parseSafeMicros(value) : null;
}

function parsePrice(value: unknown): number | null {
  const price = toMicros(value);
  return price === null || price <= 0 || price >= priceMax ? null : price;
}

/** The venue writes an empty side as a price of 0 or 1. */
function parseBest(value: unknown, empty: number): number | null | undefined {
  const price = toMicros(value);
  if (price === null) return undefined;
  return price === empty ? null : price;
}

/** Later times than those with 13 digits have no RFC 3339 form, in which clients get them. */
function parseTimestamp(value: unknown): number | null {
  const text = typeof value === "number" ? String(value) : value;
  return isMatch(/^[0-9]{10,13}$/, text) ? Number(text) : null;
}

function getHash(value: unknown): string | null {
  return isMatch(hashPattern, value) ? value : null;
}

/** Returns a decimal, or the empty text by which the venue says that it has none. */
function toDecimal(value: unknown): string | null {
  return typeof value === "string" && (value === "" || toMicros(value) !== null) ? value : null;
}

function broken(value: unknown): BookEvent {
  return brokenText(JSON.stringify(value));
}

/** Finds the tokens and the market in a text, which may be cut off anywhere. */
function brokenText(text: string): BrokenEvent {
  const assetIds = Array.from(text.matchAll(namedAssets), ([, assetId = ""]) => assetId);
  const market = namedMarket.exec(text)?.[1] ?? null;
  return { kind: "broken", assetIds: [...new Set(assetIds)], market };
}

function isMatch(pattern: RegExp, value: unknown): value is string {
  return typeof value === "string" && value.length <= 80 && pattern.test(value);
}
