/**
 * The events of the contracts, in one shape for all generations, as fields by kind. Field names follow the contracts;
 * from `market/` on, the code uses its own nouns. Amounts are raw integers (6 decimals on the chain).
 */
import type { Address, ConditionId, Hash, TokenId } from "../base/ids.ts";

/** Whether an order buys or sells outcome tokens. */
export type Side = "BUY" | "SELL";

/** Turns a map of fields by kind into a union of events. */
type Union<Fields> = {
  [Kind in keyof Fields]: { readonly kind: Kind } & Readonly<Fields[Kind]>;
}[keyof Fields];

type TradeFields = {
  /** The part of one order in a match, from its own view: it gives `makerAmount` and receives `takerAmount`. */
  order_filled: {
    orderHash: Hash;
    maker: Address;
    taker: Address;
    side: Side;
    tokenId: TokenId;
    makerAmount: bigint;
    takerAmount: bigint;
    fee: bigint;
    /** The attribution code and an opaque hash, of generations 2 and 3; `null` when zero and in generation 1. */
    builder: Hash | null;
    metadata: Hash | null;
  };
  /** The exchange's summary of a match. Its other fields repeat the taker's `OrderFilled`. */
  orders_matched: { takerOrderHash: Hash };
  /** A fee paid at the exchange. Its fields repeat the `OrderFilled` of the order. */
  fee_charged: object;
  /** A refund by a fee module of generation 1. The module of 2023 reports neither the order nor the fee it kept. */
  fee_refunded: {
    orderHash: Hash | null;
    to: Address;
    tokenId: TokenId | null;
    refund: bigint;
    feeKept: bigint | null;
  };
};

/** An amount of one ERC-1155 token. */
export type TokenAmount = { readonly tokenId: TokenId; readonly amount: bigint };

/** How a position changes other than by a trade or a transfer. `hsplit` and `hmerge` are horizontal. */
export type PositionCause =
  | "split"
  | "merge"
  | "redeem"
  | "convert"
  | "hsplit"
  | "hmerge"
  | "wrap"
  | "unwrap"
  | "compress";

type PositionFields = {
  /** A `TransferSingle` or `TransferBatch`. A batch can name a token twice, and amounts can be 0. */
  tokens_transferred: {
    operator: Address;
    from: Address;
    to: Address;
    tokens: readonly TokenAmount[];
  };
  /** The reason of transfers before it, and of some after it: `market/derive-ledger.ts`. */
  positions_changed: {
    cause: PositionCause;
    /** The account that called the contract: a user, or a contract that acts for one. */
    account: Address;
    /** The receiver of the collateral, where the event names one. */
    recipient: Address | null;
    /** The collateral that the account received, with the fee of a conversion; negative when it paid. */
    cash: bigint;
    /** What a position of ConditionalTokens is made of; `null` for other contracts. */
    basis: {
      collateral: Address;
      parentCollectionId: Hash | null;
      indexSets: readonly bigint[];
    } | null;
  };
  /** A legacy token became the token of the same outcome in generation 3. */
  position_migrated: { account: Address; tokenId: TokenId; amount: bigint };
  /** Collateral of migrated legacy tokens became collateral of generation 3. */
  collateral_settled: { amount: bigint };
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
    /** The account that reported the result; in generation 3 the module itself. */
    oracle: Address;
    /** `null` in generation 3, whose conditions have no question id. */
    questionId: Hash | null;
    /** The payout numerators. The payout of outcome i is `payouts[i]` divided by their sum. */
    payouts: readonly bigint[];
  };
  token_registered: { token0: TokenId; token1: TokenId; conditionId: ConditionId };
  question_initialized: {
    questionId: Hash;
    /** `null` for the first UMA adapter, whose event does not contain it. */
    creator: Address | null;
    /** UMA ancillary data, as `0x` hex. Anyone can write it: never trust it. */
    text: string;
    /** Whether `questionId` is the hash of `text` by the adapter's rule (version 2 and later). */
    isHashOfText: boolean;
    /** The bond of a proposal, in units of the collateral. */
    bond: bigint;
  };
  question_updated: { questionId: Hash; owner: Address; text: string };
  /** `feeBips` is the fee of conversions, in hundredths of a percent. */
  neg_risk_market_prepared: {
    negRiskMarketId: Hash;
    oracle: Address;
    feeBips: bigint;
    text: string;
  };
  neg_risk_question_prepared: { negRiskMarketId: Hash; questionId: Hash; text: string };
  /** The operator links a neg-risk question to the UMA request that answers it. */
  neg_risk_question_requested: {
    negRiskMarketId: Hash;
    questionId: Hash;
    requestId: Hash;
    text: string;
  };
};

type OracleFields = {
  /** A step on the way to the result of a question. In generation 3 the question is a request of the aggregator. */
  oracle_step: {
    questionId: Hash;
    step: "requested" | "proposed" | "disputed" | "reset" | "settled";
    /** The contract that asked the oracle; `null` in events of the adapters and of generation 3. */
    requester: Address | null;
    /** Who requested, proposed, disputed or settled; `null` where the event does not say. */
    account: Address | null;
    /** The answer: at UMA times 10^18, in generation 3 times 10^6 or the index of the winner. */
    price: bigint | null;
    bond: bigint | null;
  };
};

