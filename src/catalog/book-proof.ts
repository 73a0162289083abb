import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { BookSide, Level } from "./book-side.ts";
import { formatLevelMicros } from "./level-decimal.ts";
import type { BookFacts } from "./parse-book.ts";

/** What is hashed and checked: both sides. */
type Sides = { readonly bids: BookSide; readonly asks: BookSide };

const checkedLevels = 10;

/**
 * The hash the venue gives a book: SHA-1 over the compact JSON of its summary, fields in this order,
 * `hash` empty, levels worst first. Fields the venue did not send are left out. As in its Python
 * client of 2026, and true of its answers and of what the stream tells with each change.
 */
export function hashBook(
  { bids, asks }: Sides,
  book: { readonly assetId: string; readonly timestampMs: number; readonly facts: BookFacts },
): string {
  const { market, minOrderSize, tickSize, negRisk, lastTradePrice } = book.facts;
  const text =
    `{"market":"${market}","asset_id":"${book.assetId}","timestamp":"${book.timestampMs}",` +
    `"hash":"","bids":${levelsJson(bids)},"asks":${levelsJson(asks)}` +
    (minOrderSize === null ? "" : `,"min_order_size":"${minOrderSize}"`) +
    (tickSize === null ? "" : `,"tick_size":"${tickSize}"`) +
    (negRisk === null ? "" : `,"neg_risk":${negRisk}`) +
    (lastTradePrice === null ? "" : `,"last_trade_price":"${lastTradePrice}"`);
  return createHash("sha1").update(`${text}}`).digest("hex");
}

/**
 * What clients prove their copy with (`docs/order-books.md`): CRC-32 over the ten best asks and then
 * the ten best bids, best first, each as its price and size in millionths, without separators.
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
  return `{"price":"${formatLevelMicros(price)}","size":"${formatLevelMicros(size)}"}`;
}
