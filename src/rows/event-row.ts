import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { Market } from "../market/market.ts";
import {
  eventSummary,
  type MarketTrading,
  marketRow,
  type TradeSums,
  toSumFields,
  toTokenRows,
} from "./market-row.ts";
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
  outcome_label: wire.nullableText,
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
  price_sum: wire.nullableDecimal,
  metadata_source,
});
export type EventRow = Static<typeof eventRow>;

/** The markets of an event, at least one, oldest first, and what their trades say. */
export type EventFacts = {
  readonly key: string;
  readonly markets: readonly { readonly market: Market; readonly trading: MarketTrading }[];
  readonly sums: TradeSums;
  /** The sum of the prices of "yes" over the questions of a neg-risk event, in micros; `null` without one. */
  readonly priceSum: bigint | null;
};

/** An event as clients see it, built from its markets. The first market with a value gives it. */
export function toEventRow({ key, markets: members, sums, priceSum }: EventFacts): EventRow {
  const markets = members.map(({ market }) => market);
  const {
    volume_shares: _,
    volume_usd: volume,
    volume_24h_usd: dayVolume,
    ...rest
  } = toSumFields(sums);
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
    markets: members.map(toEventMarketRow),
    volume_usd: volume,
    volume_24h_usd: dayVolume,
    ...rest,
    price_sum: wire.decimalOrNull(priceSum),
    metadata_source: getFirst((market) => market.metadataSource) ?? "none",
  };
}

function toEventMarketRow({
  market,
  trading,
}: EventFacts["markets"][number]): Static<typeof eventMarketShape> {
  return {
    id: wire.formatConditionId(market.conditionId),
    question: market.question,
    slug: market.venue?.slug ?? null,
    outcome_label: market.venue?.outcomeLabel ?? null,
    status: market.resolution === null ? "open" : "resolved",
    tokens: toTokenRows(market, trading.prices),
    volume_usd: formatMicros(trading.sums.volumeUsd),
    volume_24h_usd: formatMicros(trading.sums.dayVolumeUsd),
  };
}
