"""
The shapes of the API, made from the schemas that the service runs on by `npm run docs`; a test compares the two.

Decimals, token ids and raw amounts are text, so that no digit is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

#: ERC-1155 outcome token id, a decimal below 2^256.
TokenId: TypeAlias = str


#: Condition id; 62 digits for Protocol V2, 64 before.
ConditionId: TypeAlias = str


#: An account or contract, lower-case hex.
Address: TypeAlias = str


#: 32 bytes as lower-case hex.
Hash: TypeAlias = str


#: An exact decimal with at most 6 fractional digits.
DecimalText: TypeAlias = str


#: The raw amount of the event, an integer of 10^-6 units.
RawAmount: TypeAlias = str


#: Position on the chain: block_number * 1000000 + log_index.
Seq: TypeAlias = int


#: RFC 3339, UTC.
Time: TypeAlias = str


#: Unix milliseconds.
Milliseconds: TypeAlias = int


class MarketResolution(TypedDict):
    payouts: list[DecimalText]
    winning_token_id: TokenId | None
    winning_outcome: str | None
    tx_hash: Hash
    block_number: int
    seq: Seq


class MarketToken(TypedDict):
    token_id: TokenId
    outcome: str | None
    outcome_index: int
    complement_token_id: TokenId | None
    price: DecimalText | None
    winner: bool | None


class MarketMirrorToken(TypedDict):
    token_id: TokenId
    outcome: str | None
    outcome_index: int
    price: DecimalText | None


class MarketMirrorResolution(TypedDict):
    payouts: list[DecimalText]
    winning_token_id: TokenId | None
    winning_outcome: str | None
    tx_hash: Hash
    block_number: int
    seq: Seq


class MarketMirror(TypedDict):
    condition_id: ConditionId
    tokens: list[MarketMirrorToken]
    created_at: Time
    created_at_ms: Milliseconds
    registered_block: int | None
    resolution: MarketMirrorResolution | None


class MarketLeg(TypedDict):
    token_id: TokenId
    condition_id: ConditionId | None
    question: str | None
    outcome: str | None
    payout: DecimalText | None


class MarketEvent(TypedDict):
    """Id, title and slug of the event of the market."""

    id: str
    title: str | None
    slug: str | None


class Market(TypedDict):
    id: ConditionId
    question_id: Hash | None
    question: str | None
    description: str | None
    slug: str | None
    category: str | None
    tags: list[str]
    event_id: str | None
    event_slug: str | None
    image: str | None
    neg_risk: bool
    neg_risk_market_id: Hash | None
    oracle: Address | None
    exchange_versions: list[Literal[1, 2, 3]]
    status: Literal["open", "resolved"]
    active: bool
    outcome_count: int
    created_at: Time
    created_at_ms: Milliseconds
    created_block: int | None
    start_date: Time | None
    end_date: Time | None
    resolved_at: Time | None
    resolved_at_ms: Milliseconds | None
    resolution: MarketResolution | None
    tokens: list[MarketToken]
    mirror: MarketMirror | None
    legs: list[MarketLeg] | None
    legs_payout: DecimalText | None
    volume_usd: DecimalText
    volume_shares: DecimalText
    trades: int
    volume_24h_usd: DecimalText
    trades_24h: int
    last_trade_at: Time | None
    last_trade_at_ms: Milliseconds | None
    change_24h: DecimalText | None
    liquidity_usd: DecimalText | None
    open_interest_usd: DecimalText | None
    metadata_source: Literal["chain", "chain_untrusted", "venue", "none"]
    event: NotRequired[MarketEvent | None]


class EventMarketToken(TypedDict):
    token_id: TokenId
    outcome: str | None
    outcome_index: int
    complement_token_id: TokenId | None
    price: DecimalText | None
    winner: bool | None


class EventMarket(TypedDict):
    id: ConditionId
    question: str | None
    slug: str | None
    outcome_label: str | None
    status: Literal["open", "resolved"]
    tokens: list[EventMarketToken]
    volume_usd: DecimalText
    volume_24h_usd: DecimalText


class Event(TypedDict):
    id: str
    event_id: str | None
    title: str | None
    slug: str | None
    category: str | None
    tags: list[str]
    neg_risk: bool
    neg_risk_market_id: Hash | None
    status: Literal["open", "resolved"]
    created_at: Time
    created_at_ms: Milliseconds
    end_date: Time | None
    market_count: int
    markets: list[EventMarket]
    volume_usd: DecimalText
    volume_24h_usd: DecimalText
    trades: int
    trades_24h: int
    last_trade_at: Time | None
    last_trade_at_ms: Milliseconds | None
    price_sum: DecimalText | None
    metadata_source: Literal["chain", "chain_untrusted", "venue", "none"]


class Tag(TypedDict):
    name: str
    market_count: int
    open_market_count: int
    volume_24h_usd: DecimalText


class Position(TypedDict):
    token_id: TokenId
    complement_token_id: TokenId | None
    condition_id: ConditionId | None
    outcome: str | None
    outcome_index: int | None
    question: str | None
    slug: str | None
    event_id: str | None
    neg_risk: bool | None
    complete: bool
    cost_complete: bool
    size: DecimalText | None
    size_raw: RawAmount | None
    cost_known_size: DecimalText | None
    avg_price: DecimalText | None
    cost_usd: DecimalText | None
    fees_usd: DecimalText | None
    price: DecimalText | None
    value_usd: DecimalText | None
    realized_pnl: DecimalText | None
    unrealized_pnl: DecimalText | None
    total_pnl: DecimalText | None
    unknown_proceeds_usd: DecimalText | None
    bought: DecimalText | None
    sold: DecimalText | None
    status: Literal["open", "redeemable", "lost", "closed"]
    mergeable_size: DecimalText | None
    payout: DecimalText | None
    first_seen: Time
    first_seen_ms: Milliseconds
    last_active: Time
    last_active_ms: Milliseconds
    last_seq: Seq


class ActivityToken(TypedDict):
    token_id: TokenId
    condition_id: ConditionId | None
    outcome: str | None
    size: DecimalText


class Activity(TypedDict):
    id: str
    seq: Seq
    wallet: Address
    kind: Literal[
        "trade",
        "fee_refund",
        "split",
        "merge",
        "redeem",
        "convert",
        "hsplit",
        "hmerge",
        "wrap",
        "unwrap",
        "compress",
        "migrate",
        "transfer_in",
        "transfer_out",
    ]
    role: Literal["maker", "taker", "operator"] | None
    side: Literal["BUY", "SELL"] | None
    tokens: list[ActivityToken]
    tokens_truncated: bool
    condition_id: ConditionId | None
    question: str | None
    slug: str | None
    event_id: str | None
    price: DecimalText | None
    cash_usd: DecimalText
    fee_usd: DecimalText
    fee_shares: DecimalText
    counterparty: Address | None
    via: Address | None
    tx_hash: Hash
    block_number: int
    log_index: int
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class ProfitBucket(TypedDict):
    timestamp: Time
    timestamp_ms: Milliseconds
    complete: bool
    cost_complete: bool
    realized_pnl: DecimalText | None
    fees_usd: DecimalText
    volume_usd: DecimalText
    trades: int
    cumulative_realized_pnl: DecimalText | None
    cumulative_fees_usd: DecimalText
    cumulative_volume_usd: DecimalText
    cumulative_trades: int


class Holder(TypedDict):
    rank: int
    address: Address
    label: str | None
    token_id: TokenId
    outcome: str | None
    outcome_index: int | None
    size: DecimalText
    share_of_supply: DecimalText | None
    value_usd: DecimalText | None
    avg_price: NotRequired[DecimalText | None]
    cost_complete: NotRequired[bool]
    realized_pnl: NotRequired[DecimalText | None]
    unrealized_pnl: NotRequired[DecimalText | None]


class OpenInterest(TypedDict):
    timestamp: Time
    timestamp_ms: Milliseconds
    complete: bool
    supply: list[DecimalText] | None
    open_interest_usd: DecimalText | None
    collateral_usd: DecimalText | None
    minted: DecimalText
    burnt: DecimalText


class TotalOpenInterest(TypedDict):
    timestamp: Time
    timestamp_ms: Milliseconds
    complete: bool
    open_interest_usd: DecimalText | None
    standard_usd: DecimalText | None
    neg_risk_usd: DecimalText | None
    protocol_v2_usd: DecimalText | None
    minted_usd: DecimalText
    burnt_usd: DecimalText


class MarketOpenInterest(TypedDict):
    condition_id: ConditionId
    complete: bool
    supply: list[DecimalText] | None
    open_interest_usd: DecimalText | None
    collateral_usd: DecimalText | None


class Trade(TypedDict):
    id: str
    seq: Seq
    token_id: TokenId
    complement_token_id: TokenId | None
    condition_id: ConditionId | None
    outcome: str | None
    outcome_index: int | None
    side: Literal["BUY", "SELL"]
    price: DecimalText | None
    size: DecimalText
    value_usd: DecimalText
    maker_fee: DecimalText
    maker_fee_net: DecimalText
    maker_fee_asset: Literal["collateral", "token"]
    match_seq: Seq | None
    maker: Address
    taker: Address
    maker_side: Literal["BUY", "SELL"]
    maker_token_id: TokenId
    match_type: Literal["complementary", "mint", "merge", "direct"]
    maker_order_hash: Hash
    taker_order_hash: Hash | None
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    module: Literal["binary", "neg_risk", "combinatorial"] | None
    builder: Hash | None
    metadata: Hash | None
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]
    maker_amount_raw: RawAmount
    taker_amount_raw: RawAmount
    question: NotRequired[str | None]
    slug: NotRequired[str | None]
    event_id: NotRequired[str | None]


class Fill(TypedDict):
    id: str
    seq: Seq
    role: Literal["maker", "taker", "direct"]
    order_hash: Hash
    maker: Address
    taker: Address
    side: Literal["BUY", "SELL"]
    token_id: TokenId
    complement_token_id: TokenId | None
    condition_id: ConditionId | None
    outcome: str | None
    outcome_index: int | None
    maker_amount_raw: RawAmount
    taker_amount_raw: RawAmount
    fee: DecimalText
    fee_net: DecimalText
    fee_asset: Literal["collateral", "token"]
    match_seq: Seq | None
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    module: Literal["binary", "neg_risk", "combinatorial"] | None
    builder: Hash | None
    metadata: Hash | None
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]
    question: NotRequired[str | None]
    slug: NotRequired[str | None]
    event_id: NotRequired[str | None]


class Match(TypedDict):
    id: str
    seq: Seq
    taker_fill_seq: Seq
    token_id: TokenId
    complement_token_id: TokenId | None
    condition_id: ConditionId | None
    outcome: str | None
    outcome_index: int | None
    side: Literal["BUY", "SELL"]
    price: DecimalText | None
    size: DecimalText
    value_usd: DecimalText
    legs: int
    taker: Address
    taker_order_hash: Hash
    taker_fee: DecimalText
    taker_fee_net: DecimalText
    taker_fee_asset: Literal["collateral", "token"]
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    module: Literal["binary", "neg_risk", "combinatorial"] | None
    builder: Hash | None
    metadata: Hash | None
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]
    maker_amount_raw: RawAmount
    taker_amount_raw: RawAmount
    question: NotRequired[str | None]
    slug: NotRequired[str | None]
    event_id: NotRequired[str | None]


class Cancellation(TypedDict):
    id: str
    seq: Seq
    kind: Literal["order_cancelled", "order_preapproval_invalidated", "user_paused"]
    order_hash: Hash | None
    user: Address | None
    effective_block: int | None
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class ResolutionMirrorResolution(TypedDict):
    condition_id: ConditionId
    payouts: list[DecimalText]
    block_number: int
    seq: Seq
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds


class Resolution(TypedDict):
    id: str
    seq: Seq
    derived: bool
    condition_id: ConditionId
    question_id: Hash | None
    oracle: Address
    payouts: list[DecimalText]
    winning_token_id: TokenId | None
    winning_outcome: str | None
    mirror_resolution: ResolutionMirrorResolution | None
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class ResultStep(TypedDict):
    id: str
    seq: Seq
    kind: Literal["requested", "proposed", "disputed", "reset", "settled", "reported", "mirror_resolved"]
    price: DecimalText | None
    payouts: list[DecimalText] | None
    account: Address | None
    bond: DecimalText | None
    contract: Address | None
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class PriceLastTrade(TypedDict):
    price: DecimalText
    size: DecimalText
    side: Literal["BUY", "SELL"]
    seq: Seq
    timestamp: Time
    timestamp_ms: Milliseconds
    tx_hash: Hash


class PriceStats24h(TypedDict):
    """The 24 hours before the newest indexed block; without trades, their prices are the last one before."""

    open: DecimalText | None
    high: DecimalText | None
    low: DecimalText | None
    close: DecimalText | None
    change: DecimalText | None
    change_pct: DecimalText | None
    volume_usd: DecimalText
    volume_shares: DecimalText
    buy_volume_usd: DecimalText
    sell_volume_usd: DecimalText
    trades: int
    vwap: DecimalText | None
    window_start_ms: Milliseconds
    window_end_ms: Milliseconds


class PriceComplement(TypedDict):
    token_id: TokenId
    outcome: str | None
    price: DecimalText | None
    price_source: Literal["last_trade", "complement", "settlement"] | None


class Price(TypedDict):
    token_id: TokenId
    price: DecimalText | None
    price_source: Literal["last_trade", "complement", "settlement"] | None
    last_trade: PriceLastTrade | None
    best_bid: DecimalText | None
    best_ask: DecimalText | None
    mid: DecimalText | None
    spread: DecimalText | None
    stats_24h: PriceStats24h
    complement: PriceComplement | None
    resolved: bool
    settlement_price: DecimalText | None
    timestamp: Time
    timestamp_ms: Milliseconds


class PastPriceLastTrade(TypedDict):
    price: DecimalText
    size: DecimalText
    side: Literal["BUY", "SELL"]
    seq: Seq
    timestamp: Time
    timestamp_ms: Milliseconds
    tx_hash: Hash


class PastPriceComplement(TypedDict):
    token_id: TokenId
    outcome: str | None
    price: DecimalText | None
    price_source: Literal["last_trade", "complement", "settlement"] | None


class PastPriceAsOf(TypedDict):
    seq: Seq
    timestamp: Time
    timestamp_ms: Milliseconds


class PastPrice(TypedDict):
    token_id: TokenId
    price: DecimalText | None
    price_source: Literal["last_trade", "complement", "settlement"] | None
    last_trade: PastPriceLastTrade | None
    complement: PastPriceComplement | None
    resolved: bool
    settlement_price: DecimalText | None
    as_of: PastPriceAsOf | None


class OrderBookBid(TypedDict):
    price: DecimalText
    size: DecimalText


class OrderBookAsk(TypedDict):
    price: DecimalText
    size: DecimalText


class OrderBook(TypedDict):
    token_id: TokenId
    bids: list[OrderBookBid]
    asks: list[OrderBookAsk]
    best_bid: DecimalText | None
    best_ask: DecimalText | None
    mid: DecimalText | None
    spread: DecimalText | None
    tick_size: DecimalText | None
    min_order_size: DecimalText | None
    bid_depth_usd: str
    ask_depth_usd: str
    last_trade_price: DecimalText | None
    checksum: int
    hash: str | None
    timestamp: Time
    timestamp_ms: Milliseconds
    source: Literal["stream", "rest"]
    stale: bool
    stale_reason: str | None
    age_ms: int


class Candle(TypedDict):
    timestamp: Time
    timestamp_ms: Milliseconds
    open: DecimalText
    high: DecimalText
    low: DecimalText
    close: DecimalText
    volume_shares: DecimalText
    volume_usd: DecimalText
    buy_volume_usd: DecimalText
    sell_volume_usd: DecimalText
    trades: int
    vwap: DecimalText | None
    closed: bool
    filled: bool


class Stats(TypedDict):
    timestamp: Time
    timestamp_ms: Milliseconds
    trades: int
    volume_usd: DecimalText
    fees_usd: DecimalText | None
    active_markets: int | None
    traders: int | None
    new_markets: int | None
    resolved_markets: int | None


class Key(TypedDict):
    id: str
    prefix: str
    name: str
    scope: Literal["read", "write", "admin"]
    rate_limit: int
    created_at: str
    expires_at: str | None
    status: Literal["active", "expired", "revoked"]
    allowed_ips: list[str]
    previous_value_expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    request_count: int


class IssuedKey(TypedDict):
    id: str
    prefix: str
    name: str
    scope: Literal["read", "write", "admin"]
    rate_limit: int
    created_at: str
    expires_at: str | None
    key: str


class Pagination(TypedDict):
    limit: int
    has_more: bool
    next_cursor: str | None


class Meta(TypedDict):
    request_id: str
    first_block: int | None
    first_timestamp_ms: int | None
    indexed_block: int | None
    indexed_seq: int | None
    head_block: int | None
    finalized_block: int | None
    lag_seconds: int | None


class ErrorAnswerErrorDetail(TypedDict):
    parameter: str
    issue: str


class ErrorAnswerError(TypedDict):
    """What went wrong."""

    code: Literal[
        "VALIDATION_ERROR",
        "INVALID_CURSOR",
        "UNAUTHORIZED",
        "FORBIDDEN",
        "IP_BLOCKED",
        "NOT_FOUND",
        "METHOD_NOT_ALLOWED",
        "CONFLICT",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "RANGE_NOT_SATISFIABLE",
        "RATE_LIMITED",
        "INTERNAL_ERROR",
        "SERVICE_UNAVAILABLE",
    ]
    message: str
    details: NotRequired[list[ErrorAnswerErrorDetail]]
    request_id: str


class ErrorAnswer(TypedDict):
    error: ErrorAnswerError


class StreamWelcomeLimits(TypedDict):
    """Limits of this connection."""

    subscriptions: int
    tokens_per_subscription: int
    tokens_per_connection: int
    frames_per_second: int
    frame_bytes: int
    connections_per_key: int | None
    connections_per_ip: int


class StreamWelcome(TypedDict):
    """The first frame, and the response to an auth frame."""

    type: Literal["welcome"]
    id: NotRequired[str | int]
    connection_id: str
    protocol: int
    authenticated: bool
    heartbeat_seconds: int
    latest_seq: Seq | None
    limits: StreamWelcomeLimits


class StreamSubscribed(TypedDict):
    """A subscription has started; its data follows."""

    type: Literal["subscribed"]
    id: NotRequired[str | int]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq


class StreamUnsubscribed(TypedDict):
    """A subscription has ended."""

    type: Literal["unsubscribed"]
    id: NotRequired[str | int]
    channel: dict[str, Any]
    subscription_id: str


class StreamSnapshot(TypedDict):
    """The newest rows of a channel, or a whole book."""

    type: Literal["snapshot"]
    subscription_id: str
    seq: Seq
    data: list[Trade | Resolution | Market | Cancellation | Candle | Price | Activity | MarketOpenInterest | OrderBook]


class StreamEventTrade(TypedDict):
    """Something happened: trade."""

    type: Literal["event"]
    event: Literal["trade"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Trade


class StreamEventResolution(TypedDict):
    """Something happened: resolution."""

    type: Literal["event"]
    event: Literal["resolution"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Resolution


class StreamEventMarket(TypedDict):
    """Something happened: market."""

    type: Literal["event"]
    event: Literal["market"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Market


class StreamEventCancellation(TypedDict):
    """Something happened: cancellation."""

    type: Literal["event"]
    event: Literal["cancellation"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Cancellation


class StreamEventCandle(TypedDict):
    """Something happened: candle."""

    type: Literal["event"]
    event: Literal["candle"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Candle


class StreamEventPrice(TypedDict):
    """Something happened: price."""

    type: Literal["event"]
    event: Literal["price"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Price


class StreamEventActivity(TypedDict):
    """Something happened: activity."""

    type: Literal["event"]
    event: Literal["activity"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: Activity


class StreamEventOpenInterest(TypedDict):
    """Something happened: open_interest."""

    type: Literal["event"]
    event: Literal["open_interest"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: MarketOpenInterest


class StreamEventBookDataBid(TypedDict):
    price: DecimalText
    size: DecimalText


class StreamEventBookDataAsk(TypedDict):
    price: DecimalText
    size: DecimalText


class StreamEventBookData(TypedDict):
    """The row or rows that were requested."""

    token_id: TokenId
    bids: list[StreamEventBookDataBid]
    asks: list[StreamEventBookDataAsk]
    checksum: int
    hash: str | None
    timestamp: Time
    timestamp_ms: Milliseconds


class StreamEventBook(TypedDict):
    """Something happened: book."""

    type: Literal["event"]
    event: Literal["book"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: StreamEventBookData


class StreamEventBookStaleData(TypedDict):
    """The row or rows that were requested."""

    token_id: TokenId
    stale_reason: str


class StreamEventBookStale(TypedDict):
    """Something happened: book_stale."""

    type: Literal["event"]
    event: Literal["book_stale"]
    channel: dict[str, Any]
    subscription_id: str
    seq: Seq
    prev_seq: int
    replay: NotRequired[bool]
    data: StreamEventBookStaleData


#: Something happened; event says what data is.
StreamEvent: TypeAlias = (
    StreamEventTrade
    | StreamEventResolution
    | StreamEventMarket
    | StreamEventCancellation
    | StreamEventCandle
    | StreamEventPrice
    | StreamEventActivity
    | StreamEventOpenInterest
    | StreamEventBook
    | StreamEventBookStale
)


class StreamReplayComplete(TypedDict):
    """The past was replayed; new events follow."""

    type: Literal["replay_complete"]
    subscription_id: str
    seq: Seq


class StreamReorg(TypedDict):
    """A reorg reverted every row after a position; replacements follow."""

    type: Literal["reorg"]
    subscription_id: str
    rewind_to_seq: Seq
    reverted: list[str]


class StreamFinalized(TypedDict):
    """Nothing up to here can be reverted."""

    type: Literal["finalized"]
    finalized_block: int
    finalized_seq: Seq


class StreamHeartbeat(TypedDict):
    """The connection is alive, and how far the service is."""

    type: Literal["heartbeat"]
    latest_seq: Seq | None
    indexed_block: int | None
    head_block: int | None
    finalized_block: int | None
    lag_seconds: int | None


class StreamPong(TypedDict):
    """The response to a ping frame."""

    type: Literal["pong"]
    id: NotRequired[str | int]


class StreamErrorErrorDetail(TypedDict):
    parameter: str
    issue: str


class StreamErrorError(TypedDict):
    """What went wrong."""

    code: Literal[
        "VALIDATION_ERROR",
        "INVALID_CURSOR",
        "UNAUTHORIZED",
        "FORBIDDEN",
        "IP_BLOCKED",
        "NOT_FOUND",
        "METHOD_NOT_ALLOWED",
        "CONFLICT",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "RANGE_NOT_SATISFIABLE",
        "RATE_LIMITED",
        "INTERNAL_ERROR",
        "SERVICE_UNAVAILABLE",
    ]
    message: str
    details: NotRequired[list[StreamErrorErrorDetail]]
    request_id: str
    retry_after_seconds: NotRequired[int]


class StreamError(TypedDict):
    """Your frame was refused; the error is that of HTTP."""

    type: Literal["error"]
    id: NotRequired[str | int]
    error: StreamErrorError


class ListMarketsQuery(TypedDict):
    """The optional parameters of listMarkets."""

    limit: NotRequired[int]
    include: NotRequired[Literal["event"]]
    active: NotRequired[bool]
    status: NotRequired[Literal["open", "resolved", "all"]]
    search: NotRequired[str]
    neg_risk: NotRequired[bool]
    event_id: NotRequired[Sequence[str]]
    neg_risk_market_id: NotRequired[Sequence[str]]
    category: NotRequired[Sequence[str]]
    tag: NotRequired[Sequence[str]]
    slug: NotRequired[Sequence[str]]
    condition_id: NotRequired[Sequence[str]]
    token_id: NotRequired[Sequence[str]]
    min_volume: NotRequired[str | Decimal]
    min_volume_24h: NotRequired[str | Decimal]
    created_after: NotRequired[str | int | datetime]
    created_before: NotRequired[str | int | datetime]
    end_after: NotRequired[str | int | datetime]
    end_before: NotRequired[str | int | datetime]
    sort: NotRequired[
        Literal[
            "volume_24h",
            "volume",
            "trades_24h",
            "change_24h",
            "liquidity",
            "created_at",
            "end_date",
            "last_trade_at",
            "open_interest",
        ]
    ]
    order: NotRequired[Literal["desc", "asc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "question_id",
                "question",
                "description",
                "slug",
                "category",
                "tags",
                "event_id",
                "event_slug",
                "image",
                "neg_risk",
                "neg_risk_market_id",
                "oracle",
                "exchange_versions",
                "status",
                "active",
                "outcome_count",
                "created_at",
                "created_at_ms",
                "created_block",
                "start_date",
                "end_date",
                "resolved_at",
                "resolved_at_ms",
                "resolution",
                "tokens",
                "mirror",
                "legs",
                "legs_payout",
                "volume_usd",
                "volume_shares",
                "trades",
                "volume_24h_usd",
                "trades_24h",
                "last_trade_at",
                "last_trade_at_ms",
                "change_24h",
                "liquidity_usd",
                "open_interest_usd",
                "metadata_source",
                "event",
            ]
        ]
    ]


class GetMarketQuery(TypedDict):
    """The optional parameters of getMarket."""

    min_seq: NotRequired[int]


class ListResultStepsQuery(TypedDict):
    """The optional parameters of listResultSteps."""

    limit: NotRequired[int]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "kind",
                "price",
                "payouts",
                "account",
                "bond",
                "contract",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
            ]
        ]
    ]


class ListHoldersQuery(TypedDict):
    """The optional parameters of listHolders."""

    limit: NotRequired[int]
    outcome_index: NotRequired[int]
    min_size: NotRequired[str | Decimal]
    include_contracts: NotRequired[bool]
    include_pnl: NotRequired[bool]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "rank",
                "address",
                "label",
                "token_id",
                "outcome",
                "outcome_index",
                "size",
                "share_of_supply",
                "value_usd",
                "avg_price",
                "cost_complete",
                "realized_pnl",
                "unrealized_pnl",
            ]
        ]
    ]


class ListOpenInterestQuery(TypedDict):
    """The optional parameters of listOpenInterest."""

    limit: NotRequired[int]
    resolution: NotRequired[Literal["1h", "4h", "1d"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    order: NotRequired[Literal["asc", "desc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "timestamp",
                "timestamp_ms",
                "complete",
                "supply",
                "open_interest_usd",
                "collateral_usd",
                "minted",
                "burnt",
            ]
        ]
    ]


class ListTotalOpenInterestQuery(TypedDict):
    """The optional parameters of listTotalOpenInterest."""

    limit: NotRequired[int]
    resolution: NotRequired[Literal["1h", "4h", "1d"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    order: NotRequired[Literal["asc", "desc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "timestamp",
                "timestamp_ms",
                "complete",
                "open_interest_usd",
                "standard_usd",
                "neg_risk_usd",
                "protocol_v2_usd",
                "minted_usd",
                "burnt_usd",
            ]
        ]
    ]


class ListEventsQuery(TypedDict):
    """The optional parameters of listEvents."""

    limit: NotRequired[int]
    status: NotRequired[Literal["open", "resolved", "all"]]
    search: NotRequired[str]
    neg_risk: NotRequired[bool]
    event_id: NotRequired[Sequence[str]]
    neg_risk_market_id: NotRequired[Sequence[str]]
    category: NotRequired[Sequence[str]]
    tag: NotRequired[Sequence[str]]
    condition_id: NotRequired[Sequence[str]]
    token_id: NotRequired[Sequence[str]]
    min_volume: NotRequired[str | Decimal]
    min_volume_24h: NotRequired[str | Decimal]
    sort: NotRequired[Literal["volume_24h", "volume", "created_at", "end_date"]]
    order: NotRequired[Literal["desc", "asc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "event_id",
                "title",
                "slug",
                "category",
                "tags",
                "neg_risk",
                "neg_risk_market_id",
                "status",
                "created_at",
                "created_at_ms",
                "end_date",
                "market_count",
                "markets",
                "volume_usd",
                "volume_24h_usd",
                "trades",
                "trades_24h",
                "last_trade_at",
                "last_trade_at_ms",
                "price_sum",
                "metadata_source",
            ]
        ]
    ]


class GetEventQuery(TypedDict):
    """The optional parameters of getEvent."""

    min_seq: NotRequired[int]


class ListTagsQuery(TypedDict):
    """The optional parameters of listTags."""

    limit: NotRequired[int]
    min_seq: NotRequired[int]
    fields: NotRequired[Sequence[Literal["name", "market_count", "open_market_count", "volume_24h_usd"]]]


class ListCategoriesQuery(TypedDict):
    """The optional parameters of listCategories."""

    limit: NotRequired[int]
    min_seq: NotRequired[int]
    fields: NotRequired[Sequence[Literal["name", "market_count", "open_market_count", "volume_24h_usd"]]]


class ListTradesQuery(TypedDict):
    """The optional parameters of listTrades."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    side: NotRequired[Literal["BUY", "SELL"]]
    min_size: NotRequired[str | Decimal]
    max_size: NotRequired[str | Decimal]
    min_value: NotRequired[str | Decimal]
    maker: NotRequired[str]
    taker: NotRequired[str]
    wallet: NotRequired[str]
    condition_id: NotRequired[str]
    builder: NotRequired[str]
    include: NotRequired[Literal["market"]]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    match_type: NotRequired[Literal["complementary", "mint", "merge", "direct"]]
    min_price: NotRequired[str | Decimal]
    max_price: NotRequired[str | Decimal]
    sort: NotRequired[Literal["time", "value"]]
    token_id: NotRequired[Sequence[str]]
    neg_risk_market_id: NotRequired[str]
    slug: NotRequired[Sequence[str]]
    event_id: NotRequired[Sequence[str]]
    category: NotRequired[Sequence[str]]
    tag: NotRequired[Sequence[str]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "token_id",
                "complement_token_id",
                "condition_id",
                "outcome",
                "outcome_index",
                "side",
                "price",
                "size",
                "value_usd",
                "maker_fee",
                "maker_fee_net",
                "maker_fee_asset",
                "match_seq",
                "maker",
                "taker",
                "maker_side",
                "maker_token_id",
                "match_type",
                "maker_order_hash",
                "taker_order_hash",
                "exchange",
                "exchange_version",
                "exchange_address",
                "module",
                "builder",
                "metadata",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
                "maker_amount_raw",
                "taker_amount_raw",
                "question",
                "slug",
                "event_id",
            ]
        ]
    ]


