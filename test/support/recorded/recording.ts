/** Reads the recorded chains of `test/fixtures` and their expected results. */
import { readFixture } from "../read-fixture.ts";
import type { ScriptedBlock } from "../scripted-block.ts";

export type RecordingName = "contracts-a" | "contracts-gen2" | "contracts-gen3";

/** Amounts are integer strings of millionths; addresses are checksummed. */
export type ExpectedTrade = {
  readonly case: string;
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_timestamp: number;
  readonly leg_index_in_tx: number;
  readonly match_index_in_tx: number;
  readonly exchange: string;
  readonly exchange_kind: "ctf" | "negrisk" | "gen3";
  /** Absent if only one generation was recorded. */
  readonly exchange_version?: 1 | 2;
  readonly module?: 1 | 2 | 3;
  readonly condition_id: string;
  readonly match_type: "COMPLEMENTARY" | "MINT" | "MERGE" | "FILL";
  readonly token_id: string;
  readonly outcome: "YES" | "NO";
  readonly taker_side: "BUY" | "SELL";
  readonly taker: string;
  readonly taker_order_hash: string | null;
  readonly maker: string;
  readonly maker_order_hash: string;
  readonly maker_token_id: string;
  readonly maker_side: "BUY" | "SELL";
  readonly maker_making: string;
  readonly maker_taking: string;
  readonly shares: string;
  readonly taker_usdc: string;
  readonly maker_fee: string;
  /** Absent if fees are always cash. */
  readonly maker_fee_asset?: "usdc" | "token";
  readonly maker_fee_refunded?: string;
  readonly maker_builder?: string;
  readonly maker_metadata?: string;
};

export type ExpectedMatch = {
  readonly case: string;
  readonly tx_hash: string;
  readonly block_timestamp: number;
  readonly match_index_in_tx: number;
  readonly exchange: string;
  readonly exchange_version?: 1 | 2;
  readonly condition_id: string;
  readonly taker: string;
  readonly taker_order_hash: string;
  readonly taker_side: "BUY" | "SELL";
  readonly token_id: string;
  /** The amounts of the event; generation 3 calls them `making` and `taking`. */
  readonly taker_fill_making?: string;
  readonly taker_taking?: string;
  readonly making?: string;
  readonly taking?: string;
  readonly taker_fee: string;
  readonly taker_fee_asset?: "usdc" | "token";
  readonly taker_fee_refunded?: string;
  readonly taker_builder?: string;
  readonly taker_metadata?: string;
  readonly legs: number | readonly number[];
  /** The sums over the legs; generation 3 calls them `shares` and `taker_usdc`. */
  readonly sum_shares?: string;
  readonly sum_taker_usdc?: string;
  readonly shares?: string;
  readonly taker_usdc?: string;
};

export type ExpectedCancel = {
  readonly order_hash: string;
  readonly exchange: string;
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_timestamp: number;
};

export type ExpectedAdmin = {
  readonly kind: string;
  readonly exchange: string;
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_timestamp: number;
  readonly order_hash?: string;
  readonly user?: string;
  readonly effective_block?: number;
  readonly by?: string;
  readonly operator?: string;
  readonly old_interval?: string;
  readonly new_interval?: string;
  readonly fee_receiver?: string;
  readonly max_fee_rate_bps?: string;
};

type Place = {
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_timestamp: number;
};

/** A condition of ConditionalTokens (generations 1 and 2). */
export type ExpectedMarket = {
  readonly condition_id: string;
  readonly question_id: string;
  readonly oracle: string;
  readonly outcome_slot_count: number;
  readonly title: string | null;
  readonly record: string | null;
  readonly ancillary_data: string | null;
  readonly uma_adapter: string | null;
  readonly neg_risk: boolean;
  readonly neg_risk_market_id: string | null;
  readonly yes_token_id: string | null;
  readonly no_token_id: string | null;
  readonly prepared: Place;
  readonly registered: readonly { readonly exchange: string }[];
  readonly payout_numerators: readonly string[] | null;
  readonly payout_denominator: string | null;
  readonly resolved: Place | null;
  readonly volume: { readonly legs: number; readonly shares: string; readonly taker_usdc: string };
  readonly last_trade_block: number | null;
  /** Absent in the first recording, whose texts are all Yes/No and whose creator is one account. */
  readonly outcome_labels?: readonly [string, string] | null;
  readonly description?: string | null;
  readonly creator?: string | null;
};

/** A condition of generation 3; ids as 32 bytes. */
export type ExpectedMarket3 = {
  readonly condition_id: string;
  readonly condition_id_bytes31: string;
  readonly kind: string;
  readonly module: 1 | 2 | 3;
  readonly yes_token_id: string;
  readonly no_token_id: string;
  readonly event_id: string | null;
  readonly title?: string | null;
  readonly announced_block: number | null;
  readonly legacy_condition_id: string | null;
  readonly legs: readonly string[] | null;
  readonly result: readonly [string, string] | null;
  readonly trades: number;
  readonly shares: string;
  readonly taker_usdc: string;
};

export type Recording<Market> = {
  readonly name: RecordingName;
  readonly blocks: readonly ScriptedBlock[];
  readonly trades: readonly ExpectedTrade[];
  readonly matches: readonly ExpectedMatch[];
  readonly markets: readonly Market[];
  /** Empty if the generation has no such events. */
  readonly cancels: readonly ExpectedCancel[];
  readonly admin: readonly ExpectedAdmin[];
  readonly decoys: readonly { readonly exchange: string }[];
};

export function readRecording(name: "contracts-gen3"): Recording<ExpectedMarket3>;
export function readRecording(name: "contracts-a" | "contracts-gen2"): Recording<ExpectedMarket>;
export function readRecording(name: RecordingName): Recording<unknown> {
  return {
    name,
    blocks: read(name, "chain") as Recording<unknown>["blocks"],
    trades: read(name, "expected-trades") as ExpectedTrade[],
    matches: read(name, "expected-matches") as ExpectedMatch[],
    markets: read(name, "expected-markets") as unknown[],
    cancels: (name === "contracts-gen3" ? [] : read(name, "expected-cancels")) as ExpectedCancel[],
    admin: (name === "contracts-gen2" ? read(name, "expected-admin") : []) as ExpectedAdmin[],
    decoys: read(name, "decoy-trades") as Recording<unknown>["decoys"],
  };
}

function read(name: RecordingName, file: string): unknown {
  return readFixture(`${name}/${file}.json.gz`);
}
