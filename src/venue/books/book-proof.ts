import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { formatSafeMicros } from "../../base/decimal.ts";
import type { BookSide, Level } from "./book-side.ts";
import type { BookKind } from "./hash-trust.ts";
import type { BookFacts } from "./parse-book.ts";

type Sides = { readonly bids: BookSide; readonly asks: BookSide };

const checkedLevels = 10;

/**
 * Returns the venue's hash of a book: SHA-1 over the compact JSON of its summary, with the fields in this order, `hash`
 * empty and levels worst first. Fields that the venue did not send are left out; empty ones are not. Source: its Python
 * client of 2026, confirmed by its responses and by the hash in each stream message.
 */
export function hashBook(
  { bids, asks }: Sides,
  book: { readonly assetId: string; readonly timestampMs: number; readonly facts: BookFacts },
): string {
  const { market, minOrderSize, tickSize, negRisk, lastTradePrice, version } = book.facts;
  const text =
    `{"market":"${market}","asset_id":"${book.assetId}","timestamp":"${book.timestampMs}",` +
    `"hash":"","bids":${levelsJson(bids)},"asks":${levelsJson(asks)}` +
    (minOrderSize === null ? "" : `,"min_order_size":"${minOrderSize}"`) +
    (tickSize === null ? "" : `,"tick_size":"${tickSize}"`) +
    (negRisk === null ? "" : `,"neg_risk":${negRisk}`) +
    (lastTradePrice === null ? "" : `,"last_trade_price":"${lastTradePrice}"`) +
    (version === null ? "" : `,"version":"${version}"`);
  return hash("sha1", `${text}}`);
}

/** Returns the kind of a book, by the fields that have changed the text of the hash so far. */
export function getBookKind({ version, lastTradePrice }: BookFacts): BookKind {
  const format = version === null || version === "v1" ? "v1" : version === "v2" ? "v2" : "other";
  return `${format}${lastTradePrice ? "" : "_untraded"}`;
}

/**
 * Returns the checksum by which clients verify their copy (`docs/order-books.md`): CRC-32 over the ten best asks and
 * then the ten best bids, best first, each as its price and size in millionths, without separators.
 */
export function checksumBook({ bids, asks }: Sides): number {
  return crc32(checkedText(asks) + checkedText(bids));
}

function checkedText(side: BookSide): string {
  let text = "";
  for (const { price, size } of side.top(checkedLevels)) text += `${price}${size}`;
  return text;
}

function levelsJson(side: BookSide): string {
  return `[${side.worstFirst().map(levelJson).join(",")}]`;
}

function levelJson({ price, size }: Level): string {
  return `{"price":"${formatSafeMicros(price)}","size":"${formatSafeMicros(size)}"}`;
}
