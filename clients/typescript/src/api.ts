/**
 * The shapes of the API, made from the schemas the service runs on by `npm run docs`; a test compares
 * the two. Decimals, token ids and raw amounts are strings, so that no digit is lost.
 */

export type Market = {
  readonly id: ConditionId;
  readonly question_id: Hash | null;
  readonly question: string | null;
  readonly description: string | null;
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly event_id: string | null;
  readonly event_slug: string | null;
  readonly image: string | null;
  readonly neg_risk: boolean;
  readonly neg_risk_market_id: Hash | null;
  readonly oracle: Address | null;
  readonly exchange_versions: readonly (1 | 2 | 3)[];
  readonly status: "open" | "resolved";
  readonly active: boolean;
  readonly outcome_count: number;
  readonly created_at: Time;
  readonly created_at_ms: Milliseconds;
  readonly created_block: number | null;
  readonly start_date: Time | null;
  readonly end_date: Time | null;
  readonly resolved_at: Time | null;
  readonly resolved_at_ms: Milliseconds | null;
  readonly resolution: {
    readonly payouts: readonly Decimal[];
    readonly winning_token_id: TokenId | null;
    readonly winning_outcome: string | null;
    readonly tx_hash: Hash;
    readonly block_number: number;
    readonly seq: Seq;
  } | null;
  readonly tokens: readonly {
    readonly token_id: TokenId;
    readonly outcome: string | null;
    readonly outcome_index: number;
    readonly complement_token_id: TokenId | null;
    readonly price: Decimal | null;
    readonly winner: boolean | null;
  }[];
  readonly mirror: {
    readonly condition_id: ConditionId;
    readonly tokens: readonly {
      readonly token_id: TokenId;
      readonly outcome: string | null;
      readonly outcome_index: number;
      readonly price: Decimal | null;
    }[];
    readonly created_at: Time;
    readonly created_at_ms: Milliseconds;
    readonly registered_block: number | null;
    readonly resolution: {
      readonly payouts: readonly Decimal[];
      readonly winning_token_id: TokenId | null;
      readonly winning_outcome: string | null;
      readonly tx_hash: Hash;
      readonly block_number: number;
      readonly seq: Seq;
    } | null;
  } | null;
  readonly legs: readonly {
    readonly token_id: TokenId;
    readonly condition_id: ConditionId | null;
    readonly question: string | null;
    readonly outcome: string | null;
    readonly payout: Decimal | null;
  }[] | null;
  readonly legs_payout: Decimal | null;
  readonly volume_usd: Decimal;
  readonly volume_shares: Decimal;
  readonly trades: number;
  readonly volume_24h_usd: Decimal;
  readonly trades_24h: number;
  readonly last_trade_at: Time | null;
  readonly last_trade_at_ms: Milliseconds | null;
  readonly change_24h: Decimal | null;
  readonly liquidity_usd: Decimal | null;
  readonly open_interest_usd: Decimal | null;
  readonly metadata_source: "chain" | "chain_untrusted" | "venue" | "none";
  readonly event?: {
    readonly id: string;
    readonly title: string | null;
    readonly slug: string | null;
  } | null;
};

export type Event = {
  readonly id: string;
  readonly event_id: string | null;
  readonly title: string | null;
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly neg_risk: boolean;
  readonly neg_risk_market_id: Hash | null;
  readonly status: "open" | "resolved";
  readonly created_at: Time;
  readonly created_at_ms: Milliseconds;
  readonly end_date: Time | null;
  readonly market_count: number;
  readonly markets: readonly {
    readonly id: ConditionId;
    readonly question: string | null;
    readonly slug: string | null;
    readonly outcome_label: string | null;
    readonly status: "open" | "resolved";
    readonly tokens: readonly {
      readonly token_id: TokenId;
      readonly outcome: string | null;
      readonly outcome_index: number;
      readonly complement_token_id: TokenId | null;
      readonly price: Decimal | null;
      readonly winner: boolean | null;
    }[];
    readonly volume_usd: Decimal;
    readonly volume_24h_usd: Decimal;
  }[];
  readonly volume_usd: Decimal;
  readonly volume_24h_usd: Decimal;
  readonly trades: number;
  readonly trades_24h: number;
  readonly last_trade_at: Time | null;
  readonly last_trade_at_ms: Milliseconds | null;
  readonly price_sum: Decimal | null;
  readonly metadata_source: "chain" | "chain_untrusted" | "venue" | "none";
};

export type Tag = {
  readonly name: string;
  readonly market_count: number;
  readonly open_market_count: number;
  readonly volume_24h_usd: Decimal;
};

export type Position = {
  readonly token_id: TokenId;
  readonly complement_token_id: TokenId | null;
  readonly condition_id: ConditionId | null;
  readonly outcome: string | null;
  readonly outcome_index: number | null;
  readonly question: string | null;
  readonly slug: string | null;
  readonly event_id: string | null;
  readonly neg_risk: boolean | null;
  readonly complete: boolean;
  readonly cost_complete: boolean;
  readonly size: Decimal | null;
  readonly size_raw: RawAmount | null;
  readonly cost_known_size: Decimal | null;
  readonly avg_price: Decimal | null;
  readonly cost_usd: Decimal | null;
  readonly fees_usd: Decimal | null;
  readonly price: Decimal | null;
  readonly value_usd: Decimal | null;
  readonly realized_pnl: Decimal | null;
  readonly unrealized_pnl: Decimal | null;
  readonly total_pnl: Decimal | null;
  readonly unknown_proceeds_usd: Decimal | null;
  readonly bought: Decimal | null;
  readonly sold: Decimal | null;
  readonly status: "open" | "redeemable" | "lost" | "closed";
  readonly mergeable_size: Decimal | null;
  readonly payout: Decimal | null;
  readonly first_seen: Time;
  readonly first_seen_ms: Milliseconds;
  readonly last_active: Time;
  readonly last_active_ms: Milliseconds;
  readonly last_seq: Seq;
};

export type Activity = {
  readonly id: string;
  readonly seq: Seq;
  readonly wallet: Address;
  readonly kind: "trade" | "fee_refund" | "split" | "merge" | "redeem" | "convert" | "hsplit" | "hmerge" | "wrap" | "unwrap" | "compress" | "migrate" | "transfer_in" | "transfer_out";
  readonly role: "maker" | "taker" | "operator" | null;
  readonly side: "BUY" | "SELL" | null;
  readonly tokens: readonly {
    readonly token_id: TokenId;
    readonly condition_id: ConditionId | null;
    readonly outcome: string | null;
    readonly size: Decimal;
  }[];
  readonly tokens_truncated: boolean;
  readonly condition_id: ConditionId | null;
  readonly question: string | null;
  readonly slug: string | null;
  readonly event_id: string | null;
  readonly price: Decimal | null;
  readonly cash_usd: Decimal;
  readonly fee_usd: Decimal;
  readonly fee_shares: Decimal;
  readonly counterparty: Address | null;
  readonly via: Address | null;
  readonly tx_hash: Hash;
  readonly block_number: number;
  readonly log_index: number;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
};

