import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, formatSafeMicros } from "../base/decimal.ts";
import { formatTokenId, type Seq, type TokenId } from "../base/ids.ts";
import { averagePrice, type Candle } from "../market/candle.ts";
import { invertPrice, invertSide } from "../market/invert.ts";
import type { LastTrade } from "../market/market.ts";
import type { LiveBook } from "../venue/books/live-book.ts";
import * as wire from "./wire-format.ts";

const sourceText = Type.Enum(["last_trade", "complement", "settlement"]);
const sourceNullable = wire.nullable(sourceText);

const lastTradeRow = Type.Object({
  price: wire.decimalText,
  size: wire.decimalText,
  side: wire.sideText,
  seq: wire.seqNumber,
  ...wire.timeShape,
  tx_hash: wire.hashText,
});

const dayStatsRow = Type.Object({
  open: wire.nullableDecimal,
  high: wire.nullableDecimal,
  low: wire.nullableDecimal,
  close: wire.nullableDecimal,
  change: wire.nullableDecimal,
  change_pct: wire.nullableDecimal,
  volume_usd: wire.decimalText,
  volume_shares: wire.decimalText,
  buy_volume_usd: wire.decimalText,
  sell_volume_usd: wire.decimalText,
  trades: Type.Integer(),
  vwap: wire.nullableDecimal,
  window_start_ms: wire.millisecondsNumber,
  window_end_ms: wire.millisecondsNumber,
});

/** The current price of a token, and statistics of its last 24 hours of chain time. */
export const priceRow = Type.Object({
  token_id: wire.tokenIdText,
  price: wire.nullableDecimal,
  price_source: sourceNullable,
  last_trade: wire.nullable(lastTradeRow),
  best_bid: wire.nullableDecimal,
  best_ask: wire.nullableDecimal,
  mid: wire.nullableDecimal,
  spread: wire.nullableDecimal,
  stats_24h: dayStatsRow,
  complement: wire.nullable(
    Type.Object({
      token_id: wire.tokenIdText,
      outcome: wire.nullableText,
      price: wire.nullableDecimal,
      price_source: sourceNullable,
    }),
  ),
  resolved: Type.Boolean(),
  settlement_price: wire.nullableDecimal,
  ...wire.timeShape,
});
export type PriceRow = Static<typeof priceRow>;

/** What a price row is made of. Prices in micros, times in Unix seconds. */
export type PriceFacts = {
  readonly tokenId: TokenId;
  readonly price: Priced | null;
  /** The newest trade of the pair, and whether it is of this outcome. */
  readonly lastTrade: { readonly trade: LastTrade; readonly isOwn: boolean } | null;
  readonly book: LiveBook | null;
  readonly day: DayFacts;
  readonly complement: {
    readonly tokenId: TokenId;
    readonly outcome: string | null;
    readonly source: Priced["source"] | null;
  } | null;
};

/** Prices of the last 24 hours of chain time, which end at `now`. */
type DayFacts = {
  readonly from: number;
  readonly now: number;
  readonly candle: Candle | null;
  readonly priceBefore: bigint | null;
};

type Priced = {
  readonly price: bigint;
  readonly source: "last_trade" | "complement" | "settlement";
};

/** The price of a token as clients see it. */
export function toPriceRow({ book, day, ...facts }: PriceFacts): PriceRow {
  return {
    ...toPriceFields(facts),
    ...toBookTopRow(book),
    stats_24h: toStatsRow(day),
    ...wire.timeFields(day.now),
  };
}

function toPriceFields({
  tokenId,
  price,
  lastTrade,
  complement,
}: Omit<PriceFacts, "book" | "day">): Omit<PastPriceRow, "as_of"> {
  const settlement = price?.source === "settlement" ? price.price : null;
  return {
    token_id: formatTokenId(tokenId),
    price: wire.decimalOrNull(price?.price ?? null),
    price_source: price?.source ?? null,
    last_trade: lastTrade && toLastTradeRow(lastTrade),
    complement: complement && {
      token_id: formatTokenId(complement.tokenId),
      outcome: complement.outcome,
      price: wire.decimalOrNull(price === null ? null : invertPrice(price.price)),
      price_source: complement.source,
    },
    resolved: settlement !== null,
    settlement_price: wire.decimalOrNull(settlement),
  };
}

function toLastTradeRow({
  trade,
  isOwn,
}: NonNullable<PriceFacts["lastTrade"]>): PriceRow["last_trade"] {
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

function toStatsRow({ from, now, candle, priceBefore }: DayFacts): PriceRow["stats_24h"] {
  const open = priceBefore ?? candle?.open.price ?? null;
  const close = candle?.close.price ?? priceBefore;
  const change = open === null || close === null ? null : close - open;
  const highest = candle?.high ?? priceBefore;
  const lowest = candle?.low ?? priceBefore;
  const buy = candle?.buyVolumeUsd ?? 0n;
  const sell = candle?.sellVolumeUsd ?? 0n;
  return {
    open: wire.decimalOrNull(open),
    high: wire.decimalOrNull(highest),
    low: wire.decimalOrNull(lowest),
    close: wire.decimalOrNull(close),
    change: wire.decimalOrNull(change),
    change_pct: wire.decimalOrNull(toPercent(change, open)),
    volume_usd: formatMicros(buy + sell),
    volume_shares: formatMicros(candle?.volume ?? 0n),
    buy_volume_usd: formatMicros(buy),
    sell_volume_usd: formatMicros(sell),
    trades: candle?.trades ?? 0,
    vwap: wire.decimalOrNull(candle === null ? null : averagePrice(candle)),
    window_start_ms: from * 1000,
    window_end_ms: now * 1000,
  };
}

/** `change` in percent of `open`, with 6 decimals; `null` when either is unknown or `open` is 0. */
function toPercent(change: bigint | null, open: bigint | null): bigint | null {
  if (change === null || open === null || open === 0n) return null;
  const percent = divideHalfEven(change * 100_000_000n, open < 0n ? -open : open);
  return open < 0n ? -percent : percent;
}

const { token_id, price, price_source, last_trade, complement, resolved, settlement_price } =
  priceRow.properties;

/** The price of a token as it was at an earlier position. */
export const pastPriceRow = Type.Object({
  token_id,
  price,
  price_source,
  last_trade,
  complement,
  resolved,
  settlement_price,
  as_of: wire.nullable(
    Type.Object({
      seq: wire.seqNumber,
      ...wire.timeShape,
    }),
  ),
});
export type PastPriceRow = Static<typeof pastPriceRow>;

/** What a row of a past price is made of. */
export type PastPriceFacts = Omit<PriceFacts, "book" | "day"> & {
  /** The position of the trade or result that set the price; `null` without one. */
  readonly setAt: { readonly seq: Seq; readonly timestamp: number } | null;
};

/** A past price as clients see it. */
export function toPastPriceRow({ setAt, ...facts }: PastPriceFacts): PastPriceRow {
  const as_of = setAt && { seq: setAt.seq, ...wire.timeFields(setAt.timestamp) };
  return { ...toPriceFields(facts), as_of };
}