class ListTokenTradesQuery(TypedDict):
    """The optional parameters of listTokenTrades."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    side: NotRequired[Literal["BUY", "SELL"]]
    min_size: NotRequired[str | Decimal]
    max_size: NotRequired[str | Decimal]
    min_value: NotRequired[str | Decimal]
    maker: NotRequired[str]
    taker: NotRequired[str]
    wallet: NotRequired[str]
    condition_id: NotRequired[str]
    builder: NotRequired[str]
    include: NotRequired[Literal["market"]]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    match_type: NotRequired[Literal["complementary", "mint", "merge", "direct"]]
    min_price: NotRequired[str | Decimal]
    max_price: NotRequired[str | Decimal]
    sort: NotRequired[Literal["time", "value"]]
    include_complement: NotRequired[bool]
    include_mirror: NotRequired[bool]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "token_id",
                "complement_token_id",
                "condition_id",
                "outcome",
                "outcome_index",
                "side",
                "price",
                "size",
                "value_usd",
                "maker_fee",
                "maker_fee_net",
                "maker_fee_asset",
                "match_seq",
                "maker",
                "taker",
                "maker_side",
                "maker_token_id",
                "match_type",
                "maker_order_hash",
                "taker_order_hash",
                "exchange",
                "exchange_version",
                "exchange_address",
                "module",
                "builder",
                "metadata",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
                "maker_amount_raw",
                "taker_amount_raw",
                "question",
                "slug",
                "event_id",
            ]
        ]
    ]


class ListFillsQuery(TypedDict):
    """The optional parameters of listFills."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    side: NotRequired[Literal["BUY", "SELL"]]
    min_size: NotRequired[str | Decimal]
    max_size: NotRequired[str | Decimal]
    min_value: NotRequired[str | Decimal]
    maker: NotRequired[str]
    taker: NotRequired[str]
    wallet: NotRequired[str]
    condition_id: NotRequired[str]
    builder: NotRequired[str]
    include: NotRequired[Literal["market"]]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    token_id: NotRequired[Sequence[str]]
    neg_risk_market_id: NotRequired[str]
    slug: NotRequired[Sequence[str]]
    event_id: NotRequired[Sequence[str]]
    category: NotRequired[Sequence[str]]
    tag: NotRequired[Sequence[str]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "role",
                "order_hash",
                "maker",
                "taker",
                "side",
                "token_id",
                "complement_token_id",
                "condition_id",
                "outcome",
                "outcome_index",
                "maker_amount_raw",
                "taker_amount_raw",
                "fee",
                "fee_net",
                "fee_asset",
                "match_seq",
                "exchange",
                "exchange_version",
                "exchange_address",
                "module",
                "builder",
                "metadata",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
                "question",
                "slug",
                "event_id",
            ]
        ]
    ]