/** Event ids have 29 bytes and condition ids 31. Both are padded with zeros on the right to 32 bytes. */
type Gen3MarketFields = {
  gen3_event_announced: {
    eventId: Hash;
    /** `incremental`: each condition has a text and a result; `atomic`: all conditions share one text and result. */
    marketType: "binary" | "incremental" | "atomic";
  };
  gen3_reporter_added: { eventId: Hash; reporter: Address };
  gen3_text_registered: {
    /** The condition, or the event if the event is atomic. */
    requestId: Hash;
    requester: Address;
    /** Whether the answer is a number, the index of the winning condition: only of atomic events. */
    isNumerical: boolean;
    /** The rules, as `0x` hex. */
    text: string;
  };
  /** An addition to the rules. The aggregator and the reporter both log it. */
  gen3_text_updated: { requestId: Hash; text: string };
  /** The price window of a question was evaluated. `questionId` is the hash of the window (`market/price-window.ts`). */
  gen3_window_reported: { eventId: Hash; questionId: Hash };
  /** A pair of assets that price windows can be about. */
  gen3_asset_pair_added: { assetPair: Hash };
  gen3_module_added: { module: Address };
  /** A proxy, which is the contract of the log, has other code. */
  gen3_contract_upgraded: { implementation: Address };
  gen3_condition_migrated: { conditionId: ConditionId; legacyConditionId: ConditionId };
  /** The result of a mirror was taken from its legacy condition. The result itself is a `condition_resolved`. */
  gen3_migration_resolved: { conditionId: ConditionId; legacyConditionId: ConditionId };
  gen3_combo_prepared: { conditionId: ConditionId; legs: readonly TokenId[] };
  /** One condition of the event is YES, so every other one without a result is NO. */
  gen3_remaining_resolved_no: { eventId: Hash };
  /** All named conditions of the event are NO, so its "Other" is YES. */
  gen3_other_resolved_yes: { eventId: Hash; conditionId: ConditionId };
};

/** Events that have a meaning only together with others of their transaction. */
type TradeEvent = Union<TradeFields & PositionFields>;
/** Exchange events that move no shares: those of `/v1/cancellations`, and those that operators watch. */
export type ExchangeNotice = Union<NoticeFields>;

/** Events that define markets, their texts and their results. */
export type MarketEvent = Union<MarketFields>;
/** Events that define markets of generation 3, whose conditions need no preparation. */
export type Gen3MarketEvent = Union<Gen3MarketFields>;
/** A step on the way to a result. */
export type OracleStep = Union<OracleFields>;
/** Events that are stored one by one. */
export type StoredEvent = ExchangeNotice | MarketEvent | Gen3MarketEvent | OracleStep;

/** By kind, the field of an event with the id or account that it is about; `null` for events about none. */
type SubjectFields<Event extends StoredEvent> = {
  readonly [One in Event as One["kind"]]: Exclude<keyof One, "kind"> | null;
};

const noticeSubjects = {
  order_cancelled: "orderHash",
  order_preapproved: "orderHash",
  order_preapproval_invalidated: "orderHash",
  user_paused: "user",
  user_unpaused: "user",
  user_pause_interval_updated: null,
  trading_paused: "by",
  trading_unpaused: "by",
  role_changed: "account",
  fee_receiver_updated: "feeReceiver",
  max_fee_rate_updated: null,
} as const satisfies SubjectFields<ExchangeNotice>;

/** By kind of event, the field by which it is looked up. */
export const subjectFieldByKind = {
  ...noticeSubjects,
  condition_prepared: "conditionId",
  condition_resolved: "conditionId",
  token_registered: "conditionId",
  question_initialized: "questionId",
  question_updated: "questionId",
  neg_risk_market_prepared: "negRiskMarketId",
  neg_risk_question_prepared: "questionId",
  neg_risk_question_requested: "questionId",
  oracle_step: "questionId",
  gen3_event_announced: "eventId",
  gen3_reporter_added: "reporter",
  gen3_text_registered: "requestId",
  gen3_text_updated: "requestId",
  gen3_window_reported: "eventId",
  gen3_asset_pair_added: "assetPair",
  gen3_module_added: "module",
  gen3_contract_upgraded: "implementation",
  gen3_condition_migrated: "conditionId",
  gen3_migration_resolved: "conditionId",
  gen3_combo_prepared: "conditionId",
  gen3_remaining_resolved_no: "eventId",
  gen3_other_resolved_yes: "conditionId",
} as const satisfies SubjectFields<StoredEvent>;

/** The kinds of all notices. */
export const noticeKinds = Object.keys(noticeSubjects) as readonly ExchangeNotice["kind"][];

/** A log of a configured contract that breaks the rules of its event. It is stored raw, never dropped. */
export type Undecodable = { readonly kind: "undecodable"; readonly reason: string };
/** Every event. */
export type ChainEvent = TradeEvent | StoredEvent | Undecodable;
type EventByKind<Kind extends ChainEvent["kind"]> = Extract<ChainEvent, { readonly kind: Kind }>;
/** The part of one order in a match. */
export type OrderFilled = EventByKind<"order_filled">;
/** The exchange's summary of a match. */
export type OrdersMatched = EventByKind<"orders_matched">;
/** A refund by a fee module. */
export type FeeRefunded = EventByKind<"fee_refunded">;
export type TokensTransferred = EventByKind<"tokens_transferred">;
export type PositionsChanged = EventByKind<"positions_changed">;
export type PositionMigrated = EventByKind<"position_migrated">;

const storedKinds: ReadonlySet<string> = new Set(Object.keys(subjectFieldByKind));

/** Whether an event is stored as it is. The others have a meaning only together. */
export function isStoredEvent(event: ChainEvent): event is StoredEvent {
  return storedKinds.has(event.kind);
}
