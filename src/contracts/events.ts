/**
 * What the contracts say, in one shape for all generations. Field names follow the contracts here;
 * from `market/` on, our own nouns are used. Amounts are raw integers (6 decimals on the chain).
 */
import type { Address, ConditionId, Hash, TokenId } from "../base/ids.ts";

/** What the owner of an order does with outcome tokens. */
export type Side = "BUY" | "SELL";

/** One order's part of a match, from the order's own view: it gives `makerAmount`. */
export type OrderFilled = {
  readonly kind: "order_filled";
  readonly orderHash: Hash;
  readonly maker: Address;
  readonly taker: Address;
  readonly side: Side;
  readonly tokenId: TokenId;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly fee: bigint;
  /** Attribution code and opaque hash of generations 2 and 3; `null` when zero or generation 1. */
  readonly builder: Hash | null;
  readonly metadata: Hash | null;
};

/** The exchange's summary of a match; repeats the taker's `OrderFilled`. */
export type OrdersMatched = {
  readonly kind: "orders_matched";
  readonly takerOrderHash: Hash;
  readonly takerOrderMaker: Address;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
};

/** A fee paid at the exchange; `tokenId` is `null` for collateral. */
type FeeCharged = {
  readonly kind: "fee_charged";
  readonly receiver: Address;
  readonly tokenId: TokenId | null;
  readonly amount: bigint;
};

/**
 * What a fee module of generation 1 gave back. The module of 2023 named neither the order nor the
 * fee it kept: both are `null` then.
 */
export type FeeRefunded = {
  readonly kind: "fee_refunded";
  readonly orderHash: Hash | null;
  readonly to: Address;
  readonly tokenId: TokenId | null;
  readonly refund: bigint;
  readonly feeKept: bigint | null;
};

/** Events that move no shares: what `/v1/cancellations` serves and what operators watch. */
export type ExchangeNotice =
  | { readonly kind: "order_cancelled"; readonly orderHash: Hash }
  | { readonly kind: "order_preapproved"; readonly orderHash: Hash }
  | { readonly kind: "order_preapproval_invalidated"; readonly orderHash: Hash }
  | { readonly kind: "user_paused"; readonly user: Address; readonly effectiveBlock: bigint }
  | { readonly kind: "user_unpaused"; readonly user: Address }
  | {
      readonly kind: "user_pause_interval_updated";
      readonly oldInterval: bigint;
      readonly newInterval: bigint;
    }
  | { readonly kind: "trading_paused"; readonly by: Address }
  | { readonly kind: "trading_unpaused"; readonly by: Address }
  | {
      readonly kind: "role_changed";
      readonly role: "admin" | "operator";
      readonly account: Address;
      readonly granted: boolean;
      readonly by: Address;
    }
  | { readonly kind: "fee_receiver_updated"; readonly feeReceiver: Address }
  | { readonly kind: "max_fee_rate_updated"; readonly maxFeeRateBps: bigint };

/** Events from which markets, their texts and their results are learnt. */
export type MarketEvent =
  | {
      readonly kind: "condition_prepared";
      readonly conditionId: ConditionId;
      readonly oracle: Address;
      readonly questionId: Hash;
      readonly outcomeSlotCount: number;
    }
  | {
      readonly kind: "condition_resolved";
      readonly conditionId: ConditionId;
      /** Who reported it; in generation 3 the module itself. */
      readonly oracle: Address;
      /** `null` in generation 3, whose conditions have no question id. */
      readonly questionId: Hash | null;
      /** Numerators; the payout of outcome i is `payouts[i]` divided by their sum. */
      readonly payouts: readonly bigint[];
    }
  | {
      readonly kind: "token_registered";
      readonly token0: TokenId;
      readonly token1: TokenId;
      readonly conditionId: ConditionId;
    }
  | {
      readonly kind: "question_initialized";
      readonly questionId: Hash;
      /** `null` for the first UMA adapter, whose event does not name it. */
      readonly creator: Address | null;
      /** UMA ancillary data, `0x` hex; text written by anyone, never to be trusted. */
      readonly text: string;
      /** Whether `questionId` is the hash of `text` by the adapter's rule (version 2 and later). */
      readonly isHashOfText: boolean;
    }
  | {
      readonly kind: "question_updated";
      readonly questionId: Hash;
      readonly owner: Address;
      readonly text: string;
    }
  | {
      readonly kind: "neg_risk_market_prepared";
      readonly negRiskMarketId: Hash;
      readonly oracle: Address;
      readonly text: string;
    }
  | {
      readonly kind: "neg_risk_question_prepared";
      readonly negRiskMarketId: Hash;
      readonly questionId: Hash;
      readonly text: string;
    }
  | {
      /** The operator's join of a neg-risk question with the UMA request that answers it. */
      readonly kind: "neg_risk_question_requested";
      readonly negRiskMarketId: Hash;
      readonly questionId: Hash;
      readonly requestId: Hash;
      readonly text: string;
    };

/**
 * What is learnt of generation 3, whose conditions no one has to prepare. Event ids are 29 bytes and
 * condition ids 31, both padded on the right.
 */
export type Gen3MarketEvent =
  | {
      readonly kind: "gen3_event_announced";
      readonly eventId: Hash;
      /** `incremental`: a text and a result per condition; `atomic`: one of each for all. */
      readonly marketType: "binary" | "incremental" | "atomic";
    }
  | { readonly kind: "gen3_reporter_added"; readonly reporter: Address }
  | {
      /** `requestId` is the condition, or the event of an atomic one. */
      readonly kind: "gen3_text_registered";
      readonly requestId: Hash;
      readonly requester: Address;
      readonly text: string;
    }
  | {
      readonly kind: "gen3_condition_migrated";
      readonly conditionId: ConditionId;
      readonly legacyConditionId: ConditionId;
    }
  | {
      readonly kind: "gen3_combo_prepared";
      readonly conditionId: ConditionId;
      readonly legs: readonly TokenId[];
    }
  | {
      /** One condition is YES: every other of the event that has no result is NO. */
      readonly kind: "gen3_remaining_resolved_no";
      readonly eventId: Hash;
    }
  | {
      /** All named conditions are NO: the Other is YES. */
      readonly kind: "gen3_other_resolved_yes";
      readonly eventId: Hash;
      readonly conditionId: ConditionId;
    };

/** A log of a configured contract that does not fit its event's rules: kept raw, never dropped. */
export type Undecodable = { readonly kind: "undecodable"; readonly reason: string };

/** Every event, by what it is about. */
export type TradeEvent = OrderFilled | OrdersMatched | FeeCharged | FeeRefunded;
export type ChainEvent = TradeEvent | ExchangeNotice | MarketEvent | Gen3MarketEvent | Undecodable;

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