class ListMatchesQuery(TypedDict):
    """The optional parameters of listMatches."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    side: NotRequired[Literal["BUY", "SELL"]]
    min_size: NotRequired[str | Decimal]
    max_size: NotRequired[str | Decimal]
    min_value: NotRequired[str | Decimal]
    taker: NotRequired[str]
    condition_id: NotRequired[str]
    builder: NotRequired[str]
    include: NotRequired[Literal["market"]]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    token_id: NotRequired[Sequence[str]]
    neg_risk_market_id: NotRequired[str]
    slug: NotRequired[Sequence[str]]
    event_id: NotRequired[Sequence[str]]
    category: NotRequired[Sequence[str]]
    tag: NotRequired[Sequence[str]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "taker_fill_seq",
                "token_id",
                "complement_token_id",
                "condition_id",
                "outcome",
                "outcome_index",
                "side",
                "price",
                "size",
                "value_usd",
                "legs",
                "taker",
                "taker_order_hash",
                "taker_fee",
                "taker_fee_net",
                "taker_fee_asset",
                "exchange",
                "exchange_version",
                "exchange_address",
                "module",
                "builder",
                "metadata",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
                "maker_amount_raw",
                "taker_amount_raw",
                "question",
                "slug",
                "event_id",
            ]
        ]
    ]


class ListCancellationsQuery(TypedDict):
    """The optional parameters of listCancellations."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    order_hash: NotRequired[str]
    user: NotRequired[str]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    kind: NotRequired[Literal["order_cancelled", "order_preapproval_invalidated", "user_paused"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "kind",
                "order_hash",
                "user",
                "effective_block",
                "exchange",
                "exchange_version",
                "exchange_address",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
            ]
        ]
    ]