export type ProfitBucket = {
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly complete: boolean;
  readonly cost_complete: boolean;
  readonly realized_pnl: Decimal | null;
  readonly fees_usd: Decimal;
  readonly volume_usd: Decimal;
  readonly trades: number;
  readonly cumulative_realized_pnl: Decimal | null;
  readonly cumulative_fees_usd: Decimal;
  readonly cumulative_volume_usd: Decimal;
  readonly cumulative_trades: number;
};

export type Holder = {
  readonly rank: number;
  readonly address: Address;
  readonly label: string | null;
  readonly token_id: TokenId;
  readonly outcome: string | null;
  readonly outcome_index: number | null;
  readonly size: Decimal;
  readonly share_of_supply: Decimal | null;
  readonly value_usd: Decimal | null;
  readonly avg_price?: Decimal | null;
  readonly cost_complete?: boolean;
  readonly realized_pnl?: Decimal | null;
  readonly unrealized_pnl?: Decimal | null;
};

export type OpenInterest = {
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly complete: boolean;
  readonly supply: readonly Decimal[] | null;
  readonly open_interest_usd: Decimal | null;
  readonly collateral_usd: Decimal | null;
  readonly minted: Decimal;
  readonly burnt: Decimal;
};

export type TotalOpenInterest = {
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly complete: boolean;
  readonly open_interest_usd: Decimal | null;
  readonly standard_usd: Decimal | null;
  readonly neg_risk_usd: Decimal | null;
  readonly protocol_v2_usd: Decimal | null;
  readonly minted_usd: Decimal;
  readonly burnt_usd: Decimal;
};

export type MarketOpenInterest = {
  readonly condition_id: ConditionId;
  readonly complete: boolean;
  readonly supply: readonly Decimal[] | null;
  readonly open_interest_usd: Decimal | null;
  readonly collateral_usd: Decimal | null;
};

export type Trade = {
  readonly id: string;
  readonly seq: Seq;
  readonly token_id: TokenId;
  readonly complement_token_id: TokenId | null;
  readonly condition_id: ConditionId | null;
  readonly outcome: string | null;
  readonly outcome_index: number | null;
  readonly side: "BUY" | "SELL";
  readonly price: Decimal | null;
  readonly size: Decimal;
  readonly value_usd: Decimal;
  readonly maker_fee: Decimal;
  readonly maker_fee_net: Decimal;
  readonly maker_fee_asset: "collateral" | "token";
  readonly match_seq: Seq | null;
  readonly maker: Address;
  readonly taker: Address;
  readonly maker_side: "BUY" | "SELL";
  readonly maker_token_id: TokenId;
  readonly match_type: "complementary" | "mint" | "merge" | "direct";
  readonly maker_order_hash: Hash;
  readonly taker_order_hash: Hash | null;
  readonly exchange: "standard" | "neg_risk";
  readonly exchange_version: 1 | 2 | 3;
  readonly exchange_address: Address;
  readonly module: "binary" | "neg_risk" | "combinatorial" | null;
  readonly builder: Hash | null;
  readonly metadata: Hash | null;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
  readonly maker_amount_raw: RawAmount;
  readonly taker_amount_raw: RawAmount;
  readonly question?: string | null;
  readonly slug?: string | null;
  readonly event_id?: string | null;
};

export type Fill = {
  readonly id: string;
  readonly seq: Seq;
  readonly role: "maker" | "taker" | "direct";
  readonly order_hash: Hash;
  readonly maker: Address;
  readonly taker: Address;
  readonly side: "BUY" | "SELL";
  readonly token_id: TokenId;
  readonly complement_token_id: TokenId | null;
  readonly condition_id: ConditionId | null;
  readonly outcome: string | null;
  readonly outcome_index: number | null;
  readonly maker_amount_raw: RawAmount;
  readonly taker_amount_raw: RawAmount;
  readonly fee: Decimal;
  readonly fee_net: Decimal;
  readonly fee_asset: "collateral" | "token";
  readonly match_seq: Seq | null;
  readonly exchange: "standard" | "neg_risk";
  readonly exchange_version: 1 | 2 | 3;
  readonly exchange_address: Address;
  readonly module: "binary" | "neg_risk" | "combinatorial" | null;
  readonly builder: Hash | null;
  readonly metadata: Hash | null;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
  readonly question?: string | null;
  readonly slug?: string | null;
  readonly event_id?: string | null;
};

export type Match = {
  readonly id: string;
  readonly seq: Seq;
  readonly taker_fill_seq: Seq;
  readonly token_id: TokenId;
  readonly complement_token_id: TokenId | null;
  readonly condition_id: ConditionId | null;
  readonly outcome: string | null;
  readonly outcome_index: number | null;
  readonly side: "BUY" | "SELL";
  readonly price: Decimal | null;
  readonly size: Decimal;
  readonly value_usd: Decimal;
  readonly legs: number;
  readonly taker: Address;
  readonly taker_order_hash: Hash;
  readonly taker_fee: Decimal;
  readonly taker_fee_net: Decimal;
  readonly taker_fee_asset: "collateral" | "token";
  readonly exchange: "standard" | "neg_risk";
  readonly exchange_version: 1 | 2 | 3;
  readonly exchange_address: Address;
  readonly module: "binary" | "neg_risk" | "combinatorial" | null;
  readonly builder: Hash | null;
  readonly metadata: Hash | null;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
  readonly maker_amount_raw: RawAmount;
  readonly taker_amount_raw: RawAmount;
  readonly question?: string | null;
  readonly slug?: string | null;
  readonly event_id?: string | null;
};

export type Cancellation = {
  readonly id: string;
  readonly seq: Seq;
  readonly kind: "order_cancelled" | "order_preapproval_invalidated" | "user_paused";
  readonly order_hash: Hash | null;
  readonly user: Address | null;
  readonly effective_block: number | null;
  readonly exchange: "standard" | "neg_risk";
  readonly exchange_version: 1 | 2 | 3;
  readonly exchange_address: Address;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
};

export type Resolution = {
  readonly id: string;
  readonly seq: Seq;
  readonly derived: boolean;
  readonly condition_id: ConditionId;
  readonly question_id: Hash | null;
  readonly oracle: Address;
  readonly payouts: readonly Decimal[];
  readonly winning_token_id: TokenId | null;
  readonly winning_outcome: string | null;
  readonly mirror_resolution: {
    readonly condition_id: ConditionId;
    readonly payouts: readonly Decimal[];
    readonly block_number: number;
    readonly seq: Seq;
    readonly tx_hash: Hash;
    readonly timestamp: Time;
    readonly timestamp_ms: Milliseconds;
  } | null;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
};

export type ResultStep = {
  readonly id: string;
  readonly seq: Seq;
  readonly kind: "requested" | "proposed" | "disputed" | "reset" | "settled" | "reported" | "mirror_resolved";
  readonly price: Decimal | null;
  readonly payouts: readonly Decimal[] | null;
  readonly account: Address | null;
  readonly bond: Decimal | null;
  readonly contract: Address | null;
  readonly block_number: number;
  readonly block_hash: Hash;
  readonly log_index: number;
  readonly tx_hash: Hash;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly status: "confirmed" | "finalized";
};

