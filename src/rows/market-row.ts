import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import { formatTokenId, toBlockNumber } from "../base/ids.ts";
import {
  getAllTokens,
  getEventKey,
  type Market,
  type Mirror,
  payoutsMicros,
  type Resolution,
  winningOutcomeIndex,
} from "../market/market.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import { outcomePrice } from "../views/prices/token-price.ts";
import * as wire from "./wire-format.ts";

const textOrNull = wire.nullable(Type.String());
const timeOrNull = wire.nullable(wire.timeText);
const millisecondsOrNull = wire.nullable(wire.millisecondsNumber);

const marketTokenShape = Type.Object({
  token_id: wire.tokenIdText,
  outcome: textOrNull,
  outcome_index: Type.Integer(),
  complement_token_id: wire.nullable(wire.tokenIdText),
  price: wire.nullable(wire.decimalText),
  winner: wire.nullable(Type.Boolean(), {
    description: "null until resolved, and when no single outcome takes all",
  }),
});

const resolutionShape = Type.Object({
  payouts: Type.Array(wire.decimalText),
  winning_token_id: wire.nullable(wire.tokenIdText),
  winning_outcome: textOrNull,
  tx_hash: wire.hashText,
  block_number: Type.Integer(),
  seq: wire.seqNumber,
});

const mirrorShape = Type.Object({
  condition_id: wire.conditionIdText,
  tokens: Type.Array(
    Type.Object({
      token_id: wire.tokenIdText,
      outcome: textOrNull,
      outcome_index: Type.Integer(),
      price: wire.nullable(wire.decimalText),
    }),
  ),
  created_at: wire.timeText,
  created_at_ms: wire.millisecondsNumber,
  registered_block: wire.nullable(Type.Integer()),
  resolution: wire.nullable(resolutionShape),
});

/** The summary of a market's event. */
export const eventSummary = Type.Object(
  {
    id: Type.String({
      description:
        "The neg_risk_market_id of a neg-risk event, else the id that the venue gave the event",
      examples: ["903193"],
    }),
    title: textOrNull,
    slug: textOrNull,
  },
  { description: "Id, title and slug of the event of the market" },
);

/** A market: a condition with everything the chain and the venue say about it. */
export const marketRow = Type.Object({
  id: wire.conditionIdText,
  question_id: wire.nullable(wire.hashText),
  question: textOrNull,
  description: textOrNull,
  slug: textOrNull,
  category: textOrNull,
  tags: Type.Array(Type.String()),
  event_id: textOrNull,
  event_slug: textOrNull,
  image: textOrNull,
  neg_risk: Type.Boolean(),
  neg_risk_market_id: wire.nullable(wire.hashText),
  oracle: wire.nullable(wire.addressText),
  exchange_versions: Type.Array(wire.exchangeVersionNumber),
  status: Type.Enum(["open", "resolved"], {
    description: "resolved once the oracle has reported the result",
  }),
  active: Type.Boolean(),
  outcome_count: Type.Integer(),
  created_at: wire.timeText,
  created_at_ms: wire.millisecondsNumber,
  created_block: wire.nullable(Type.Integer()),
  start_date: timeOrNull,
  end_date: timeOrNull,
  resolved_at: timeOrNull,
  resolved_at_ms: millisecondsOrNull,
  resolution: wire.nullable(resolutionShape),
  tokens: Type.Array(marketTokenShape),
  mirror: wire.nullable(mirrorShape),
  volume_usd: wire.decimalText,
  volume_shares: wire.decimalText,
  trades: Type.Integer(),
  volume_24h_usd: wire.decimalText,
  trades_24h: Type.Integer(),
  last_trade_at: timeOrNull,
  last_trade_at_ms: millisecondsOrNull,
  metadata_source: Type.Enum(["chain", "chain_untrusted", "venue", "none"]),
  event: Type.Optional(wire.nullable(eventSummary)),
});
export type MarketRow = Static<typeof marketRow>;