class ListExchangeEventsRow(TypedDict):
    id: str
    seq: Seq
    kind: Literal[
        "order_cancelled",
        "order_preapproved",
        "order_preapproval_invalidated",
        "user_paused",
        "user_unpaused",
        "user_pause_interval_updated",
        "trading_paused",
        "trading_unpaused",
        "role_changed",
        "fee_receiver_updated",
        "max_fee_rate_updated",
    ]
    order_hash: Hash | None
    user: Address | None
    effective_block: int | None
    by: Address | None
    account: Address | None
    role: Literal["admin"] | Literal["operator"] | None
    granted: bool | None
    old_interval_blocks: int | None
    new_interval_blocks: int | None
    fee_receiver: Address | None
    max_fee_rate_bps: int | None
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class ListExchangeEventsQuery(TypedDict):
    """The optional parameters of listExchangeEvents."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    order_hash: NotRequired[str]
    user: NotRequired[str]
    exchange: NotRequired[Literal["standard", "neg_risk"]]
    kind: NotRequired[
        Literal[
            "order_cancelled",
            "order_preapproved",
            "order_preapproval_invalidated",
            "user_paused",
            "user_unpaused",
            "user_pause_interval_updated",
            "trading_paused",
            "trading_unpaused",
            "role_changed",
            "fee_receiver_updated",
            "max_fee_rate_updated",
        ]
    ]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "kind",
                "order_hash",
                "user",
                "effective_block",
                "by",
                "account",
                "role",
                "granted",
                "old_interval_blocks",
                "new_interval_blocks",
                "fee_receiver",
                "max_fee_rate_bps",
                "exchange",
                "exchange_version",
                "exchange_address",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
            ]
        ]
    ]


class ListResolutionsQuery(TypedDict):
    """The optional parameters of listResolutions."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    condition_id: NotRequired[str]
    neg_risk_market_id: NotRequired[str]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "derived",
                "condition_id",
                "question_id",
                "oracle",
                "payouts",
                "winning_token_id",
                "winning_outcome",
                "mirror_resolution",
                "block_number",
                "block_hash",
                "log_index",
                "tx_hash",
                "timestamp",
                "timestamp_ms",
                "status",
            ]
        ]
    ]


