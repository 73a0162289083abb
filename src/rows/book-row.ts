import { type Static, Type } from "typebox";
import { formatMicros, formatSafeMicros, parseSafeMicros } from "../base/decimal.ts";
import { checksumBook } from "../venue/books/book-proof.ts";
import type { BookSide, Level } from "../venue/books/book-side.ts";
import type { LiveBook } from "../venue/books/live-book.ts";
import type { LevelChange } from "../venue/books/parse-book.ts";
import { toBookTopRow } from "./price-row.ts";
import * as wire from "./wire-format.ts";

const levelRow = Type.Object({ price: wire.decimalText, size: wire.decimalText });

/** The order book of a token, best prices first. */
export const bookRow = Type.Object({
  token_id: wire.tokenIdText,
  bids: Type.Array(levelRow),
  asks: Type.Array(levelRow),
  best_bid: wire.nullableDecimal,
  best_ask: wire.nullableDecimal,
  mid: wire.nullableDecimal,
  spread: wire.nullableDecimal,
  tick_size: wire.nullableDecimal,
  min_order_size: wire.nullableDecimal,
  bid_depth_usd: Type.String(),
  ask_depth_usd: Type.String(),
  last_trade_price: wire.nullableDecimal,
  checksum: Type.Integer({ description: "CRC-32 of the ten best levels of both sides" }),
  hash: wire.nullable(Type.String(), { description: "The venue's own, of all levels" }),
  ...wire.timeShape,
  source: Type.Enum(["stream", "rest"], {
    description: "How the newest state was received from the venue",
  }),
  stale: Type.Boolean({ description: "Whether it may differ from the venue's book" }),
  stale_reason: wire.nullableText,
  age_ms: Type.Integer({
    minimum: 0,
    description: "Milliseconds since the newest message of the venue about it",
  }),
});
type BookRow = Static<typeof bookRow>;

/** The changed levels of a book. */
export const bookChangeRow = Type.Pick(bookRow, [
  "token_id",
  "bids",
  "asks",
  "checksum",
  "hash",
  "timestamp",
  "timestamp_ms",
]);
type BookChangeRow = Static<typeof bookChangeRow>;

/** A book as clients see it, with up to `depth` levels per side. `nowMs` is on the clock of the book. */
export function toBookRow(book: LiveBook, depth: number, nowMs: number): BookRow {
  const { assetId, bids, asks, facts, hash, source, timestampMs } = book;
  const reason = book.staleReason(nowMs);
  return {
    token_id: assetId,
    bids: bids.top(depth).map(toLevelRow),
    asks: asks.top(depth).map(toLevelRow),
    ...toBookTopRow(book),
    tick_size: plainDecimal(facts?.tickSize ?? null),
    min_order_size: plainDecimal(facts?.minOrderSize ?? null),
    bid_depth_usd: getDepth(bids),
    ask_depth_usd: getDepth(asks),
    last_trade_price: plainDecimal(facts?.lastTradePrice ?? null),
    checksum: checksumBook(book),
    hash,
    ...wire.millisecondFields(timestampMs),
    source,
    stale: reason !== null,
    stale_reason: reason,
    age_ms: Math.max(0, Math.floor(book.ageMs(nowMs))),
  };
}

/** Changed levels, with the checksum and hash of the book after the change. A size of 0 removes a level. */
export function toBookChangeRow(book: LiveBook, changes: readonly LevelChange[]): BookChangeRow {
  const { assetId, hash, timestampMs } = book;
  const of = (requested: LevelChange["side"]) =>
    changes.filter(({ side }) => side === requested).map(toLevelRow);
  return {
    token_id: assetId,
    bids: of("bid"),
    asks: of("ask"),
    checksum: checksumBook(book),
    hash,
    ...wire.millisecondFields(timestampMs),
  };
}

function toLevelRow({ price, size }: Level): Static<typeof levelRow> {
  return { price: formatSafeMicros(price), size: formatSafeMicros(size) };
}

function getDepth(side: BookSide): string {
  let micros = 0n;
  for (const { price, size } of side.worstFirst()) micros += BigInt(price) * BigInt(size);
  return formatMicros(micros / 1_000_000n);
}

function plainDecimal(text: string | null): string | null {
  const micros = text === null ? null : parseSafeMicros(text);
  return micros === null ? null : formatSafeMicros(micros);
}