export type Price = {
  readonly token_id: TokenId;
  readonly price: Decimal | null;
  readonly price_source: "last_trade" | "complement" | "settlement" | null;
  readonly last_trade: {
    readonly price: Decimal;
    readonly size: Decimal;
    readonly side: "BUY" | "SELL";
    readonly seq: Seq;
    readonly timestamp: Time;
    readonly timestamp_ms: Milliseconds;
    readonly tx_hash: Hash;
  } | null;
  readonly best_bid: Decimal | null;
  readonly best_ask: Decimal | null;
  readonly mid: Decimal | null;
  readonly spread: Decimal | null;
  readonly stats_24h: {
    readonly open: Decimal | null;
    readonly high: Decimal | null;
    readonly low: Decimal | null;
    readonly close: Decimal | null;
    readonly change: Decimal | null;
    readonly change_pct: Decimal | null;
    readonly volume_usd: Decimal;
    readonly volume_shares: Decimal;
    readonly buy_volume_usd: Decimal;
    readonly sell_volume_usd: Decimal;
    readonly trades: number;
    readonly vwap: Decimal | null;
    readonly window_start_ms: Milliseconds;
    readonly window_end_ms: Milliseconds;
  };
  readonly complement: {
    readonly token_id: TokenId;
    readonly outcome: string | null;
    readonly price: Decimal | null;
    readonly price_source: "last_trade" | "complement" | "settlement" | null;
  } | null;
  readonly resolved: boolean;
  readonly settlement_price: Decimal | null;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
};

export type PastPrice = {
  readonly token_id: TokenId;
  readonly price: Decimal | null;
  readonly price_source: "last_trade" | "complement" | "settlement" | null;
  readonly last_trade: {
    readonly price: Decimal;
    readonly size: Decimal;
    readonly side: "BUY" | "SELL";
    readonly seq: Seq;
    readonly timestamp: Time;
    readonly timestamp_ms: Milliseconds;
    readonly tx_hash: Hash;
  } | null;
  readonly complement: {
    readonly token_id: TokenId;
    readonly outcome: string | null;
    readonly price: Decimal | null;
    readonly price_source: "last_trade" | "complement" | "settlement" | null;
  } | null;
  readonly resolved: boolean;
  readonly settlement_price: Decimal | null;
  readonly as_of: {
    readonly seq: Seq;
    readonly timestamp: Time;
    readonly timestamp_ms: Milliseconds;
  } | null;
};

export type OrderBook = {
  readonly token_id: TokenId;
  readonly bids: readonly {
    readonly price: Decimal;
    readonly size: Decimal;
  }[];
  readonly asks: readonly {
    readonly price: Decimal;
    readonly size: Decimal;
  }[];
  readonly best_bid: Decimal | null;
  readonly best_ask: Decimal | null;
  readonly mid: Decimal | null;
  readonly spread: Decimal | null;
  readonly tick_size: Decimal | null;
  readonly min_order_size: Decimal | null;
  readonly bid_depth_usd: string;
  readonly ask_depth_usd: string;
  readonly last_trade_price: Decimal | null;
  readonly checksum: number;
  readonly hash: string | null;
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly source: "stream" | "rest";
  readonly stale: boolean;
  readonly stale_reason: string | null;
  readonly age_ms: number;
};

export type Candle = {
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  readonly volume_shares: Decimal;
  readonly volume_usd: Decimal;
  readonly buy_volume_usd: Decimal;
  readonly sell_volume_usd: Decimal;
  readonly trades: number;
  readonly vwap: Decimal | null;
  readonly closed: boolean;
  readonly filled: boolean;
};

export type Stats = {
  readonly timestamp: Time;
  readonly timestamp_ms: Milliseconds;
  readonly trades: number;
  readonly volume_usd: Decimal;
  readonly fees_usd: Decimal | null;
  readonly active_markets: number | null;
  readonly traders: number | null;
  readonly new_markets: number | null;
  readonly resolved_markets: number | null;
};

export type Key = {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly scope: "read" | "write" | "admin";
  readonly rate_limit: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly status: "active" | "expired" | "revoked";
  readonly allowed_ips: readonly string[];
  readonly previous_value_expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly request_count: number;
};

export type IssuedKey = {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly scope: "read" | "write" | "admin";
  readonly rate_limit: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly key: string;
};