class GetOrderData(TypedDict):
    """The row or rows that were requested."""

    order_hash: Hash
    truncated: bool
    fills: list[Fill]
    cancellations: list[Cancellation]


class GetOrderQuery(TypedDict):
    """The optional parameters of getOrder."""

    min_seq: NotRequired[int]


class GetTransactionDataExchangeEvent(TypedDict):
    id: str
    seq: Seq
    kind: Literal[
        "order_cancelled",
        "order_preapproved",
        "order_preapproval_invalidated",
        "user_paused",
        "user_unpaused",
        "user_pause_interval_updated",
        "trading_paused",
        "trading_unpaused",
        "role_changed",
        "fee_receiver_updated",
        "max_fee_rate_updated",
    ]
    order_hash: Hash | None
    user: Address | None
    effective_block: int | None
    by: Address | None
    account: Address | None
    role: Literal["admin"] | Literal["operator"] | None
    granted: bool | None
    old_interval_blocks: int | None
    new_interval_blocks: int | None
    fee_receiver: Address | None
    max_fee_rate_bps: int | None
    exchange: Literal["standard", "neg_risk"]
    exchange_version: Literal[1, 2, 3]
    exchange_address: Address
    block_number: int
    block_hash: Hash
    log_index: int
    tx_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]


class GetTransactionDataOtherEvent(TypedDict):
    id: str
    seq: Seq
    log_index: int
    kind: str
    address: Address
    subject: Hash | None


