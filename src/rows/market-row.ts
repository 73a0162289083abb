import { type Static, Type } from "typebox";
import { formatMicros, microsPerUnit } from "../base/decimal.ts";
import { formatTokenId, toBlockNumber } from "../base/ids.ts";
import type { Fraction } from "../market/ledger/valued-position.ts";
import {
  getEventKey,
  type Market,
  type Mirror,
  payoutsMicros,
  type Resolution,
  type TokenFacts,
  winningOutcomeIndex,
} from "../market/market.ts";
import * as wire from "./wire-format.ts";

const marketTokenShape = Type.Object({
  token_id: wire.tokenIdText,
  outcome: wire.nullableText,
  outcome_index: Type.Integer(),
  complement_token_id: wire.nullable(wire.tokenIdText),
  price: wire.nullableDecimal,
  winner: wire.nullable(Type.Boolean(), {
    description: "null until resolved, and when no single outcome takes all",
  }),
});

const resolutionShape = Type.Object({
  payouts: Type.Array(wire.decimalText),
  winning_token_id: wire.nullable(wire.tokenIdText),
  winning_outcome: wire.nullableText,
  tx_hash: wire.hashText,
  block_number: Type.Integer(),
  seq: wire.seqNumber,
});

const mirrorShape = Type.Object({
  condition_id: wire.conditionIdText,
  tokens: Type.Array(
    Type.Object({
      token_id: wire.tokenIdText,
      outcome: wire.nullableText,
      outcome_index: Type.Integer(),
      price: wire.nullableDecimal,
    }),
  ),
  created_at: wire.timeText,
  created_at_ms: wire.millisecondsNumber,
  registered_block: wire.nullable(Type.Integer()),
  resolution: wire.nullable(resolutionShape),
});

const legShape = Type.Object({
  token_id: wire.tokenIdText,
  condition_id: wire.nullable(wire.conditionIdText),
  question: wire.nullableText,
  outcome: wire.nullableText,
  payout: wire.nullableDecimal,
});

/** The summary of a market's event. */
export const eventSummary = Type.Object(
  {
    id: Type.String({
      description:
        "The neg_risk_market_id of a neg-risk event, else the id that the venue gave the event",
      examples: ["903193"],
    }),
    title: wire.nullableText,
    slug: wire.nullableText,
  },
  { description: "Id, title and slug of the event of the market" },
);

/** A market: a condition with everything the chain and the venue say about it. */
export const marketRow = Type.Object({
  id: wire.conditionIdText,
  question_id: wire.nullable(wire.hashText),
  question: wire.nullableText,
  description: wire.nullableText,
  slug: wire.nullableText,
  category: wire.nullableText,
  tags: Type.Array(Type.String()),
  event_id: wire.nullableText,
  event_slug: wire.nullableText,
  image: wire.nullableText,
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
  start_date: wire.nullableTime,
  end_date: wire.nullableTime,
  resolved_at: wire.nullableTime,
  resolved_at_ms: wire.nullableMilliseconds,
  resolution: wire.nullable(resolutionShape),
  tokens: Type.Array(marketTokenShape),
  mirror: wire.nullable(mirrorShape),
  legs: wire.nullable(Type.Array(legShape)),
  legs_payout: wire.nullableDecimal,
  volume_usd: wire.decimalText,
  volume_shares: wire.decimalText,
  trades: Type.Integer(),
  volume_24h_usd: wire.decimalText,
  trades_24h: Type.Integer(),
  last_trade_at: wire.nullableTime,
  last_trade_at_ms: wire.nullableMilliseconds,
  change_24h: wire.nullableDecimal,
  liquidity_usd: wire.nullableDecimal,
  open_interest_usd: wire.nullableDecimal,
  metadata_source: Type.Enum(["chain", "chain_untrusted", "venue", "none"]),
  event: Type.Optional(wire.nullable(eventSummary)),
});
export type MarketRow = Static<typeof marketRow>;

/** Prices of outcomes by their index, in micros; `null` without one. */
type OutcomePrices = readonly (bigint | null)[];

/** What a market or an event was traded, on all of its ledgers. Micros and Unix seconds; 0 without a trade. */
export type TradeSums = {
  readonly volumeUsd: bigint;
  readonly volumeShares: bigint;
  readonly trades: number;
  readonly dayVolumeUsd: bigint;
  readonly dayTrades: number;
  readonly lastTimestamp: number;
};

/** A leg of a combination: a token, and what it pays. */
type Leg = {
  readonly token: TokenFacts;
  /** `null` while the market of the token has no result. */
  readonly payout: Fraction | null;
};

