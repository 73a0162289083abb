import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, formatSafeMicros } from "../base/decimal.ts";
import { formatTokenId, type TokenId } from "../base/ids.ts";
import { averagePrice } from "../market/candle.ts";
import { invertPrice, invertSide } from "../market/invert.ts";
import type { LiveBook } from "../venue/books/live-book.ts";
import type { OrderBooks } from "../venue/books/order-books.ts";
import { dayWindowSeconds } from "../views/day/day-window.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import {
  joinedDayCandle,
  joinedNewestTrade,
  joinedPrice,
  joinedPriceBeforeDay,
  pairPrice,
  type TokenPrice,
} from "../views/prices/token-price.ts";
import * as wire from "./wire-format.ts";

const decimalNullable = wire.nullable(wire.decimalText);
const sourceText = Type.Enum(["last_trade", "complement", "settlement"]);
const sourceNullable = wire.nullable(sourceText);

const lastTradeRow = Type.Object({
  price: wire.decimalText,
  size: wire.decimalText,
  side: wire.sideText,
  seq: wire.seqNumber,
  timestamp: wire.timeText,
  timestamp_ms: wire.millisecondsNumber,
  tx_hash: wire.hashText,
});

const dayStatsRow = Type.Object({
  open: decimalNullable,
  high: decimalNullable,
  low: decimalNullable,
  close: decimalNullable,
  change: decimalNullable,
  change_pct: decimalNullable,
  volume_usd: wire.decimalText,
  volume_shares: wire.decimalText,
  buy_volume_usd: wire.decimalText,
  sell_volume_usd: wire.decimalText,
  trades: Type.Integer(),
  vwap: decimalNullable,
  window_start_ms: wire.millisecondsNumber,
  window_end_ms: wire.millisecondsNumber,
});

/** The current price of a token, and statistics of its last 24 hours of chain time. */
export const priceRow = Type.Object({
  token_id: wire.tokenIdText,
  price: decimalNullable,
  price_source: sourceNullable,
  last_trade: wire.nullable(lastTradeRow),
  best_bid: decimalNullable,
  best_ask: decimalNullable,
  mid: decimalNullable,
  spread: decimalNullable,
  stats_24h: dayStatsRow,
  complement: wire.nullable(
    Type.Object({
      token_id: wire.tokenIdText,
      outcome: wire.nullable(Type.String()),
      price: decimalNullable,
      price_source: sourceNullable,
    }),
  ),
  resolved: Type.Boolean(),
  settlement_price: decimalNullable,
  timestamp: wire.timeText,
  timestamp_ms: wire.millisecondsNumber,
});
export type PriceRow = Static<typeof priceRow>;

/** The sources of a price, all of them in memory. */
export type PriceSources = {
  readonly state: MarketState;
  /** `null` when no venue is configured. */
  readonly books: OrderBooks | null;
};

/**
 * Returns a reader of a token's book, which returns `null` without a book or for a stale one. It is valid until the
 * state changes. Reading keeps a book followed.
 */
export function bookReader(tokenId: TokenId, sources: PriceSources): () => LiveBook | null {
  const books = getBooks(tokenId, sources);
  if (books === null) return () => null;
  const peek = books.peeker(tokenId);
  return () => {
    const book = peek();
    return book?.staleReason(books.clock.monotonicMs()) === null ? book : null;
  };
}

/** The books of a venue that can have one of this token: the venue has none of a resolved market. */
export function getBooks(
  tokenId: TokenId,
  { state: { directory }, books }: PriceSources,
): OrderBooks | null {
  const isOpen = pairPrice(tokenId, directory)?.source !== "settlement";
  return isOpen && directory.isKnownToken(tokenId) ? books : null;
}

/**
 * The price of a token as clients see it, at the newest block; `null` for an unknown token. `tokenIds` are the tokens of
 * its outcome whose trades count: its own, and that of the other ledger if requested.
 */