class GetTransactionData(TypedDict):
    """The row or rows that were requested."""

    tx_hash: Hash
    block_number: int
    block_hash: Hash
    timestamp: Time
    timestamp_ms: Milliseconds
    status: Literal["confirmed", "finalized"]
    truncated: bool
    trades: list[Trade]
    matches: list[Match]
    fills: list[Fill]
    resolutions: list[Resolution]
    exchange_events: list[GetTransactionDataExchangeEvent]
    other_events: list[GetTransactionDataOtherEvent]


class GetTransactionQuery(TypedDict):
    """The optional parameters of getTransaction."""

    min_seq: NotRequired[int]


class GetWalletDataTopMarket(TypedDict):
    condition_id: ConditionId | None
    question: str | None
    slug: str | None
    event_id: str | None
    trades: int
    volume_usd: str
    last_trade_at: Time
    last_trade_at_ms: Milliseconds


class GetWalletData(TypedDict):
    """The row or rows that were requested."""

    address: Address
    kind: Literal["wallet", "contract"]
    label: str | None
    complete: bool
    cost_complete: bool
    positions_open: int
    positions_total: int
    positions_incomplete: int
    markets: int
    value_usd: DecimalText | None
    redeemable_usd: DecimalText | None
    realized_pnl: DecimalText | None
    unrealized_pnl: DecimalText | None
    total_pnl: DecimalText | None
    unknown_proceeds_usd: DecimalText | None
    fees_usd: DecimalText
    trades: int
    maker_trades: int
    taker_trades: int
    volume_usd: str
    volume_maker_usd: DecimalText
    volume_taker_usd: DecimalText
    first_seen: Time | None
    first_seen_ms: Milliseconds | None
    last_active: Time | None
    last_active_ms: Milliseconds | None
    first_trade_at: Time | None
    first_trade_at_ms: Milliseconds | None
    last_trade_at: Time | None
    last_trade_at_ms: Milliseconds | None
    top_markets: list[GetWalletDataTopMarket]


class GetWalletQuery(TypedDict):
    """The optional parameters of getWallet."""

    min_seq: NotRequired[int]


class ListPositionsQuery(TypedDict):
    """The optional parameters of listPositions."""

    limit: NotRequired[int]
    status: NotRequired[Literal["open", "redeemable", "lost", "closed", "all"]]
    condition_id: NotRequired[str]
    token_id: NotRequired[str]
    event_id: NotRequired[str]
    min_size: NotRequired[str | Decimal]
    sort: NotRequired[Literal["value", "size", "realized_pnl", "unrealized_pnl", "total_pnl", "last_active"]]
    order: NotRequired[Literal["desc", "asc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "token_id",
                "complement_token_id",
                "condition_id",
                "outcome",
                "outcome_index",
                "question",
                "slug",
                "event_id",
                "neg_risk",
                "complete",
                "cost_complete",
                "size",
                "size_raw",
                "cost_known_size",
                "avg_price",
                "cost_usd",
                "fees_usd",
                "price",
                "value_usd",
                "realized_pnl",
                "unrealized_pnl",
                "total_pnl",
                "unknown_proceeds_usd",
                "bought",
                "sold",
                "status",
                "mergeable_size",
                "payout",
                "first_seen",
                "first_seen_ms",
                "last_active",
                "last_active_ms",
                "last_seq",
            ]
        ]
    ]


