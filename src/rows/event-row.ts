import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import { getAllTokens, type Market } from "../market/market.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import { joinedPrice } from "../views/prices/token-price.ts";
import { eventSummary, getSums, marketRow, toTokenRows } from "./market-row.ts";
import * as wire from "./wire-format.ts";

const { id, question, slug, status, tokens, volume_usd, volume_24h_usd, trades, trades_24h } =
  marketRow.properties;
const { category, tags, neg_risk, neg_risk_market_id, metadata_source } = marketRow.properties;
const { created_at, created_at_ms, end_date, last_trade_at, last_trade_at_ms } =
  marketRow.properties;

const { id: eventId, title } = eventSummary.properties;

const eventMarketShape = Type.Object({
  id,
  question,
  slug,
  outcome_label: wire.nullable(Type.String()),
  status,
  tokens,
  volume_usd,
  volume_24h_usd,
});

/** An event: the markets of one neg-risk event on the chain, or of one event of the venue. */
export const eventRow = Type.Object({
  id: eventId,
  event_id: marketRow.properties.event_id,
  title,
  slug: marketRow.properties.event_slug,
  category,
  tags,
  neg_risk,
  neg_risk_market_id,
  status,
  created_at,
  created_at_ms,
  end_date,
  market_count: Type.Integer({ minimum: 1, description: "Markets of the event", examples: [4] }),
  markets: Type.Array(eventMarketShape, { description: "Oldest first" }),
  volume_usd,
  volume_24h_usd,
  trades,
  trades_24h,
  last_trade_at,
  last_trade_at_ms,
  price_sum: wire.nullable(wire.decimalText),
  metadata_source,
});
export type EventRow = Static<typeof eventRow>;

/** An event as clients see it, built from its markets, of which there must be one. */
export function toEventRow(
  key: string,
  unordered: readonly Market[],
  state: MarketState,
): EventRow {
  // The first market with a value gives it. Each process learns of the markets in another order.
  const markets = unordered.toSorted(
    (a, b) => a.createdAt - b.createdAt || (a.conditionId < b.conditionId ? -1 : 1),
  );
  const sums = getSums(markets.flatMap(getAllTokens), state);
  const getFirst = <Value>(read: (market: Market) => Value | null | undefined) =>
    markets.map(read).find((value) => value !== null && value !== undefined) ?? null;
  const createdAt = Math.min(...markets.map((market) => market.createdAt));
  const endMs = Math.max(0, ...markets.map(({ venue }) => venue?.endMs ?? 0));
  return {
    id: key,
    event_id: getFirst((market) => market.eventId),
    title: getFirst((market) => market.eventTitle),
    slug: getFirst((market) => market.venue?.eventSlug),
    category: getFirst((market) => market.venue?.category),
    tags: [...new Set(markets.flatMap((market) => market.venue?.tags ?? []))],
    neg_risk: markets.some((market) => market.negRisk),
    neg_risk_market_id: getFirst((market) => market.negRiskMarketId),
    status: markets.every((market) => market.resolution !== null) ? "resolved" : "open",
    created_at: wire.formatTime(createdAt),
    created_at_ms: createdAt * 1000,
    end_date: endMs === 0 ? null : wire.formatTime(endMs / 1000),
    market_count: markets.length,
    markets: markets.map((market) => toEventMarketRow(market, state)),
    volume_usd: formatMicros(sums.volumeUsd),
    volume_24h_usd: formatMicros(sums.dayVolumeUsd),
    trades: sums.trades,
    trades_24h: sums.dayTrades,
    last_trade_at: sums.lastTimestamp === 0 ? null : wire.formatTime(sums.lastTimestamp),
    last_trade_at_ms: sums.lastTimestamp === 0 ? null : sums.lastTimestamp * 1000,
    price_sum: getPriceSum(markets, state),
    metadata_source: getFirst((market) => market.metadataSource) ?? "none",
  };
}

function toEventMarketRow(market: Market, state: MarketState): Static<typeof eventMarketShape> {
  const sums = getSums(getAllTokens(market), state);
  return {
    id: wire.formatConditionId(market.conditionId),
    question: market.question,
    slug: market.venue?.slug ?? null,
    outcome_label: market.venue?.outcomeLabel ?? null,
    status: market.resolution === null ? "open" : "resolved",
    tokens: toTokenRows(market, state),
    volume_usd: formatMicros(sums.volumeUsd),
    volume_24h_usd: formatMicros(sums.dayVolumeUsd),
  };
}

function getPriceSum(markets: readonly Market[], { directory }: MarketState): string | null {
  if (!markets.some((market) => market.negRisk)) return null;
  // The price of a question is the newest one on either ledger.
  const prices = markets.flatMap((market) => {
    const tokenIds = getAllTokens(market).filter(({ outcomeIndex }) => outcomeIndex === 0);
    return (
      joinedPrice(
        tokenIds.map(({ tokenId }) => tokenId),
        directory,
      )?.price ?? []
    );
  });
  return wire.decimalOrNull(
    prices.length === 0 ? null : prices.reduce((sum, price) => sum + price, 0n),
  );
}