export type Pagination = {
  readonly limit: number;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

export type Meta = {
  readonly request_id: string;
  readonly first_block: number | null;
  readonly first_timestamp_ms: number | null;
  readonly indexed_block: number | null;
  readonly indexed_seq: number | null;
  readonly head_block: number | null;
  readonly finalized_block: number | null;
  readonly lag_seconds: number | null;
};

export type ErrorAnswer = {
  readonly error: {
    readonly code: "VALIDATION_ERROR" | "INVALID_CURSOR" | "UNAUTHORIZED" | "FORBIDDEN" | "IP_BLOCKED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "RATE_LIMITED" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE";
    readonly message: string;
    readonly details?: readonly {
      readonly parameter: string;
      readonly issue: string;
    }[];
    readonly request_id: string;
  };
};

/** The first frame, and the response to an auth frame. */
export type StreamWelcome = {
  readonly type: "welcome";
  readonly id?: string | number;
  readonly connection_id: string;
  readonly protocol: number;
  readonly authenticated: boolean;
  readonly heartbeat_seconds: number;
  readonly latest_seq: Seq | null;
  readonly limits: {
    readonly subscriptions: number;
    readonly tokens_per_subscription: number;
    readonly tokens_per_connection: number;
    readonly frames_per_second: number;
    readonly frame_bytes: number;
    readonly connections_per_key: number | null;
    readonly connections_per_ip: number;
  };
};

/** A subscription has started; its data follows. */
export type StreamSubscribed = {
  readonly type: "subscribed";
  readonly id?: string | number;
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
};

/** A subscription has ended. */
export type StreamUnsubscribed = {
  readonly type: "unsubscribed";
  readonly id?: string | number;
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
};

/** The newest rows of a channel, or a whole book. */
export type StreamSnapshot = {
  readonly type: "snapshot";
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly data: readonly (Trade | Resolution | Market | Cancellation | Candle | Price | Activity | MarketOpenInterest | OrderBook)[];
};

/** Something happened; event says what data is. */
export type StreamEvent = {
  readonly type: "event";
  readonly event: "trade";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Trade;
} | {
  readonly type: "event";
  readonly event: "resolution";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Resolution;
} | {
  readonly type: "event";
  readonly event: "market";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Market;
} | {
  readonly type: "event";
  readonly event: "cancellation";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Cancellation;
} | {
  readonly type: "event";
  readonly event: "candle";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Candle;
} | {
  readonly type: "event";
  readonly event: "price";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Price;
} | {
  readonly type: "event";
  readonly event: "activity";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: Activity;
} | {
  readonly type: "event";
  readonly event: "open_interest";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: MarketOpenInterest;
} | {
  readonly type: "event";
  readonly event: "book";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: {
    readonly token_id: TokenId;
    readonly bids: readonly {
      readonly price: Decimal;
      readonly size: Decimal;
    }[];
    readonly asks: readonly {
      readonly price: Decimal;
      readonly size: Decimal;
    }[];
    readonly checksum: number;
    readonly hash: string | null;
    readonly timestamp: Time;
    readonly timestamp_ms: Milliseconds;
  };
} | {
  readonly type: "event";
  readonly event: "book_stale";
  readonly channel: { readonly [name: string]: unknown };
  readonly subscription_id: string;
  readonly seq: Seq;
  readonly prev_seq: number;
  readonly replay?: boolean;
  readonly data: {
    readonly token_id: TokenId;
    readonly stale_reason: string;
  };
};

/** The past was replayed; new events follow. */
export type StreamReplayComplete = {
  readonly type: "replay_complete";
  readonly subscription_id: string;
  readonly seq: Seq;
};

/** A reorg reverted every row after a position; replacements follow. */
export type StreamReorg = {
  readonly type: "reorg";
  readonly subscription_id: string;
  readonly rewind_to_seq: Seq;
  readonly reverted: readonly string[];
};

/** Nothing up to here can be reverted. */
export type StreamFinalized = {
  readonly type: "finalized";
  readonly finalized_block: number;
  readonly finalized_seq: Seq;
};

/** The connection is alive, and how far the service is. */
export type StreamHeartbeat = {
  readonly type: "heartbeat";
  readonly latest_seq: Seq | null;
  readonly indexed_block: number | null;
  readonly head_block: number | null;
  readonly finalized_block: number | null;
  readonly lag_seconds: number | null;
};

/** The response to a ping frame. */
export type StreamPong = {
  readonly type: "pong";
  readonly id?: string | number;
};

/** Your frame was refused; the error is that of HTTP. */
export type StreamError = {
  readonly type: "error";
  readonly id?: string | number;
  readonly error: {
    readonly code: "VALIDATION_ERROR" | "INVALID_CURSOR" | "UNAUTHORIZED" | "FORBIDDEN" | "IP_BLOCKED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "RATE_LIMITED" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE";
    readonly message: string;
    readonly details?: readonly {
      readonly parameter: string;
      readonly issue: string;
    }[];
    readonly request_id: string;
    readonly retry_after_seconds?: number;
  };
};

/** ERC-1155 outcome token id, a decimal below 2^256. */
export type TokenId = string;

/** Condition id; 62 digits for Protocol V2, 64 before. */
export type ConditionId = string;

/** An account or contract, lower-case hex. */
export type Address = string;

/** 32 bytes as lower-case hex. */
export type Hash = string;

/** An exact decimal with at most 6 fractional digits. */
export type Decimal = string;

/** The raw amount of the event, an integer of 10^-6 units. */
export type RawAmount = string;

/** Position on the chain: block_number * 1000000 + log_index. */
export type Seq = number;

/** RFC 3339, UTC. */
export type Time = string;

/** Unix milliseconds. */
export type Milliseconds = number;

/** GET /v1/markets: List markets. */
export type ListMarkets = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly include?: "event" | undefined;
    readonly active?: boolean | undefined;
    readonly status?: "open" | "resolved" | "all" | undefined;
    readonly search?: string | undefined;
    readonly neg_risk?: boolean | undefined;
    readonly event_id?: readonly string[] | undefined;
    readonly neg_risk_market_id?: readonly string[] | undefined;
    readonly category?: readonly string[] | undefined;
    readonly tag?: readonly string[] | undefined;
    readonly slug?: readonly string[] | undefined;
    readonly condition_id?: readonly string[] | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly min_volume?: string | undefined;
    readonly min_volume_24h?: string | undefined;
    readonly created_after?: string | number | undefined;
    readonly created_before?: string | number | undefined;
    readonly end_after?: string | number | undefined;
    readonly end_before?: string | number | undefined;
    readonly sort?: "volume_24h" | "volume" | "trades_24h" | "change_24h" | "liquidity" | "created_at" | "end_date" | "last_trade_at" | "open_interest" | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "question_id" | "question" | "description" | "slug" | "category" | "tags" | "event_id" | "event_slug" | "image" | "neg_risk" | "neg_risk_market_id" | "oracle" | "exchange_versions" | "status" | "active" | "outcome_count" | "created_at" | "created_at_ms" | "created_block" | "start_date" | "end_date" | "resolved_at" | "resolved_at_ms" | "resolution" | "tokens" | "mirror" | "legs" | "legs_payout" | "volume_usd" | "volume_shares" | "trades" | "volume_24h_usd" | "trades_24h" | "last_trade_at" | "last_trade_at_ms" | "change_24h" | "liquidity_usd" | "open_interest_usd" | "metadata_source" | "event")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Market[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/markets/{id}: Get a market. */
export type GetMarket = {
  readonly query: {
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: Market;
    readonly meta: Meta;
  };
};

/** GET /v1/markets/{id}/resolution: List the steps to a result. */
export type ListResultSteps = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "kind" | "price" | "payouts" | "account" | "bond" | "contract" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly ResultStep[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/markets/{id}/holders: List holders of a market. */
export type ListHolders = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly outcome_index?: number | undefined;
    readonly min_size?: string | undefined;
    readonly include_contracts?: boolean | undefined;
    readonly include_pnl?: boolean | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("rank" | "address" | "label" | "token_id" | "outcome" | "outcome_index" | "size" | "share_of_supply" | "value_usd" | "avg_price" | "cost_complete" | "realized_pnl" | "unrealized_pnl")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Holder[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly complete: boolean;
      readonly outcomes: readonly {
        readonly token_id: TokenId;
        readonly outcome: string | null;
        readonly outcome_index: number | null;
        readonly complete: boolean;
        readonly supply: Decimal | null;
        readonly holders: number | null;
        readonly holders_with_contracts: number | null;
      }[];
    };
  };
};

