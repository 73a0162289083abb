/**
 * The rows `/v1/markets` and `/v1/resolutions` must serve for a recording of generations 1 and 2.
 * Fields that the rules leave open are left out.
 */
import assert from "node:assert/strict";
import type { RpcLog } from "../scripted-block.ts";
import type { ExpectedRow } from "./compare-rows.ts";
import { ratio } from "./exact.ts";
import type { TokenFacts } from "./expected-trades.ts";
import { getPlace, onlyLog, type PlacedTrade, topics } from "./place-logs.ts";
import type { ExpectedMarket, Recording } from "./recording.ts";
import { inOrder, lastPrice, tradingFields } from "./trading-of-market.ts";

/** An unrelated account of the second recording. Its question is nevertheless a valid UMA question. */
const strangerCreator = "14dc79964da2c08b23698b3d3cc7ca32193d9955";

/** Whether a market is registered or traded, has a configured oracle, or has more than 2 outcomes. */
export function isListed(market: ExpectedMarket): boolean {
  const isOracleKnown = market.uma_adapter !== null || market.neg_risk;
  const isUsed = market.registered.length > 0 || market.volume.legs > 0;
  return isOracleKnown || isUsed || market.outcome_slot_count > 2;
}

/** The fields of trade rows that come from the tokens of these markets. */
export function getTokens(markets: readonly ExpectedMarket[]): Map<string, TokenFacts> {
  const tokens = new Map<string, TokenFacts>();
  for (const market of markets) {
    const { yes_token_id: yes, no_token_id: no, condition_id: conditionId } = market;
    if (yes === null || no === null) continue;
    const [first, second] = getOutcomes(market);
    tokens.set(yes, { conditionId, outcomeIndex: 0, complement: no, outcome: first });
    tokens.set(no, { conditionId, outcomeIndex: 1, complement: yes, outcome: second });
  }
  return tokens;
}

/** `tradesOfMarket` are all trades of the condition. */
export function expectMarket(
  market: ExpectedMarket,
  tradesOfMarket: readonly PlacedTrade[],
  recording: Recording<ExpectedMarket>,
): ExpectedRow {
  const trades = inOrder(tradesOfMarket);
  const fields = {
    id: market.condition_id,
    question_id: market.question_id,
    question: market.title,
    description: getDescription(market),
    slug: null,
    category: null,
    tags: [],
    neg_risk: market.neg_risk,
    neg_risk_market_id: market.neg_risk_market_id,
    oracle: market.oracle.toLowerCase(),
    status: market.resolved === null ? "open" : "resolved",
    active: market.resolved === null,
    outcome_count: market.outcome_slot_count,
    created_block: market.prepared.block_number,
    created_at_ms: market.prepared.block_timestamp * 1000,
    start_date: null,
    end_date: null,
    event_slug: null,
    image: null,
    resolved_at_ms: market.resolved === null ? null : market.resolved.block_timestamp * 1000,
    resolution: getResolution(market, recording),
    tokens: tokenRows(market, trades),
    ...tradingFields(trades, market.volume),
    metadata_source: getMetadataSource(market),
    exchange_versions: exchangeVersions(market, trades),
  };
  return { name: market.title ?? market.record ?? market.condition_id, fields };
}

/** The row of a market's resolution. */
export function expectResolution(
  market: ExpectedMarket,
  recording: Recording<ExpectedMarket>,
): ExpectedRow {
  const log = resolutionLog(market, recording);
  const fields = {
    ...getPlace(log),
    ...outcome(market),
    condition_id: market.condition_id,
    question_id: market.question_id,
    oracle: market.oracle.toLowerCase(),
    derived: false,
    timestamp_ms: (market.resolved?.block_timestamp ?? 0) * 1000,
    status: "finalized",
  };
  return { name: `resolution of ${market.title ?? market.record}`, fields };
}

/** The outcome labels; `null` if no text on the chain names the outcomes. */
function getOutcomes(market: ExpectedMarket): readonly [string | null, string | null] {
  const labels = market.title === null ? null : (market.outcome_labels ?? ["Yes", "No"]);
  return labels ?? [null, null];
}

function getMetadataSource(market: ExpectedMarket): string {
  if (market.title === null) return "none";
  const isStranger = toText(market).endsWith(`initializer:${strangerCreator}`);
  return isStranger ? "chain_untrusted" : "chain";
}

function toText(market: ExpectedMarket): string {
  return Buffer.from((market.ancillary_data ?? "0x").slice(2), "hex").toString();
}

/** The first recording has no `description`, but all its texts have the same form. */
function getDescription(market: ExpectedMarket): string | null {
  if (market.description !== undefined) return market.description;
  const [, description] = /, description: (.*) res_data: p1/s.exec(toText(market)) ?? [];
  return description ?? null;
}

/** The generations that registered or traded the market. Only generation 1 registers. */
function exchangeVersions(market: ExpectedMarket, trades: readonly PlacedTrade[]): number[] {
  const registered = market.registered.length > 0 ? [1] : [];
  const traded = trades.map(({ expected }) => expected.exchange_version ?? 1);
  return [1, 2].filter((version) => [...registered, ...traded].includes(version));
}

function tokenRows(market: ExpectedMarket, trades: readonly PlacedTrade[]): object[] {
  const { payouts, winning_token_id } = outcome(market);
  const outcomes = getOutcomes(market);
  const { yes_token_id: yes, no_token_id: no } = market;
  // With more than 2 outcomes no tokens are derived.
  if (yes === null || no === null) return [];
  return [yes, no].map((tokenId, index) => ({
    token_id: tokenId,
    outcome_index: index,
    complement_token_id: index === 0 ? no : yes,
    price: payouts[index] ?? lastPrice(tokenId, trades),
    outcome: outcomes[index],
    winner: winning_token_id === null ? null : tokenId === winning_token_id,
  }));
}

type Outcome = {
  readonly payouts: readonly (string | null)[];
  readonly winning_token_id: string | null;
  readonly winning_outcome: string | null;
};

function outcome(market: ExpectedMarket): Outcome {
  const payouts = (market.payout_numerators ?? []).map((numerator) =>
    ratio(numerator, market.payout_denominator ?? "0"),
  );
  const winner = payouts.indexOf("1");
  if (winner < 0) return { payouts, winning_token_id: null, winning_outcome: null };
  return {
    payouts,
    winning_token_id: winner === 0 ? market.yes_token_id : market.no_token_id,
    winning_outcome: getOutcomes(market)[winner] ?? null,
  };
}

function getResolution(
  market: ExpectedMarket,
  recording: Recording<ExpectedMarket>,
): object | null {
  if (market.resolved === null) return null;
  const { tx_hash, block_number, seq } = getPlace(resolutionLog(market, recording));
  assert.equal(tx_hash, market.resolved.tx_hash);
  return { ...outcome(market), tx_hash, block_number, seq };
}

function resolutionLog(market: ExpectedMarket, recording: Recording<ExpectedMarket>): RpcLog {
  return onlyLog(
    recording,
    (log) =>
      log.transactionHash === market.resolved?.tx_hash &&
      log.topics[0] === topics.conditionResolution &&
      log.topics[1] === market.condition_id,
  );
}