class ListActivityQuery(TypedDict):
    """The optional parameters of listActivity."""

    limit: NotRequired[int]
    order: NotRequired[Literal["desc", "asc"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    from_block: NotRequired[int]
    to_block: NotRequired[int]
    after_seq: NotRequired[int]
    status: NotRequired[Literal["confirmed", "finalized"]]
    tx_hash: NotRequired[str]
    kind: NotRequired[
        Sequence[
            Literal[
                "trade",
                "fee_refund",
                "split",
                "merge",
                "redeem",
                "convert",
                "hsplit",
                "hmerge",
                "wrap",
                "unwrap",
                "compress",
                "migrate",
                "transfer_in",
                "transfer_out",
            ]
        ]
    ]
    side: NotRequired[Literal["BUY", "SELL"]]
    role: NotRequired[Literal["maker", "taker", "operator"]]
    condition_id: NotRequired[str]
    token_id: NotRequired[Sequence[str]]
    min_value: NotRequired[str | Decimal]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "id",
                "seq",
                "wallet",
                "kind",
                "role",
                "side",
                "tokens",
                "tokens_truncated",
                "condition_id",
                "question",
                "slug",
                "event_id",
                "price",
                "cash_usd",
                "fee_usd",
                "fee_shares",
                "counterparty",
                "via",
                "tx_hash",
                "block_number",
                "log_index",
                "timestamp",
                "timestamp_ms",
                "status",
            ]
        ]
    ]


class ListPnlQuery(TypedDict):
    """The optional parameters of listPnl."""

    limit: NotRequired[int]
    resolution: NotRequired[Literal["1h", "1d", "1w"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    order: NotRequired[Literal["asc", "desc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "timestamp",
                "timestamp_ms",
                "complete",
                "cost_complete",
                "realized_pnl",
                "fees_usd",
                "volume_usd",
                "trades",
                "cumulative_realized_pnl",
                "cumulative_fees_usd",
                "cumulative_volume_usd",
                "cumulative_trades",
            ]
        ]
    ]


class GetPriceQuery(TypedDict):
    """The optional parameters of getPrice."""

    include_mirror: NotRequired[bool]
    min_seq: NotRequired[int]


class ListPricesQuery(TypedDict):
    """The optional parameters of listPrices."""

    include_mirror: NotRequired[bool]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "token_id",
                "price",
                "price_source",
                "last_trade",
                "best_bid",
                "best_ask",
                "mid",
                "spread",
                "stats_24h",
                "complement",
                "resolved",
                "settlement_price",
                "timestamp",
                "timestamp_ms",
                "as_of",
            ]
        ]
    ]


class ListCandlesQuery(TypedDict):
    """The optional parameters of listCandles."""

    resolution: NotRequired[Literal["1m", "5m", "15m", "1h", "4h", "1d"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    fill: NotRequired[Literal["none", "previous"]]
    source: NotRequired[Literal["pair", "own"]]
    include_mirror: NotRequired[bool]
    limit: NotRequired[int]
    order: NotRequired[Literal["asc", "desc"]]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "timestamp",
                "timestamp_ms",
                "open",
                "high",
                "low",
                "close",
                "volume_shares",
                "volume_usd",
                "buy_volume_usd",
                "sell_volume_usd",
                "trades",
                "vwap",
                "closed",
                "filled",
            ]
        ]
    ]