/** A market as clients see it. */
export function toMarketRow(market: Market, state: MarketState): MarketRow {
  const { resolution, venue } = market;
  const { startMs = null, endMs = null } = venue ?? {};
  const sums = getSums(getAllTokens(market), state);
  return {
    id: wire.formatConditionId(market.conditionId),
    question_id: market.questionId,
    question: market.question,
    description: market.description,
    slug: venue?.slug ?? null,
    category: venue?.category ?? null,
    tags: [...(venue?.tags ?? [])],
    event_id: market.eventId,
    event_slug: venue?.eventSlug ?? null,
    image: venue?.image ?? null,
    neg_risk: market.negRisk,
    neg_risk_market_id: market.negRiskMarketId,
    oracle: market.oracle,
    exchange_versions: [...market.exchangeVersions] as MarketRow["exchange_versions"],
    status: resolution === null ? "open" : "resolved",
    active: resolution === null,
    outcome_count: market.outcomeCount,
    created_at: wire.formatTime(market.createdAt),
    created_at_ms: market.createdAt * 1000,
    created_block: market.createdBlock,
    start_date: startMs === null ? null : wire.formatTime(startMs / 1000),
    end_date: endMs === null ? null : wire.formatTime(endMs / 1000),
    resolved_at: resolution === null ? null : wire.formatTime(resolution.timestamp),
    resolved_at_ms: resolution === null ? null : resolution.timestamp * 1000,
    resolution: resolution === null ? null : toResolutionRow(market, resolution),
    tokens: toTokenRows(market, state),
    mirror: presentMirror(market.mirror, state),
    volume_usd: formatMicros(sums.volumeUsd),
    volume_shares: formatMicros(sums.volumeShares),
    trades: sums.trades,
    volume_24h_usd: formatMicros(sums.dayVolumeUsd),
    trades_24h: sums.dayTrades,
    last_trade_at: sums.lastTimestamp === 0 ? null : wire.formatTime(sums.lastTimestamp),
    last_trade_at_ms: sums.lastTimestamp === 0 ? null : sums.lastTimestamp * 1000,
    metadata_source: market.metadataSource,
  };
}

/** The summary of a market's event; `null` when the market has no event. */
export function toEventSummaryRow(market: Market): Static<typeof eventSummary> | null {
  const id = getEventKey(market);
  if (id === null) return null;
  return { id, title: market.eventTitle, slug: market.venue?.eventSlug ?? null };
}

/** Payouts as decimals, and the winner if exactly one outcome takes all. */
export function payoutFields(
  market: Pick<Market, "tokens">,
  resolution: Resolution,
): Pick<NonNullable<MarketRow["resolution"]>, "payouts" | "winning_token_id" | "winning_outcome"> {
  const winner = market.tokens[winningOutcomeIndex(resolution) ?? -1];
  return {
    payouts: payoutsMicros(resolution).map(formatMicros),
    winning_token_id: winner === undefined ? null : formatTokenId(winner.tokenId),
    winning_outcome: winner?.outcome ?? null,
  };
}

function toResolutionRow(
  market: Pick<Market, "tokens">,
  resolution: Resolution,
): NonNullable<MarketRow["resolution"]> {
  return {
    ...payoutFields(market, resolution),
    tx_hash: resolution.txHash,
    block_number: toBlockNumber(resolution.seq),
    seq: resolution.seq,
  };
}

function presentMirror(mirror: Mirror | null, { directory }: MarketState): MarketRow["mirror"] {
  if (mirror === null) return null;
  const { resolution } = mirror;
  return {
    condition_id: wire.formatConditionId(mirror.conditionId),
    tokens: mirror.tokens.map(({ tokenId, outcome, outcomeIndex }) => ({
      token_id: formatTokenId(tokenId),
      outcome,
      outcome_index: outcomeIndex,
      price: wire.decimalOrNull(outcomePrice(mirror, outcomeIndex, directory)?.price ?? null),
    })),
    created_at: wire.formatTime(mirror.createdAt),
    created_at_ms: mirror.createdAt * 1000,
    registered_block: mirror.registeredBlock,
    resolution: resolution === null ? null : toResolutionRow(mirror, resolution),
  };
}

/** Outcomes with their prices. */
export function toTokenRows(market: Market, { directory }: MarketState): MarketRow["tokens"] {
  const { resolution, tokens } = market;
  const winner = resolution === null ? null : winningOutcomeIndex(resolution);
  return tokens.map(({ tokenId, outcome, outcomeIndex }) => {
    const complement = tokens.length === 2 ? tokens[1 - outcomeIndex] : undefined;
    return {
      token_id: formatTokenId(tokenId),
      outcome,
      outcome_index: outcomeIndex,
      complement_token_id: complement === undefined ? null : formatTokenId(complement.tokenId),
      price: wire.decimalOrNull(outcomePrice(market, outcomeIndex, directory)?.price ?? null),
      winner: winner === null ? null : winner === outcomeIndex,
    };
  });
}

/** Sums volumes and trades over the tokens of a market or an event. Micros, unix seconds. */
export function getSums(tokens: Market["tokens"], { directory, dayWindow }: MarketState) {
  const sums = {
    volumeUsd: 0n,
    volumeShares: 0n,
    trades: 0,
    dayVolumeUsd: 0n,
    dayTrades: 0,
    lastTimestamp: 0,
  };
  for (const { tokenId } of tokens) {
    const totals = directory.getTotals(tokenId);
    const day = dayWindow.getVolume(tokenId);
    sums.volumeUsd += totals.volumeUsd;
    sums.volumeShares += totals.volumeShares;
    sums.trades += totals.trades;
    sums.dayVolumeUsd += day.volumeUsd;
    sums.dayTrades += day.trades;
    sums.lastTimestamp = Math.max(sums.lastTimestamp, totals.lastTimestamp);
  }
  return sums;
}
