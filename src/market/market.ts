import { microsPerUnit, priceMicros } from "../base/decimal.ts";
import type { Address, ConditionId, Hash, Seq, TokenId } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import type { LocatedEvent } from "./block-facts.ts";
import type { Tick } from "./candle.ts";
import type { Trade } from "./fill.ts";
import type { VenueMetadata } from "./venue-metadata.ts";

/** The token of one outcome of a market. `outcome` is its label; `null` while no text defines it. */
export type MarketToken = {
  readonly tokenId: TokenId;
  readonly outcomeIndex: number;
  readonly outcome: string | null;
};

/** A token and what is known of it: everything else is `null` until a condition has the token. */
export type TokenFacts = {
  readonly tokenId: TokenId;
  readonly complement: TokenId | null;
  readonly conditionId: ConditionId | null;
  readonly outcomeIndex: number | null;
  readonly outcome: string | null;
  readonly market: Market | null;
};

/** How a condition ended. The payout of outcome i is `numerators[i]` over their sum. */
export type Resolution = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash | null;
  readonly oracle: Address;
  readonly numerators: readonly bigint[];
  /** Whether the result is not logged but follows from a sibling's. The position is then that of the sibling's log. */
  readonly derived: boolean;
  readonly seq: Seq;
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
};

/**
 * The source of a market's text: the chain, by a known creator; the chain, by anyone else; the
 * venue's market metadata; or none yet.
 */
export type MetadataSource = "chain" | "chain_untrusted" | "venue" | "none";

/** A market as it is known now: a condition with all texts about it. */
export type Market = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash | null;
  readonly oracle: Address | null;
  readonly outcomeCount: number;
  /** Empty for conditions with more than 2 outcomes: their tokens have not been traded. */
  readonly tokens: readonly MarketToken[];
  readonly question: string | null;
  readonly description: string | null;
  readonly metadataSource: MetadataSource;
  /** The venue's id of the market's event, from the chain if it has one, else from the venue. */
  readonly eventId: string | null;
  /** The title of the event, from the chain if it has one, else from the venue. */
  readonly eventTitle: string | null;
  readonly negRisk: boolean;
  readonly negRiskMarketId: Hash | null;
  /** The exchange generations that registered or traded it, in ascending order. */
  readonly exchangeVersions: readonly number[];
  /** When the condition was prepared: Unix seconds and block number. Without a log, the venue's time and `null`. */
  readonly createdAt: number;
  readonly createdBlock: number | null;
  /** The first result, of the condition or of its mirror. */
  readonly resolution: Resolution | null;
  /** The venue's market metadata; `null` when it was not requested or the venue does not know the market. */
  readonly venue: VenueMetadata | null;
  readonly mirror: Mirror | null;
  /** The event of generation 3 that mirrors its neg-risk event; `null` for other events. */
  readonly mirrorEventId: Hash | null;
};

/** The same question as a condition of generation 3, with its own pair of tokens. */
export type Mirror = {
  readonly conditionId: ConditionId;
  readonly tokens: readonly MarketToken[];
  /** When it was first seen: Unix seconds. */
  readonly createdAt: number;
  /** The block in which it was registered; `null` without such a log. */
  readonly registeredBlock: number | null;
  readonly resolution: Resolution | null;
};

/** Returns the tokens of a market and of its mirror. */
export function getAllTokens({
  tokens,
  mirror,
}: Pick<Market, "tokens" | "mirror">): Market["tokens"] {
  return mirror === null ? tokens : [...tokens, ...mirror.tokens];
}

/** Returns the event of a market: the neg-risk event on the chain, else the venue's; `null` when it has none. */
export function getEventKey({
  negRiskMarketId,
  eventId,
}: Pick<Market, "negRiskMarketId" | "eventId">): string | null {
  return negRiskMarketId ?? eventId;
}

/** The trade that set the newest price of a token, with the fields that `/v1/price` returns. */
export type LastTrade = Tick & Pick<Trade, "timestamp" | "side" | "size" | "value" | "txHash">;

/** The totals of a token's own trades since the start of coverage. Amounts are micros, times Unix seconds. */
export type TokenTotals = {
  readonly trades: number;
  readonly volumeUsd: bigint;
  readonly volumeShares: bigint;
  /** The newest trade with a price; `null` while there is none. */
  readonly lastTrade: LastTrade | null;
  /** The times of the first and last trade, priced or not; 0 without a trade. */
  readonly firstTimestamp: number;
  readonly lastTimestamp: number;
  /** The minute of the first trade with a price, where candles begin; `null` while there is none. */
  readonly firstMinute: number | null;
  /** The exchange generations that traded it, as a bit set: bit `generation - 1` each. */
  readonly generations: number;
};

/** Returns the bit of a generation in a bit set. */
export function generationBit(generation: Generation): number {
  return 1 << (generation - 1);
}

/** Returns the generations of a bit set, in ascending order. */
export function getGenerations(bits: number): Generation[] {
  return ([1, 2, 3] as const).filter((generation) => (bits & generationBit(generation)) !== 0);
}

/** Adds the price to a trade; `null` when the trade has none. */
export function getLastTrade(trade: Omit<LastTrade, "price">): LastTrade | null {
  const { seq, timestamp, side, size, value, txHash } = trade;
  const price = priceMicros(value, size);
  return price === null ? null : { seq, price, timestamp, side, size, value, txHash };
}

/** Returns the resolution that an event reports; `null` for events of other kinds. */
export function getResolution(located: LocatedEvent): Resolution | null {
  const { event, seq, timestamp, blockHash, txHash } = located;
  if (event.kind !== "condition_resolved") return null;
  const { conditionId, questionId, oracle, payouts } = event;
  const location = { seq, timestamp, blockHash, txHash };
  return { conditionId, questionId, oracle, numerators: payouts, derived: false, ...location };
}

/**
 * Returns the payouts in micros per share, which add up to exactly 1. They are rounded down, and the remainder goes to
 * those that lose most by rounding. For two outcomes that equals rounding half to even, as prices are rounded.
 */
export function payoutsMicros({ numerators }: Pick<Resolution, "numerators">): readonly bigint[] {
  const sum = sumAll(numerators);
  const shares = numerators.map((numerator, index) => ({
    index,
    payout: (numerator * microsPerUnit) / sum,
    rest: (numerator * microsPerUnit) % sum,
  }));
  const remainder = Number(microsPerUnit - sumAll(shares.map(({ payout }) => payout)));
  const raised = new Set(
    shares
      .toSorted((a, b) => Number(b.rest - a.rest) || Number((b.payout & 1n) - (a.payout & 1n)))
      .slice(0, remainder)
      .map(({ index }) => index),
  );
  return shares.map(({ index, payout }) => (raised.has(index) ? payout + 1n : payout));
}

/** Returns the index of the winning outcome; `null` unless exactly one payout is 1 (`docs/counting.md`, rule 10). */
export function winningOutcomeIndex(resolution: Resolution): number | null {
  const winners = resolution.numerators.flatMap((numerator, index) =>
    numerator > 0n ? [index] : [],
  );
  return winners.length === 1 ? (winners[0] ?? null) : null;
}

function sumAll(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}