class ListStatsQuery(TypedDict):
    """The optional parameters of listStats."""

    limit: NotRequired[int]
    resolution: NotRequired[Literal["1h", "1d"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    order: NotRequired[Literal["asc", "desc"]]
    exchange_version: NotRequired[int]
    category: NotRequired[Sequence[str]]
    builder: NotRequired[str]
    min_seq: NotRequired[int]
    fields: NotRequired[
        Sequence[
            Literal[
                "timestamp",
                "timestamp_ms",
                "trades",
                "volume_usd",
                "fees_usd",
                "active_markets",
                "traders",
                "new_markets",
                "resolved_markets",
            ]
        ]
    ]


class ListManyCandlesRow(TypedDict):
    token_id: TokenId
    candles: list[Candle]


class ListManyCandlesQuery(TypedDict):
    """The optional parameters of listManyCandles."""

    resolution: NotRequired[Literal["1m", "5m", "15m", "1h", "4h", "1d"]]
    start: NotRequired[str | int | datetime]
    end: NotRequired[str | int | datetime]
    fill: NotRequired[Literal["none", "previous"]]
    source: NotRequired[Literal["pair", "own"]]
    include_mirror: NotRequired[bool]
    limit: NotRequired[int]
    min_seq: NotRequired[int]
    fields: NotRequired[Sequence[Literal["token_id", "candles"]]]


class GetOrderbookQuery(TypedDict):
    """The optional parameters of getOrderbook."""

    depth: NotRequired[int]
    min_seq: NotRequired[int]


class GetHealthAnswer(TypedDict):
    status: Literal["ok"]
    version: str
    uptime_seconds: int


class GetReadyAnswerChecksValue(TypedDict):
    ok: bool
    detail: str


class GetReadyAnswer(TypedDict):
    status: Literal["ready", "not_ready"]
    role: Literal["serve", "index", "api"]
    checks: dict[str, GetReadyAnswerChecksValue]


class GetMetricsAnswerIndexerCoverage(TypedDict):
    from_block: int
    to_block: int


class GetMetricsAnswerIndexerAudit(TypedDict):
    """Stored ranges that were read again and compared."""

    ranges: int
    blocks: int
    rounds: int
    round_progress_ratio: float
    from_block: int | None
    to_block: int | None
    mismatches: int
    false_alarms: int
    repairs: int
    unverified_ranges: int
    corrupt_ranges: int


class GetMetricsAnswerIndexerBackfill(TypedDict):
    from_block: int
    to_block: int
    progress_ratio: float
    blocks_per_second: float | None
    remaining_seconds: float | None


class GetMetricsAnswerIndexerEndpoint(TypedDict):
    host: str
    requests: int
    calls: int
    errors: int
    rate_limited: int
    invalid_responses: int
    latency_ms: float | None
    breaker_state: Literal["closed", "open", "half_open"]
    calls_per_second_max: float | None
    range_blocks: int
    range_blocks_max: int | None
    head_block: int | None


class GetMetricsAnswerIndexer(TypedDict):
    """How far indexing is."""

    chain_id: int
    head_block: int | None
    indexed_block: int | None
    finalized_block: int | None
    lag_blocks: int | None
    lag_seconds: int | None
    head_age_seconds: float | None
    block_arrival_seconds: float | None
    coverage: GetMetricsAnswerIndexerCoverage | None
    gaps: int | None
    unfinalized_blocks: int
    warnings: list[str]
    events: dict[str, int]
    trades: int
    events_per_second: float | None
    match_anomalies: dict[str, int]
    ledger_rows: dict[str, int]
    quarantined_logs: dict[str, int]
    reorgs: int
    deepest_reorg_blocks: int
    bloom_false_positives: int
    unknown_contracts: int
    audit: GetMetricsAnswerIndexerAudit
    backfill: GetMetricsAnswerIndexerBackfill | None
    endpoints: list[GetMetricsAnswerIndexerEndpoint]


class GetMetricsAnswerApiRoute(TypedDict):
    method: str
    route: str
    statuses: dict[str, int]
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class GetMetricsAnswerApi(TypedDict):
    """Requests, refusals and latency."""

    requests: int
    errors: int
    refusals: dict[str, int]
    access_changes: dict[str, int]
    routes: list[GetMetricsAnswerApiRoute]


class GetMetricsAnswerStream(TypedDict):
    """Connections, subscriptions and messages."""

    connections: int
    subscriptions: int
    messages: int
    sent_bytes: int
    replayed_messages: int
    slow_closes: int


class GetMetricsAnswerStoreTable(TypedDict):
    table: str
    rows: int
    bytes: int
    parts: int


class GetMetricsAnswerStoreQueries(TypedDict):
    """Reads of the store."""

    count: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class GetMetricsAnswerStoreInserts(TypedDict):
    """Writes to the store."""

    count: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class GetMetricsAnswerStoreAnsweredBy(TypedDict):
    query: str
    source: str
    answers: int


class GetMetricsAnswerStore(TypedDict):
    """Rows, bytes and latency of the store."""

    tables: list[GetMetricsAnswerStoreTable] | None
    queries: GetMetricsAnswerStoreQueries
    inserts: GetMetricsAnswerStoreInserts
    answered_by: list[GetMetricsAnswerStoreAnsweredBy]


class GetMetricsAnswerCluster(TypedDict):
    indexer_active: bool
    active_node: str | None
    feed_term: int | None
    feed_age_seconds: float | None
    feed_has_gap: bool
    indexer_open_claims: int
    redis_up: bool
    redis_down_seconds: float


class GetMetricsAnswerAccess(TypedDict):
    key_version: int
    keys_verified: int
    live_nodes: int
    clock_offset_seconds: float | None
    limits_inexact_seconds: float | None


class GetMetricsAnswerBooks(TypedDict):
    source: str
    in_memory: int
    stale: int
    followed: int
    hash_check_enabled: dict[str, int]
    resyncs: dict[str, int]
    changes: int
    snapshots: int
    unreadable: int
    hashes_proven: dict[str, int]
    hash_false_positives: dict[str, int]
    requests: int
    errors: dict[str, int]
    connections_open: int
    connections: int


class GetMetricsAnswerMarketMetadata(TypedDict):
    markets: int
    markets_missing: int
    age_seconds: int | None
    up: bool
    tokens_unknown: int
    claims_refused: int
    contradictions: dict[str, int]
    requests: int
    pages: int
    unreadable: int
    errors: dict[str, int]


class GetMetricsAnswerProcessMemory(TypedDict):
    """Memory of the process, in bytes."""

    resident_memory_bytes: int
    heap_used_bytes: int
    heap_total_bytes: int
    external_memory_bytes: int


class GetMetricsAnswerProcessEventLoopLag(TypedDict):
    """Delay of the event loop, in milliseconds."""

    p50_ms: float
    p99_ms: float
    max_ms: float


class GetMetricsAnswerProcess(TypedDict):
    """Memory, CPU and event loop."""

    memory: GetMetricsAnswerProcessMemory
    open_fds: int | None
    cpu_user_seconds: float
    cpu_system_seconds: float
    event_loop_lag: GetMetricsAnswerProcessEventLoopLag
    garbage_collections: int
    garbage_collection_seconds: float


class GetMetricsAnswerHistory(TypedDict):
    timestamp_ms: int
    lag_seconds: int | None
    events_per_second: float | None
    stream_connections: int
    resident_memory_bytes: int
    event_loop_lag_p99_ms: float
    query_p99_ms: float | None


class GetMetricsAnswer(TypedDict):
    uptime_seconds: float
    version: str
    role: Literal["serve", "index", "api"]
    indexer: GetMetricsAnswerIndexer
    api: GetMetricsAnswerApi
    stream: GetMetricsAnswerStream
    store: GetMetricsAnswerStore
    cluster: GetMetricsAnswerCluster | None
    access: GetMetricsAnswerAccess | None
    books: GetMetricsAnswerBooks | None
    market_metadata: GetMetricsAnswerMarketMetadata | None
    process: GetMetricsAnswerProcess
    history: NotRequired[list[GetMetricsAnswerHistory]]


class GetMetricsQuery(TypedDict):
    """The optional parameters of getMetrics."""

    include: NotRequired[Literal["history"]]


class CreateKeyBody(TypedDict):
    """The body of createKey."""

    name: str
    scope: NotRequired[Literal["read", "write", "admin"]]
    expires_at: NotRequired[str | int | datetime]
    allowed_ips: NotRequired[Sequence[str]]


class ListKeysQuery(TypedDict):
    """The optional parameters of listKeys."""

    limit: NotRequired[int]


class RevokeKeyAnswer(TypedDict):
    message: Literal["Key revoked"]


class RotateKeyBody(TypedDict):
    """The body of rotateKey."""

    grace_seconds: NotRequired[int]


class ListIpBlocksRow(TypedDict):
    ip: str
    reason: Literal["failed_authentication", "abuse"]
    offenses: int
    blocked_at: str
    blocked_until: str


class ListIpBlocksQuery(TypedDict):
    """The optional parameters of listIpBlocks."""

    limit: NotRequired[int]


class UnblockIpAnswer(TypedDict):
    message: Literal["IP unblocked"]


class GetLakeAnswerLastBlock(TypedDict):
    """The last block."""

    number: int
    hash: str
    timestamp: int


class GetLakeAnswerSliceLastBlock(TypedDict):
    """The last block."""

    number: int
    hash: str
    timestamp: int


class GetLakeAnswerSliceFilesValue(TypedDict):
    path: str
    rows: int
    bytes: int
    sha256: str
    first_seq: int | None
    last_seq: int | None


class GetLakeAnswerSlice(TypedDict):
    date: str
    from_block: int
    last_block: GetLakeAnswerSliceLastBlock
    files: dict[str, GetLakeAnswerSliceFilesValue]


class GetLakeAnswerMarkets(TypedDict):
    path: str
    rows: int
    bytes: int
    sha256: str
    first_seq: int | None
    last_seq: int | None


class GetLakeAnswerSignature(TypedDict):
    """Absent without a key to sign with."""

    algorithm: Literal["ed25519"]
    public_key: str
    value: str


class GetLakeAnswer(TypedDict):
    layout: int
    created_by: str
    chain_id: int
    contracts: str
    events: str
    first_block: int
    last_block: GetLakeAnswerLastBlock
    slices: list[GetLakeAnswerSlice]
    repairs: NotRequired[list[str]]
    markets: GetLakeAnswerMarkets | None
    signature: NotRequired[GetLakeAnswerSignature]


#: A frame that a stream yields.
StreamFrame: TypeAlias = (
    StreamEvent | StreamSnapshot | StreamReorg | StreamFinalized | StreamReplayComplete | StreamHeartbeat
)