/** What trades say about a market. */
export type MarketTrading = {
  readonly sums: TradeSums;
  readonly prices: OutcomePrices;
  /** Of the mirror, if there is one. */
  readonly mirrorPrices: OutcomePrices;
  /** Of the price of the first outcome, on both ledgers, in micros; `null` without a price. */
  readonly dayChange: bigint | null;
  /** In micros; `null` for a resolved market, and when the venue reports none. */
  readonly liquidityUsd: bigint | null;
  /** In micros; `null` where `open_interest_usd` is. */
  readonly openInterest: bigint | null;
  /** Of a combination; otherwise `null`. */
  readonly legs: readonly Leg[] | null;
};

/** A market as clients see it. */
export function toMarketRow(market: Market, trading: MarketTrading): MarketRow {
  const { resolution, venue } = market;
  const { startMs = null, endMs = null } = venue ?? {};
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
    tokens: toTokenRows(market, trading.prices),
    mirror: market.mirror && toMirrorRow(market.mirror, trading.mirrorPrices),
    legs: trading.legs?.map(toLegRow) ?? null,
    legs_payout: trading.legs && formatMicros(toMicros(multiplyPayouts(trading.legs))),
    ...toSumFields(trading.sums),
    change_24h: wire.decimalOrNull(trading.dayChange),
    liquidity_usd: wire.decimalOrNull(trading.liquidityUsd),
    open_interest_usd: wire.decimalOrNull(trading.openInterest),
    metadata_source: market.metadataSource,
  };
}

function toLegRow({ token, payout }: Leg): Static<typeof legShape> {
  return {
    token_id: formatTokenId(token.tokenId),
    condition_id: token.conditionId && wire.formatConditionId(token.conditionId),
    question: token.market?.question ?? null,
    outcome: token.outcome,
    payout: payout && formatMicros(toMicros(payout)),
  };
}

/** What the Yes of a combination can still pay: the product of the payouts of its legs that have a result. */
function multiplyPayouts(legs: readonly Leg[]): Fraction {
  return legs.reduce(
    (product, { payout }) => ({
      numerator: product.numerator * (payout?.numerator ?? 1n),
      denominator: product.denominator * (payout?.denominator ?? 1n),
    }),
    { numerator: 1n, denominator: 1n },
  );
}

function toMicros({ numerator, denominator }: Fraction): bigint {
  return (numerator * microsPerUnit) / denominator;
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

function toMirrorRow(mirror: Mirror, prices: OutcomePrices): MarketRow["mirror"] {
  const { resolution } = mirror;
  return {
    condition_id: wire.formatConditionId(mirror.conditionId),
    tokens: mirror.tokens.map(({ tokenId, outcome, outcomeIndex }) => ({
      token_id: formatTokenId(tokenId),
      outcome,
      outcome_index: outcomeIndex,
      price: wire.decimalOrNull(prices[outcomeIndex] ?? null),
    })),
    created_at: wire.formatTime(mirror.createdAt),
    created_at_ms: mirror.createdAt * 1000,
    registered_block: mirror.registeredBlock,
    resolution: resolution === null ? null : toResolutionRow(mirror, resolution),
  };
}

/** Outcomes with their prices. */
export function toTokenRows(market: Market, prices: OutcomePrices): MarketRow["tokens"] {
  const { resolution, tokens } = market;
  const winner = resolution === null ? null : winningOutcomeIndex(resolution);
  return tokens.map(({ tokenId, outcome, outcomeIndex }) => {
    const complement = tokens.length === 2 ? tokens[1 - outcomeIndex] : undefined;
    return {
      token_id: formatTokenId(tokenId),
      outcome,
      outcome_index: outcomeIndex,
      complement_token_id: complement === undefined ? null : formatTokenId(complement.tokenId),
      price: wire.decimalOrNull(prices[outcomeIndex] ?? null),
      winner: winner === null ? null : winner === outcomeIndex,
    };
  });
}

/** Volumes and trades of a market or an event. */
export function toSumFields(
  sums: TradeSums,
): Pick<
  MarketRow,
  | "volume_usd"
  | "volume_shares"
  | "trades"
  | "volume_24h_usd"
  | "trades_24h"
  | "last_trade_at"
  | "last_trade_at_ms"
> {
  const { lastTimestamp } = sums;
  return {
    volume_usd: formatMicros(sums.volumeUsd),
    volume_shares: formatMicros(sums.volumeShares),
    trades: sums.trades,
    volume_24h_usd: formatMicros(sums.dayVolumeUsd),
    trades_24h: sums.dayTrades,
    last_trade_at: lastTimestamp === 0 ? null : wire.formatTime(lastTimestamp),
    last_trade_at_ms: lastTimestamp === 0 ? null : lastTimestamp * 1000,
  };
}
