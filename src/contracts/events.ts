/**
 * What the contracts say, in one shape for all generations, as fields by kind. Field names follow the contracts;
 * from `market/` on, our own nouns are used. Amounts are raw integers (6 decimals on the chain).
 */
import type { Address, ConditionId, Hash, TokenId } from "../base/ids.ts";

/** What the owner of an order does with outcome tokens. */
export type Side = "BUY" | "SELL";

/** The events of a map of fields, as a union by `kind`. */
type Union<Fields> = {
  [Kind in keyof Fields]: { readonly kind: Kind } & Readonly<Fields[Kind]>;
}[keyof Fields];

type TradeFields = {
  /** One order's part of a match, from the order's own view: it gives `makerAmount`. */
  order_filled: {
    orderHash: Hash;
    maker: Address;
    taker: Address;
    side: Side;
    tokenId: TokenId;
    makerAmount: bigint;
    takerAmount: bigint;
    fee: bigint;
    /** Attribution code and opaque hash of generations 2 and 3; `null` when zero or generation 1. */
    builder: Hash | null;
    metadata: Hash | null;
  };
  /** The exchange's summary of a match; repeats the taker's `OrderFilled`. */
  orders_matched: {
    takerOrderHash: Hash;
    takerOrderMaker: Address;
    makerAmount: bigint;
    takerAmount: bigint;
  };
  /** A fee paid at the exchange; `tokenId` is `null` for collateral. */
  fee_charged: { receiver: Address; tokenId: TokenId | null; amount: bigint };
  /** A refund of a fee module of generation 1; that of 2023 names neither the order nor the fee it kept. */
  fee_refunded: {
    orderHash: Hash | null;
    to: Address;
    tokenId: TokenId | null;
    refund: bigint;
    feeKept: bigint | null;
  };
};

type NoticeFields = {
  order_cancelled: { orderHash: Hash };
  order_preapproved: { orderHash: Hash };
  order_preapproval_invalidated: { orderHash: Hash };
  user_paused: { user: Address; effectiveBlock: bigint };
  user_unpaused: { user: Address };
  user_pause_interval_updated: { oldInterval: bigint; newInterval: bigint };
  trading_paused: { by: Address };
  trading_unpaused: { by: Address };
  role_changed: { role: "admin" | "operator"; account: Address; granted: boolean; by: Address };
  fee_receiver_updated: { feeReceiver: Address };
  max_fee_rate_updated: { maxFeeRateBps: bigint };
};

type MarketFields = {
  condition_prepared: {
    conditionId: ConditionId;
    oracle: Address;
    questionId: Hash;
    outcomeSlotCount: number;
  };
  condition_resolved: {
    conditionId: ConditionId;
    /** Who reported it; in generation 3 the module itself. */
    oracle: Address;
    /** `null` in generation 3, whose conditions have no question id. */
    questionId: Hash | null;
    /** Numerators; the payout of outcome i is `payouts[i]` divided by their sum. */
    payouts: readonly bigint[];
  };
  token_registered: { token0: TokenId; token1: TokenId; conditionId: ConditionId };
  question_initialized: {
    questionId: Hash;
    /** `null` for the first UMA adapter, whose event does not name it. */
    creator: Address | null;
    /** UMA ancillary data, `0x` hex; text written by anyone, never to be trusted. */
    text: string;
    /** Whether `questionId` is the hash of `text` by the adapter's rule (version 2 and later). */
    isHashOfText: boolean;
  };
  question_updated: { questionId: Hash; owner: Address; text: string };
  neg_risk_market_prepared: { negRiskMarketId: Hash; oracle: Address; text: string };
  neg_risk_question_prepared: { negRiskMarketId: Hash; questionId: Hash; text: string };
  /** The operator's join of a neg-risk question with the UMA request that answers it. */
  neg_risk_question_requested: {
    negRiskMarketId: Hash;
    questionId: Hash;
    requestId: Hash;
    text: string;
  };
};

/** Event ids are 29 bytes and condition ids 31, both padded on the right. */
type Gen3MarketFields = {
  gen3_event_announced: {
    eventId: Hash;
    /** `incremental`: a text and a result per condition; `atomic`: one of each for all. */
    marketType: "binary" | "incremental" | "atomic";
  };
  gen3_reporter_added: { reporter: Address };
  /** `requestId` is the condition, or the event of an atomic one. */
  gen3_text_registered: { requestId: Hash; requester: Address; text: string };
  gen3_condition_migrated: { conditionId: ConditionId; legacyConditionId: ConditionId };
  gen3_combo_prepared: { conditionId: ConditionId; legs: readonly TokenId[] };
  /** One condition is YES: every other of the event that has no result is NO. */
  gen3_remaining_resolved_no: { eventId: Hash };
  /** All named conditions are NO: the Other is YES. */
  gen3_other_resolved_yes: { eventId: Hash; conditionId: ConditionId };
};

/** Events that are part of a match. */
export type TradeEvent = Union<TradeFields>;
/** Events that move no shares: what `/v1/cancellations` serves and what operators watch. */
export type ExchangeNotice = Union<NoticeFields>;
/** Events from which markets, their texts and their results are learnt. */
export type MarketEvent = Union<MarketFields>;
/** What is learnt of generation 3, whose conditions need no preparation. */
export type Gen3MarketEvent = Union<Gen3MarketFields>;
/** A log of a configured contract that does not fit its event's rules: kept raw, never dropped. */
export type Undecodable = { readonly kind: "undecodable"; readonly reason: string };
/** Every event. */
export type ChainEvent = TradeEvent | ExchangeNotice | MarketEvent | Gen3MarketEvent | Undecodable;
/** The event of a kind. */
type EventOf<Kind extends ChainEvent["kind"]> = Extract<ChainEvent, { readonly kind: Kind }>;
/** One order's part of a match. */
export type OrderFilled = EventOf<"order_filled">;
/** The exchange's summary of a match. */
export type OrdersMatched = EventOf<"orders_matched">;
/** A refund of a fee module. */
export type FeeRefunded = EventOf<"fee_refunded">;

const tradeKinds: ReadonlySet<ChainEvent["kind"]> = new Set([
  "order_filled",
  "orders_matched",
  "fee_charged",
  "fee_refunded",
]);

/** Whether an event is part of a match, and so means something only with the rest of it. */
export function isTradeEvent(event: ChainEvent): event is TradeEvent {
  return tradeKinds.has(event.kind);
}
