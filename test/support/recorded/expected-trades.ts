/** The rows `/v1/trades`, `/v1/matches` and `/v1/fills` must serve for a recording. */

import type { ExpectedRow } from "./compare-rows.ts";
import { amount, ratio } from "./exact.ts";
import { getPlace, type PlacedMatch, type PlacedTrade, toWords } from "./place-logs.ts";
import type { ExpectedMatch, ExpectedTrade } from "./recording.ts";

/** The fields of rows that come from the condition of their token. */
export type TokenFacts = {
  /** The condition id as the API prints it: 62 digits in generation 3. */
  readonly conditionId: string;
  readonly outcomeIndex: 0 | 1;
  readonly complement: string;
  /** `null` if no text on the chain names the outcome, `undefined` if the rules leave it open. */
  readonly outcome: string | null | undefined;
};

const matchTypes = {
  COMPLEMENTARY: "complementary",
  MINT: "mint",
  MERGE: "merge",
  FILL: "direct",
} as const;

const modules = { 1: "binary", 2: "neg_risk", 3: "combinatorial" } as const;

export function expectTrade(
  trade: PlacedTrade,
  tokens: ReadonlyMap<string, TokenFacts>,
): ExpectedRow {
  const { expected, log, matched } = trade;
  const refunded = BigInt(expected.maker_fee_refunded ?? "0");
  const fields = {
    ...getPlace(log),
    ...tokenFields(expected.token_id, tokens),
    ...exchangeFields(expected),
    side: expected.taker_side,
    price: ratio(expected.taker_usdc, expected.shares),
    size: amount(expected.shares),
    value_usd: amount(expected.taker_usdc),
    maker_fee: amount(expected.maker_fee),
    maker_fee_net: amount(BigInt(expected.maker_fee) - refunded),
    maker_fee_asset: expected.maker_fee_asset === "token" ? "token" : "collateral",
    match_seq: matched === null ? null : getPlace(matched).seq,
    maker: expected.maker.toLowerCase(),
    taker: expected.taker.toLowerCase(),
    maker_side: expected.maker_side,
    maker_token_id: expected.maker_token_id,
    match_type: matchTypes[expected.match_type],
    maker_order_hash: expected.maker_order_hash,
    taker_order_hash: expected.taker_order_hash,
    module: expected.module === undefined ? null : modules[expected.module],
    builder: nullIfZero(expected.maker_builder),
    metadata: nullIfZero(expected.maker_metadata),
    timestamp_ms: expected.block_timestamp * 1000,
    status: "finalized",
    maker_amount_raw: expected.maker_making,
    taker_amount_raw: expected.maker_taking,
  };
  return { name: `${expected.case} leg ${expected.leg_index_in_tx}`, fields };
}

export function expectMatch(
  match: PlacedMatch,
  tokens: ReadonlyMap<string, TokenFacts>,
): ExpectedRow {
  const { expected, log, summary, legs } = match;
  const size = sum(legs.map((leg) => leg.expected.shares));
  const value = sum(legs.map((leg) => leg.expected.taker_usdc));
  const refunded = BigInt(expected.taker_fee_refunded ?? "0");
  const module = legs[0]?.expected.module;
  const fields = {
    ...getPlace(log),
    ...tokenFields(expected.token_id, tokens),
    ...exchangeFields({ ...expected, exchange_kind: legs[0]?.expected.exchange_kind ?? "ctf" }),
    taker_fill_seq: getPlace(summary).seq,
    side: expected.taker_side,
    taker: expected.taker.toLowerCase(),
    taker_order_hash: expected.taker_order_hash,
    size: amount(size),
    value_usd: amount(value),
    price: ratio(value, size),
    legs: legs.length,
    taker_fee: amount(expected.taker_fee),
    taker_fee_net: amount(BigInt(expected.taker_fee) - refunded),
    taker_fee_asset: expected.taker_fee_asset === "token" ? "token" : "collateral",
    maker_amount_raw: expected.taker_fill_making ?? expected.making,
    taker_amount_raw: expected.taker_taking ?? expected.taking,
    module: module === undefined ? null : modules[module],
    ...takerCodes(match),
    timestamp_ms: expected.block_timestamp * 1000,
    status: "finalized",
  };
  return { name: `${expected.case} match ${expected.match_index_in_tx}`, fields };
}

/** Every OrderFilled on the chain: legs, direct fills and summaries. */
export function expectFills(
  trades: readonly PlacedTrade[],
  matches: readonly PlacedMatch[],
): ExpectedRow[] {
  const legs = trades.map(({ expected, log }) => ({
    name: `${expected.case} fill ${expected.leg_index_in_tx}`,
    fields: {
      ...getPlace(log),
      order_hash: expected.maker_order_hash,
      maker: expected.maker.toLowerCase(),
      taker: expected.taker.toLowerCase(),
      side: expected.maker_side,
      token_id: expected.maker_token_id,
      maker_amount_raw: expected.maker_making,
      taker_amount_raw: expected.maker_taking,
    },
  }));
  const summaries = matches.map(({ expected, summary }) => ({
    name: `${expected.case} summary ${expected.match_index_in_tx}`,
    fields: {
      ...getPlace(summary),
      order_hash: expected.taker_order_hash,
      maker: expected.taker.toLowerCase(),
      taker: expected.exchange.toLowerCase(),
      side: expected.taker_side,
      token_id: expected.token_id,
      maker_amount_raw: expected.taker_fill_making ?? expected.making,
      taker_amount_raw: expected.taker_taking ?? expected.taking,
    },
  }));
  return [...legs, ...summaries];
}

function tokenFields(tokenId: string, tokens: ReadonlyMap<string, TokenFacts>): object {
  const facts = tokens.get(tokenId);
  if (facts === undefined) throw new Error(`no condition has the token ${tokenId}`);
  return {
    token_id: tokenId,
    complement_token_id: facts.complement,
    condition_id: facts.conditionId,
    outcome_index: facts.outcomeIndex,
    ...(facts.outcome === undefined ? {} : { outcome: facts.outcome }),
  };
}

/** Generation 3 has one exchange for both kinds of market, so its `exchange` is not compared. */
function exchangeFields(
  row: Pick<ExpectedTrade, "exchange" | "exchange_kind" | "exchange_version">,
): object {
  const common = { exchange_address: row.exchange.toLowerCase() };
  if (row.exchange_kind === "gen3") return { ...common, exchange_version: 3 };
  return {
    ...common,
    exchange: row.exchange_kind === "ctf" ? "standard" : "neg_risk",
    exchange_version: row.exchange_version ?? 1,
  };
}

/** Builder and metadata of the taker's order: from the expected rows in the second recording, else from the event. */
function takerCodes(match: PlacedMatch): object {
  const [, , , , , builder, metadata] = toWords(match.summary);
  const expected: ExpectedMatch = match.expected;
  return {
    builder: nullIfZero(expected.taker_builder ?? builder),
    metadata: nullIfZero(expected.taker_metadata ?? metadata),
  };
}

function nullIfZero(word: string | undefined): string | null {
  return word === undefined || /^0x0*$/.test(word) ? null : word;
}

function sum(amounts: readonly string[]): bigint {
  return amounts.reduce((total, next) => total + BigInt(next), 0n);
}