export function toPriceRow(
  tokenId: TokenId,
  sources: PriceSources,
  tokenIds: readonly TokenId[] = [tokenId],
): PriceRow | null {
  const { state } = sources;
  if (!state.directory.isKnownToken(tokenId)) return null;
  const now = joinedPrice(tokenIds, state.directory);
  const settlement = now?.source === "settlement" ? now.price : null;
  return {
    token_id: formatTokenId(tokenId),
    price: wire.decimalOrNull(now?.price ?? null),
    price_source: now?.source ?? null,
    last_trade: toLastTradeRow(tokenIds, state),
    ...toBookTopRow(bookReader(tokenId, sources)()),
    stats_24h: toStatsRow(tokenIds, state),
    complement: toComplementRow(tokenIds, state, now),
    resolved: settlement !== null,
    settlement_price: wire.decimalOrNull(settlement),
    ...wire.timeFields(state.dayWindow.now),
  };
}

/** The newest trade, with the price and side of the requested outcome. */
function toLastTradeRow(
  tokenIds: readonly TokenId[],
  { directory }: MarketState,
): PriceRow["last_trade"] {
  const newest = joinedNewestTrade(tokenIds, directory);
  if (newest === null) return null;
  const { trade, isOwn } = newest;
  return {
    price: formatMicros(isOwn ? trade.price : invertPrice(trade.price)),
    size: formatMicros(trade.size),
    side: isOwn ? trade.side : invertSide(trade.side),
    seq: trade.seq,
    ...wire.timeFields(trade.timestamp),
    tx_hash: trade.txHash,
  };
}

/** The best prices of a book; `mid` and `spread` need both sides. */
export function toBookTopRow(
  book: LiveBook | null,
): Pick<PriceRow, "best_bid" | "best_ask" | "mid" | "spread"> {
  const bid = book?.bids.best ?? null;
  const ask = book?.asks.best ?? null;
  const isTwoSided = bid !== null && ask !== null;
  return {
    best_bid: bid === null ? null : formatSafeMicros(bid),
    best_ask: ask === null ? null : formatSafeMicros(ask),
    mid: isTwoSided ? formatMicros(divideHalfEven(BigInt(bid + ask), 2n)) : null,
    spread: isTwoSided ? formatMicros(BigInt(ask - bid)) : null,
  };
}

function toStatsRow(tokenIds: readonly TokenId[], state: MarketState): PriceRow["stats_24h"] {
  const { now } = state.dayWindow;
  const day = joinedDayCandle(tokenIds, state);
  const priceBefore = joinedPriceBeforeDay(tokenIds, state);
  const open = priceBefore ?? day?.open.price ?? null;
  const close = day?.close.price ?? priceBefore;
  const change = open === null || close === null ? null : close - open;
  const highest = day?.high ?? priceBefore;
  const lowest = day?.low ?? priceBefore;
  const buy = day?.buyVolumeUsd ?? 0n;
  const sell = day?.sellVolumeUsd ?? 0n;
  return {
    open: wire.decimalOrNull(open),
    high: wire.decimalOrNull(highest),
    low: wire.decimalOrNull(lowest),
    close: wire.decimalOrNull(close),
    change: wire.decimalOrNull(change),
    change_pct: wire.decimalOrNull(toPercent(change, open)),
    volume_usd: formatMicros(buy + sell),
    volume_shares: formatMicros(day?.volume ?? 0n),
    buy_volume_usd: formatMicros(buy),
    sell_volume_usd: formatMicros(sell),
    trades: day?.trades ?? 0,
    vwap: wire.decimalOrNull(day === null ? null : averagePrice(day)),
    window_start_ms: (now - dayWindowSeconds) * 1000,
    window_end_ms: now * 1000,
  };
}

/** `change` in percent of `open`, with 6 decimals; `null` when either is unknown or `open` is 0. */
function toPercent(change: bigint | null, open: bigint | null): bigint | null {
  if (change === null || open === null || open === 0n) return null;
  const percent = divideHalfEven(change * 100_000_000n, open < 0n ? -open : open);
  return open < 0n ? -percent : percent;
}

function toComplementRow(
  tokenIds: readonly TokenId[],
  { directory }: MarketState,
  now: TokenPrice | null,
): PriceRow["complement"] {
  const complements = tokenIds.flatMap((id) => directory.getComplement(id) ?? []);
  const [complement] = complements;
  if (complement === undefined) return null;
  return {
    token_id: formatTokenId(complement),
    outcome: directory.getOutcome(complement),
    price: wire.decimalOrNull(now === null ? null : invertPrice(now.price)),
    price_source: joinedPrice(complements, directory)?.source ?? null,
  };
}