/** GET /v1/markets/{id}/open-interest: List open interest. */
export type ListOpenInterest = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly resolution?: "1h" | "4h" | "1d" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("timestamp" | "timestamp_ms" | "complete" | "supply" | "open_interest_usd" | "collateral_usd" | "minted" | "burnt")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly OpenInterest[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/open-interest: List total open interest. */
export type ListTotalOpenInterest = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly resolution?: "1h" | "4h" | "1d" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("timestamp" | "timestamp_ms" | "complete" | "open_interest_usd" | "standard_usd" | "neg_risk_usd" | "protocol_v2_usd" | "minted_usd" | "burnt_usd")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly TotalOpenInterest[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/events: List events. */
export type ListEvents = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly status?: "open" | "resolved" | "all" | undefined;
    readonly search?: string | undefined;
    readonly neg_risk?: boolean | undefined;
    readonly event_id?: readonly string[] | undefined;
    readonly neg_risk_market_id?: readonly string[] | undefined;
    readonly category?: readonly string[] | undefined;
    readonly tag?: readonly string[] | undefined;
    readonly condition_id?: readonly string[] | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly min_volume?: string | undefined;
    readonly min_volume_24h?: string | undefined;
    readonly sort?: "volume_24h" | "volume" | "created_at" | "end_date" | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "event_id" | "title" | "slug" | "category" | "tags" | "neg_risk" | "neg_risk_market_id" | "status" | "created_at" | "created_at_ms" | "end_date" | "market_count" | "markets" | "volume_usd" | "volume_24h_usd" | "trades" | "trades_24h" | "last_trade_at" | "last_trade_at_ms" | "price_sum" | "metadata_source")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Event[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/events/{id}: Get an event. */
export type GetEvent = {
  readonly query: {
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: Event;
    readonly meta: Meta;
  };
};

/** GET /v1/tags: List tags. */
export type ListTags = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("name" | "market_count" | "open_market_count" | "volume_24h_usd")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Tag[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/categories: List categories. */
export type ListCategories = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("name" | "market_count" | "open_market_count" | "volume_24h_usd")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Tag[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/trades: List trades. */
export type ListTrades = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly side?: "BUY" | "SELL" | undefined;
    readonly min_size?: string | undefined;
    readonly max_size?: string | undefined;
    readonly min_value?: string | undefined;
    readonly maker?: string | undefined;
    readonly taker?: string | undefined;
    readonly wallet?: string | undefined;
    readonly condition_id?: string | undefined;
    readonly builder?: string | undefined;
    readonly include?: "market" | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly match_type?: "complementary" | "mint" | "merge" | "direct" | undefined;
    readonly min_price?: string | undefined;
    readonly max_price?: string | undefined;
    readonly sort?: "time" | "value" | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly neg_risk_market_id?: string | undefined;
    readonly slug?: readonly string[] | undefined;
    readonly event_id?: readonly string[] | undefined;
    readonly category?: readonly string[] | undefined;
    readonly tag?: readonly string[] | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "token_id" | "complement_token_id" | "condition_id" | "outcome" | "outcome_index" | "side" | "price" | "size" | "value_usd" | "maker_fee" | "maker_fee_net" | "maker_fee_asset" | "match_seq" | "maker" | "taker" | "maker_side" | "maker_token_id" | "match_type" | "maker_order_hash" | "taker_order_hash" | "exchange" | "exchange_version" | "exchange_address" | "module" | "builder" | "metadata" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status" | "maker_amount_raw" | "taker_amount_raw" | "question" | "slug" | "event_id")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Trade[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/trades/market/{token_id}: List trades of a token. */
export type ListTokenTrades = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly side?: "BUY" | "SELL" | undefined;
    readonly min_size?: string | undefined;
    readonly max_size?: string | undefined;
    readonly min_value?: string | undefined;
    readonly maker?: string | undefined;
    readonly taker?: string | undefined;
    readonly wallet?: string | undefined;
    readonly condition_id?: string | undefined;
    readonly builder?: string | undefined;
    readonly include?: "market" | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly match_type?: "complementary" | "mint" | "merge" | "direct" | undefined;
    readonly min_price?: string | undefined;
    readonly max_price?: string | undefined;
    readonly sort?: "time" | "value" | undefined;
    readonly include_complement?: boolean | undefined;
    readonly include_mirror?: boolean | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "token_id" | "complement_token_id" | "condition_id" | "outcome" | "outcome_index" | "side" | "price" | "size" | "value_usd" | "maker_fee" | "maker_fee_net" | "maker_fee_asset" | "match_seq" | "maker" | "taker" | "maker_side" | "maker_token_id" | "match_type" | "maker_order_hash" | "taker_order_hash" | "exchange" | "exchange_version" | "exchange_address" | "module" | "builder" | "metadata" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status" | "maker_amount_raw" | "taker_amount_raw" | "question" | "slug" | "event_id")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Trade[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/fills: List fills. */
export type ListFills = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly side?: "BUY" | "SELL" | undefined;
    readonly min_size?: string | undefined;
    readonly max_size?: string | undefined;
    readonly min_value?: string | undefined;
    readonly maker?: string | undefined;
    readonly taker?: string | undefined;
    readonly wallet?: string | undefined;
    readonly condition_id?: string | undefined;
    readonly builder?: string | undefined;
    readonly include?: "market" | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly neg_risk_market_id?: string | undefined;
    readonly slug?: readonly string[] | undefined;
    readonly event_id?: readonly string[] | undefined;
    readonly category?: readonly string[] | undefined;
    readonly tag?: readonly string[] | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "role" | "order_hash" | "maker" | "taker" | "side" | "token_id" | "complement_token_id" | "condition_id" | "outcome" | "outcome_index" | "maker_amount_raw" | "taker_amount_raw" | "fee" | "fee_net" | "fee_asset" | "match_seq" | "exchange" | "exchange_version" | "exchange_address" | "module" | "builder" | "metadata" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status" | "question" | "slug" | "event_id")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Fill[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/matches: List matches. */
export type ListMatches = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly side?: "BUY" | "SELL" | undefined;
    readonly min_size?: string | undefined;
    readonly max_size?: string | undefined;
    readonly min_value?: string | undefined;
    readonly taker?: string | undefined;
    readonly condition_id?: string | undefined;
    readonly builder?: string | undefined;
    readonly include?: "market" | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly neg_risk_market_id?: string | undefined;
    readonly slug?: readonly string[] | undefined;
    readonly event_id?: readonly string[] | undefined;
    readonly category?: readonly string[] | undefined;
    readonly tag?: readonly string[] | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "taker_fill_seq" | "token_id" | "complement_token_id" | "condition_id" | "outcome" | "outcome_index" | "side" | "price" | "size" | "value_usd" | "legs" | "taker" | "taker_order_hash" | "taker_fee" | "taker_fee_net" | "taker_fee_asset" | "exchange" | "exchange_version" | "exchange_address" | "module" | "builder" | "metadata" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status" | "maker_amount_raw" | "taker_amount_raw" | "question" | "slug" | "event_id")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Match[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/cancellations: List cancellations. */
export type ListCancellations = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly order_hash?: string | undefined;
    readonly user?: string | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly kind?: "order_cancelled" | "order_preapproval_invalidated" | "user_paused" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "kind" | "order_hash" | "user" | "effective_block" | "exchange" | "exchange_version" | "exchange_address" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Cancellation[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/exchange-events: List other exchange events. */
export type ListExchangeEvents = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly order_hash?: string | undefined;
    readonly user?: string | undefined;
    readonly exchange?: "standard" | "neg_risk" | undefined;
    readonly kind?: "order_cancelled" | "order_preapproved" | "order_preapproval_invalidated" | "user_paused" | "user_unpaused" | "user_pause_interval_updated" | "trading_paused" | "trading_unpaused" | "role_changed" | "fee_receiver_updated" | "max_fee_rate_updated" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "kind" | "order_hash" | "user" | "effective_block" | "by" | "account" | "role" | "granted" | "old_interval_blocks" | "new_interval_blocks" | "fee_receiver" | "max_fee_rate_bps" | "exchange" | "exchange_version" | "exchange_address" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly {
      readonly id: string;
      readonly seq: Seq;
      readonly kind: "order_cancelled" | "order_preapproved" | "order_preapproval_invalidated" | "user_paused" | "user_unpaused" | "user_pause_interval_updated" | "trading_paused" | "trading_unpaused" | "role_changed" | "fee_receiver_updated" | "max_fee_rate_updated";
      readonly order_hash: Hash | null;
      readonly user: Address | null;
      readonly effective_block: number | null;
      readonly by: Address | null;
      readonly account: Address | null;
      readonly role: "admin" | "operator" | null;
      readonly granted: boolean | null;
      readonly old_interval_blocks: number | null;
      readonly new_interval_blocks: number | null;
      readonly fee_receiver: Address | null;
      readonly max_fee_rate_bps: number | null;
      readonly exchange: "standard" | "neg_risk";
      readonly exchange_version: 1 | 2 | 3;
      readonly exchange_address: Address;
      readonly block_number: number;
      readonly block_hash: Hash;
      readonly log_index: number;
      readonly tx_hash: Hash;
      readonly timestamp: Time;
      readonly timestamp_ms: Milliseconds;
      readonly status: "confirmed" | "finalized";
    }[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/resolutions: List resolutions. */
export type ListResolutions = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly condition_id?: string | undefined;
    readonly neg_risk_market_id?: string | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "derived" | "condition_id" | "question_id" | "oracle" | "payouts" | "winning_token_id" | "winning_outcome" | "mirror_resolution" | "block_number" | "block_hash" | "log_index" | "tx_hash" | "timestamp" | "timestamp_ms" | "status")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Resolution[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/orders/{order_hash}: Get an order. */
export type GetOrder = {
  readonly query: {
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: {
      readonly order_hash: Hash;
      readonly truncated: boolean;
      readonly fills: readonly Fill[];
      readonly cancellations: readonly Cancellation[];
    };
    readonly meta: Meta;
  };
};

/** GET /v1/transactions/{tx_hash}: Get a transaction. */
export type GetTransaction = {
  readonly query: {
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: {
      readonly tx_hash: Hash;
      readonly block_number: number;
      readonly block_hash: Hash;
      readonly timestamp: Time;
      readonly timestamp_ms: Milliseconds;
      readonly status: "confirmed" | "finalized";
      readonly truncated: boolean;
      readonly trades: readonly Trade[];
      readonly matches: readonly Match[];
      readonly fills: readonly Fill[];
      readonly resolutions: readonly Resolution[];
      readonly exchange_events: readonly {
        readonly id: string;
        readonly seq: Seq;
        readonly kind: "order_cancelled" | "order_preapproved" | "order_preapproval_invalidated" | "user_paused" | "user_unpaused" | "user_pause_interval_updated" | "trading_paused" | "trading_unpaused" | "role_changed" | "fee_receiver_updated" | "max_fee_rate_updated";
        readonly order_hash: Hash | null;
        readonly user: Address | null;
        readonly effective_block: number | null;
        readonly by: Address | null;
        readonly account: Address | null;
        readonly role: "admin" | "operator" | null;
        readonly granted: boolean | null;
        readonly old_interval_blocks: number | null;
        readonly new_interval_blocks: number | null;
        readonly fee_receiver: Address | null;
        readonly max_fee_rate_bps: number | null;
        readonly exchange: "standard" | "neg_risk";
        readonly exchange_version: 1 | 2 | 3;
        readonly exchange_address: Address;
        readonly block_number: number;
        readonly block_hash: Hash;
        readonly log_index: number;
        readonly tx_hash: Hash;
        readonly timestamp: Time;
        readonly timestamp_ms: Milliseconds;
        readonly status: "confirmed" | "finalized";
      }[];
      readonly other_events: readonly {
        readonly id: string;
        readonly seq: Seq;
        readonly log_index: number;
        readonly kind: string;
        readonly address: Address;
        readonly subject: Hash | null;
      }[];
    };
    readonly meta: Meta;
  };
};

/** GET /v1/wallets/{address}: Get a wallet. */
export type GetWallet = {
  readonly query: {
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: {
      readonly address: Address;
      readonly kind: "wallet" | "contract";
      readonly label: string | null;
      readonly complete: boolean;
      readonly cost_complete: boolean;
      readonly positions_open: number;
      readonly positions_total: number;
      readonly positions_incomplete: number;
      readonly markets: number;
      readonly value_usd: Decimal | null;
      readonly redeemable_usd: Decimal | null;
      readonly realized_pnl: Decimal | null;
      readonly unrealized_pnl: Decimal | null;
      readonly total_pnl: Decimal | null;
      readonly unknown_proceeds_usd: Decimal | null;
      readonly fees_usd: Decimal;
      readonly trades: number;
      readonly maker_trades: number;
      readonly taker_trades: number;
      readonly volume_usd: string;
      readonly volume_maker_usd: Decimal;
      readonly volume_taker_usd: Decimal;
      readonly first_seen: Time | null;
      readonly first_seen_ms: Milliseconds | null;
      readonly last_active: Time | null;
      readonly last_active_ms: Milliseconds | null;
      readonly first_trade_at: Time | null;
      readonly first_trade_at_ms: Milliseconds | null;
      readonly last_trade_at: Time | null;
      readonly last_trade_at_ms: Milliseconds | null;
      readonly top_markets: readonly {
        readonly condition_id: ConditionId | null;
        readonly question: string | null;
        readonly slug: string | null;
        readonly event_id: string | null;
        readonly trades: number;
        readonly volume_usd: string;
        readonly last_trade_at: Time;
        readonly last_trade_at_ms: Milliseconds;
      }[];
    };
    readonly meta: Meta;
  };
};

/** GET /v1/wallets/{address}/positions: List positions of a wallet. */
export type ListPositions = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly status?: "open" | "redeemable" | "lost" | "closed" | "all" | undefined;
    readonly condition_id?: string | undefined;
    readonly token_id?: string | undefined;
    readonly event_id?: string | undefined;
    readonly min_size?: string | undefined;
    readonly sort?: "value" | "size" | "realized_pnl" | "unrealized_pnl" | "total_pnl" | "last_active" | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("token_id" | "complement_token_id" | "condition_id" | "outcome" | "outcome_index" | "question" | "slug" | "event_id" | "neg_risk" | "complete" | "cost_complete" | "size" | "size_raw" | "cost_known_size" | "avg_price" | "cost_usd" | "fees_usd" | "price" | "value_usd" | "realized_pnl" | "unrealized_pnl" | "total_pnl" | "unknown_proceeds_usd" | "bought" | "sold" | "status" | "mergeable_size" | "payout" | "first_seen" | "first_seen_ms" | "last_active" | "last_active_ms" | "last_seq")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Position[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/wallets/{address}/activity: List activity of a wallet. */
export type ListActivity = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "desc" | "asc" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly from_block?: number | undefined;
    readonly to_block?: number | undefined;
    readonly after_seq?: number | undefined;
    readonly status?: "confirmed" | "finalized" | undefined;
    readonly tx_hash?: string | undefined;
    readonly kind?: readonly ("trade" | "fee_refund" | "split" | "merge" | "redeem" | "convert" | "hsplit" | "hmerge" | "wrap" | "unwrap" | "compress" | "migrate" | "transfer_in" | "transfer_out")[] | undefined;
    readonly side?: "BUY" | "SELL" | undefined;
    readonly role?: "maker" | "taker" | "operator" | undefined;
    readonly condition_id?: string | undefined;
    readonly token_id?: readonly string[] | undefined;
    readonly min_value?: string | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("id" | "seq" | "wallet" | "kind" | "role" | "side" | "tokens" | "tokens_truncated" | "condition_id" | "question" | "slug" | "event_id" | "price" | "cash_usd" | "fee_usd" | "fee_shares" | "counterparty" | "via" | "tx_hash" | "block_number" | "log_index" | "timestamp" | "timestamp_ms" | "status")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Activity[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/wallets/{address}/pnl: List profit of a wallet. */
export type ListPnl = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly resolution?: "1h" | "1d" | "1w" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("timestamp" | "timestamp_ms" | "complete" | "cost_complete" | "realized_pnl" | "fees_usd" | "volume_usd" | "trades" | "cumulative_realized_pnl" | "cumulative_fees_usd" | "cumulative_volume_usd" | "cumulative_trades")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly ProfitBucket[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/price/{token_id}: Get a price. */
export type GetPrice = {
  readonly query: {
    readonly include_mirror?: boolean | undefined;
    readonly at?: string | number | undefined;
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: Price | PastPrice;
    readonly meta: Meta;
  };
};

/** GET /v1/price: List prices. */
export type ListPrices = {
  readonly query: {
    readonly token_ids: readonly string[];
    readonly include_mirror?: boolean | undefined;
    readonly at?: string | number | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("token_id" | "price" | "price_source" | "last_trade" | "best_bid" | "best_ask" | "mid" | "spread" | "stats_24h" | "complement" | "resolved" | "settlement_price" | "timestamp" | "timestamp_ms" | "as_of")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly (Price | PastPrice)[];
    readonly not_found: readonly string[];
    readonly pagination: Pagination;
    readonly meta: Meta;
  };
};

/** GET /v1/candles/{token_id}: List candles. */
export type ListCandles = {
  readonly query: {
    readonly resolution?: "1m" | "5m" | "15m" | "1h" | "4h" | "1d" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly fill?: "none" | "previous" | undefined;
    readonly source?: "pair" | "own" | undefined;
    readonly include_mirror?: boolean | undefined;
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("timestamp" | "timestamp_ms" | "open" | "high" | "low" | "close" | "volume_shares" | "volume_usd" | "buy_volume_usd" | "sell_volume_usd" | "trades" | "vwap" | "closed" | "filled")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Candle[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
      readonly resolution: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
      readonly first_candle_ms: Milliseconds | null;
      readonly settlement: {
        readonly price: Decimal;
        readonly timestamp_ms: Milliseconds;
      } | null;
    };
  };
};

/** GET /v1/stats: List totals of the platform. */
export type ListStats = {
  readonly query: {
    readonly format?: "json" | "ndjson" | "csv" | "parquet" | "arrow" | undefined;
    readonly limit?: number | undefined;
    readonly resolution?: "1h" | "1d" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly exchange_version?: number | undefined;
    readonly category?: readonly string[] | undefined;
    readonly builder?: string | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("timestamp" | "timestamp_ms" | "trades" | "volume_usd" | "fees_usd" | "active_markets" | "traders" | "new_markets" | "resolved_markets")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly Stats[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/candles: List candles of tokens. */
export type ListManyCandles = {
  readonly query: {
    readonly token_ids: readonly string[];
    readonly resolution?: "1m" | "5m" | "15m" | "1h" | "4h" | "1d" | undefined;
    readonly start?: string | number | undefined;
    readonly end?: string | number | undefined;
    readonly fill?: "none" | "previous" | undefined;
    readonly source?: "pair" | "own" | undefined;
    readonly include_mirror?: boolean | undefined;
    readonly limit?: number | undefined;
    readonly min_seq?: number | undefined;
    readonly fields?: readonly ("token_id" | "candles")[] | undefined;
  };
  readonly answer: {
    readonly data: readonly {
      readonly token_id: TokenId;
      readonly candles: readonly Candle[];
    }[];
    readonly not_found: readonly string[];
    readonly pagination: Pagination;
    readonly meta: {
      readonly request_id: string;
      readonly first_block: number | null;
      readonly first_timestamp_ms: number | null;
      readonly indexed_block: number | null;
      readonly indexed_seq: number | null;
      readonly head_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_seconds: number | null;
      readonly truncated_at_start?: boolean;
    };
  };
};

/** GET /v1/orderbook/{token_id}: Get an order book. */
export type GetOrderbook = {
  readonly query: {
    readonly depth?: number | undefined;
    readonly min_seq?: number | undefined;
  };
  readonly answer: {
    readonly data: OrderBook;
    readonly meta: Meta;
  };
};

/** GET /v1/health: Check health. */
export type GetHealth = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly status: "ok";
    readonly version: string;
    readonly uptime_seconds: number;
  };
};

/** GET /v1/ready: Check readiness. */
export type GetReady = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly status: "ready" | "not_ready";
    readonly role: "serve" | "index" | "api";
    readonly checks: { readonly [name: string]: {
      readonly ok: boolean;
      readonly detail: string;
    } };
  };
};

/** GET /v1/metrics: Get metrics. */
export type GetMetrics = {
  readonly query: {
    readonly include?: "history" | undefined;
  };
  readonly answer: {
    readonly uptime_seconds: number;
    readonly version: string;
    readonly role: "serve" | "index" | "api";
    readonly indexer: {
      readonly chain_id: number;
      readonly head_block: number | null;
      readonly indexed_block: number | null;
      readonly finalized_block: number | null;
      readonly lag_blocks: number | null;
      readonly lag_seconds: number | null;
      readonly head_age_seconds: number | null;
      readonly block_arrival_seconds: number | null;
      readonly coverage: {
        readonly from_block: number;
        readonly to_block: number;
      } | null;
      readonly gaps: number | null;
      readonly unfinalized_blocks: number;
      readonly warnings: readonly string[];
      readonly events: { readonly [name: string]: number };
      readonly trades: number;
      readonly events_per_second: number | null;
      readonly match_anomalies: { readonly [name: string]: number };
      readonly ledger_rows: { readonly [name: string]: number };
      readonly quarantined_logs: { readonly [name: string]: number };
      readonly reorgs: number;
      readonly deepest_reorg_blocks: number;
      readonly bloom_false_positives: number;
      readonly unknown_contracts: number;
      readonly audit: {
        readonly ranges: number;
        readonly blocks: number;
        readonly rounds: number;
        readonly round_progress_ratio: number;
        readonly from_block: number | null;
        readonly to_block: number | null;
        readonly mismatches: number;
        readonly false_alarms: number;
        readonly repairs: number;
        readonly unverified_ranges: number;
        readonly corrupt_ranges: number;
      };
      readonly backfill: {
        readonly from_block: number;
        readonly to_block: number;
        readonly progress_ratio: number;
        readonly blocks_per_second: number | null;
        readonly remaining_seconds: number | null;
      } | null;
      readonly endpoints: readonly {
        readonly host: string;
        readonly requests: number;
        readonly calls: number;
        readonly errors: number;
        readonly rate_limited: number;
        readonly invalid_responses: number;
        readonly latency_ms: number | null;
        readonly breaker_state: "closed" | "open" | "half_open";
        readonly calls_per_second_max: number | null;
        readonly range_blocks: number;
        readonly range_blocks_max: number | null;
        readonly head_block: number | null;
      }[];
    };
    readonly api: {
      readonly requests: number;
      readonly errors: number;
      readonly refusals: { readonly [name: string]: number };
      readonly access_changes: { readonly [name: string]: number };
      readonly routes: readonly {
        readonly method: string;
        readonly route: string;
        readonly statuses: { readonly [name: string]: number };
        readonly p50_ms: number | null;
        readonly p95_ms: number | null;
        readonly p99_ms: number | null;
      }[];
    };
    readonly stream: {
      readonly connections: number;
      readonly subscriptions: number;
      readonly messages: number;
      readonly sent_bytes: number;
      readonly replayed_messages: number;
      readonly slow_closes: number;
    };
    readonly store: {
      readonly tables: readonly {
        readonly table: string;
        readonly rows: number;
        readonly bytes: number;
        readonly parts: number;
      }[] | null;
      readonly queries: {
        readonly count: number;
        readonly failures: number;
        readonly p50_ms: number | null;
        readonly p95_ms: number | null;
        readonly p99_ms: number | null;
      };
      readonly inserts: {
        readonly count: number;
        readonly failures: number;
        readonly p50_ms: number | null;
        readonly p95_ms: number | null;
        readonly p99_ms: number | null;
      };
      readonly answered_by: readonly {
        readonly query: string;
        readonly source: string;
        readonly answers: number;
      }[];
    };
    readonly cluster: {
      readonly indexer_active: boolean;
      readonly active_node: string | null;
      readonly feed_term: number | null;
      readonly feed_age_seconds: number | null;
      readonly feed_has_gap: boolean;
      readonly indexer_open_claims: number;
      readonly redis_up: boolean;
      readonly redis_down_seconds: number;
    } | null;
    readonly access: {
      readonly key_version: number;
      readonly keys_verified: number;
      readonly live_nodes: number;
      readonly clock_offset_seconds: number | null;
      readonly limits_inexact_seconds: number | null;
    } | null;
    readonly books: {
      readonly source: string;
      readonly in_memory: number;
      readonly stale: number;
      readonly followed: number;
      readonly hash_check_enabled: { readonly [name: string]: number };
      readonly resyncs: { readonly [name: string]: number };
      readonly changes: number;
      readonly snapshots: number;
      readonly unreadable: number;
      readonly hashes_proven: { readonly [name: string]: number };
      readonly hash_false_positives: { readonly [name: string]: number };
      readonly requests: number;
      readonly errors: { readonly [name: string]: number };
      readonly connections_open: number;
      readonly connections: number;
    } | null;
    readonly market_metadata: {
      readonly markets: number;
      readonly markets_missing: number;
      readonly age_seconds: number | null;
      readonly up: boolean;
      readonly tokens_unknown: number;
      readonly claims_refused: number;
      readonly contradictions: { readonly [name: string]: number };
      readonly requests: number;
      readonly pages: number;
      readonly unreadable: number;
      readonly errors: { readonly [name: string]: number };
    } | null;
    readonly process: {
      readonly memory: {
        readonly resident_memory_bytes: number;
        readonly heap_used_bytes: number;
        readonly heap_total_bytes: number;
        readonly external_memory_bytes: number;
      };
      readonly open_fds: number | null;
      readonly cpu_user_seconds: number;
      readonly cpu_system_seconds: number;
      readonly event_loop_lag: {
        readonly p50_ms: number;
        readonly p99_ms: number;
        readonly max_ms: number;
      };
      readonly garbage_collections: number;
      readonly garbage_collection_seconds: number;
    };
    readonly history?: readonly {
      readonly timestamp_ms: number;
      readonly lag_seconds: number | null;
      readonly events_per_second: number | null;
      readonly stream_connections: number;
      readonly resident_memory_bytes: number;
      readonly event_loop_lag_p99_ms: number;
      readonly query_p99_ms: number | null;
    }[];
  };
};

/** POST /v1/keys: Create a key. */
export type CreateKey = {
  readonly query: Readonly<Record<string, never>>;
  readonly body: {
    readonly name: string;
    readonly scope?: "read" | "write" | "admin";
    readonly expires_at?: string | number;
    readonly allowed_ips?: readonly string[];
  };
  readonly answer: {
    readonly data: IssuedKey;
    readonly meta: Meta;
  };
};

/** GET /v1/keys: List keys. */
export type ListKeys = {
  readonly query: {
    readonly limit?: number | undefined;
  };
  readonly answer: {
    readonly data: readonly Key[];
    readonly pagination: Pagination;
    readonly meta: Meta;
  };
};

/** GET /v1/keys/{id}: Get a key. */
export type GetKey = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly data: Key;
    readonly meta: Meta;
  };
};

/** DELETE /v1/keys/{id}: Revoke a key. */
export type RevokeKey = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly message: "Key revoked";
  };
};

/** POST /v1/keys/{id}/rotate: Rotate a key. */
export type RotateKey = {
  readonly query: Readonly<Record<string, never>>;
  readonly body: {
    readonly grace_seconds?: number;
  };
  readonly answer: {
    readonly data: IssuedKey;
    readonly meta: Meta;
  };
};

/** GET /v1/ip-blocks: List blocked IPs. */
export type ListIpBlocks = {
  readonly query: {
    readonly limit?: number | undefined;
  };
  readonly answer: {
    readonly data: readonly {
      readonly ip: string;
      readonly reason: "failed_authentication" | "abuse";
      readonly offenses: number;
      readonly blocked_at: string;
      readonly blocked_until: string;
    }[];
    readonly pagination: Pagination;
    readonly meta: Meta;
  };
};

/** DELETE /v1/ip-blocks/{ip}: Unblock an IP. */
export type UnblockIp = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly message: "IP unblocked";
  };
};

/** GET /v1/lake: Get the lake. */
export type GetLake = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly layout: number;
    readonly created_by: string;
    readonly chain_id: number;
    readonly contracts: string;
    readonly events: string;
    readonly first_block: number;
    readonly last_block: {
      readonly number: number;
      readonly hash: string;
      readonly timestamp: number;
    };
    readonly slices: readonly {
      readonly date: string;
      readonly from_block: number;
      readonly last_block: {
        readonly number: number;
        readonly hash: string;
        readonly timestamp: number;
      };
      readonly files: { readonly [name: string]: {
        readonly path: string;
        readonly rows: number;
        readonly bytes: number;
        readonly sha256: string;
        readonly first_seq: number | null;
        readonly last_seq: number | null;
      } };
    }[];
    readonly repairs?: readonly string[];
    readonly markets: {
      readonly path: string;
      readonly rows: number;
      readonly bytes: number;
      readonly sha256: string;
      readonly first_seq: number | null;
      readonly last_seq: number | null;
    } | null;
    readonly signature?: {
      readonly algorithm: "ed25519";
      readonly public_key: string;
      readonly value: string;
    };
  };
};

/** GET /v1/lake/manifest.json: Get the manifest as a file. */
export type GetLakeManifest = {
  readonly query: Readonly<Record<string, never>>;
  readonly answer: {
    readonly layout: number;
    readonly created_by: string;
    readonly chain_id: number;
    readonly contracts: string;
    readonly events: string;
    readonly first_block: number;
    readonly last_block: {
      readonly number: number;
      readonly hash: string;
      readonly timestamp: number;
    };
    readonly slices: readonly {
      readonly date: string;
      readonly from_block: number;
      readonly last_block: {
        readonly number: number;
        readonly hash: string;
        readonly timestamp: number;
      };
      readonly files: { readonly [name: string]: {
        readonly path: string;
        readonly rows: number;
        readonly bytes: number;
        readonly sha256: string;
        readonly first_seq: number | null;
        readonly last_seq: number | null;
      } };
    }[];
    readonly repairs?: readonly string[];
    readonly markets: {
      readonly path: string;
      readonly rows: number;
      readonly bytes: number;
      readonly sha256: string;
      readonly first_seq: number | null;
      readonly last_seq: number | null;
    } | null;
    readonly signature?: {
      readonly algorithm: "ed25519";
      readonly public_key: string;
      readonly value: string;
    };
  };
};
