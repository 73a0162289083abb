import { microsPerUnit } from "../base/decimal.ts";
import type { Address, ConditionId, Hash, Seq, TokenId } from "../base/ids.ts";
import type { LocatedEvent } from "./block-facts.ts";
import type { LastTrade } from "./last-trade.ts";
import type { VenueMetadata } from "./venue-metadata.ts";

/** One outcome of a market. `outcome` is its label, `null` while no text gives it. */
type MarketToken = {
  readonly tokenId: TokenId;
  readonly outcomeIndex: number;
  readonly outcome: string | null;
};

/** How a condition ended. The payout of outcome i is `numerators[i]` over their sum. */
export type Resolution = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash | null;
  readonly oracle: Address;
  readonly numerators: readonly bigint[];
  /** Follows from the result of a sibling, which is what the position names. */
  readonly derived: boolean;
  readonly seq: Seq;
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
};

/**
 * Where a market's text is from: the chain by a known creator, the chain by anyone else, the
 * venue's market metadata, or nowhere yet.
 */
export type MetadataSource = "chain" | "chain_untrusted" | "venue" | "none";

/** A market as it is known now: a condition, joined with every text about it. */
export type Market = {
  readonly conditionId: ConditionId;
  readonly questionId: Hash | null;
  readonly oracle: Address | null;
  readonly outcomeCount: number;
  /** Empty for conditions with more than 2 outcomes, whose tokens have not been traded. */
  readonly tokens: readonly MarketToken[];
  readonly question: string | null;
  readonly description: string | null;
  readonly metadataSource: MetadataSource;
  /** The venue's id of the event the market belongs to, by the chain or else by the venue. */
  readonly eventId: string | null;
  /** Of the event, by the chain or else by the venue. */
  readonly eventTitle: string | null;
  readonly negRisk: boolean;
  readonly negRiskMarketId: Hash | null;
  /** Exchange generations that registered or traded it, rising. */
  readonly exchangeVersions: readonly number[];
  /** Unix seconds and block of the condition's preparation. */
  readonly createdAt: number;
  readonly createdBlock: number;
  readonly resolution: Resolution | null;
  /** The venue's market metadata; `null` when it was not requested or the venue does not know the market. */
  readonly venue: VenueMetadata | null;
};

/** The event of a market: the neg-risk event on the chain, or else the venue's; `null` when it has none. */
export function eventKeyOf({
  negRiskMarketId,
  eventId,
}: Pick<Market, "negRiskMarketId" | "eventId">): string | null {
  return negRiskMarketId ?? eventId;
}

/** What a token's own trades add up to since the start of coverage. Micros, unix seconds. */
export type TokenTotals = {
  readonly trades: number;
  readonly volumeUsd: bigint;
  readonly volumeShares: bigint;
  /** The newest trade that had a price; `null` while none had one. */
  readonly lastTrade: LastTrade | null;
  /** Of all trades, 0 without one. */
  readonly firstTimestamp: number;
  readonly lastTimestamp: number;
  /** The minute of the first trade that had a price, where its candles begin; `null` while none had. */
  readonly firstMinute: number | null;
  readonly generations: number;
};

/** The resolution that an event describes; `null` for events of another kind. */
export function resolutionOf(located: LocatedEvent): Resolution | null {
  const { event, seq, timestamp, blockHash, txHash } = located;
  if (event.kind !== "condition_resolved") return null;
  const { conditionId, questionId, oracle, payouts } = event;
  const place = { seq, timestamp, blockHash, txHash };
  return { conditionId, questionId, oracle, numerators: payouts, derived: false, ...place };
}

/**
 * The payouts, in micros per share. They add up to exactly 1: what rounding down leaves goes to those that lose most by
 * it, which for two outcomes is to round half-even like every price.
 */
export function payoutsMicros({ numerators }: Pick<Resolution, "numerators">): readonly bigint[] {
  const sum = sumOf(numerators);
  const shares = numerators.map((numerator, index) => ({
    index,
    payout: (numerator * microsPerUnit) / sum,
    rest: (numerator * microsPerUnit) % sum,
  }));
  const left = Number(microsPerUnit - sumOf(shares.map(({ payout }) => payout)));
  const raised = new Set(
    shares
      .toSorted((a, b) => Number(b.rest - a.rest) || Number((b.payout & 1n) - (a.payout & 1n)))
      .slice(0, left)
      .map(({ index }) => index),
  );
  return shares.map(({ index, payout }) => (raised.has(index) ? payout + 1n : payout));
}

/** The outcome that takes all; `null` unless exactly one payout is 1 (`docs/counting.md`, rule 10). */
export function winningOutcomeIndex(resolution: Resolution): number | null {
  const winners = resolution.numerators.flatMap((numerator, index) =>
    numerator > 0n ? [index] : [],
  );
  return winners.length === 1 ? (winners[0] ?? null) : null;
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}
