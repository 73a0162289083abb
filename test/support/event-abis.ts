/**
 * Every event that has a decoder, as its contract declares it, and the event that viem's decoding must give. This slow,
 * general decoder is the reference for the fast, handwritten one.
 */
import {
  type AbiEvent,
  decodeEventLog,
  type Hex,
  keccak256,
  parseAbiItem,
  toEventSelector,
} from "viem";
import type { Address, ConditionId, Hash, TokenId } from "../../src/base/ids.ts";
import { toTokenId } from "../../src/base/ids.ts";
import type { RawLog } from "../../src/chain/raw-log.ts";
import type { Contract } from "../../src/contracts/contracts.ts";
import type { ChainEvent } from "../../src/contracts/events.ts";
import { positionAbis } from "./position-abis.ts";

export type EventAbi = {
  readonly item: AbiEvent;
  /** `undecodable` represents every reason. */
  readonly expected: (args: EventArgs, emitter: Address) => ChainEvent;
};

/** The arguments of a log as decoded by viem, by name. */
export class EventArgs {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  uint(name: string): bigint {
    return BigInt(this.#values[name] as bigint | number);
  }

  uints(name: string): readonly bigint[] {
    return this.#values[name] as readonly bigint[];
  }

  hash(name: string): Hash {
    return this.#values[name] as Hash;
  }

  hashOrNull(name: string): Hash | null {
    return BigInt(this.hash(name)) === 0n ? null : this.hash(name);
  }

  /** A `bytes29` or `bytes31`, padded on the right to a word. */
  padded(name: string): Hash {
    return this.hash(name).padEnd(66, "0") as Hash;
  }

  condition(name: string): ConditionId {
    return this.padded(name) as string as ConditionId;
  }

  text(name: string): string {
    return this.hash(name);
  }

  address(name: string): Address {
    return this.hash(name).toLowerCase() as Address;
  }

  token(name: string): TokenId {
    return toTokenId(this.uint(name));
  }

  tokenOrNull(name: string): TokenId | null {
    return this.uint(name) === 0n ? null : this.token(name);
  }
}

const oracleStep = {
  kind: "oracle_step",
  requester: null,
  account: null,
  price: null,
  bond: null,
} as const;

const undecodable: ChainEvent = { kind: "undecodable", reason: "" };

/** The event that a log of `contract` must be, decoded by viem; `null` if it must have no decoder. */
export function decodeWithViem(log: RawLog, contract: Contract): ChainEvent | null {
  const abi = abisByTopic(contract).get(log.topics[0] ?? "0x");
  if (abi === undefined) return null;
  const { args } = decodeEventLog({
    abi: [abi.item],
    topics: log.topics as readonly string[] as [Hex, ...Hex[]],
    data: log.data as Hex,
  });
  const values = args as unknown as Readonly<Record<string, unknown>>;
  return abi.expected(new EventArgs(values), log.address);
}

const orderFilledV1 = event(
  `OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker,
    uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled,
    uint256 takerAmountFilled, uint256 fee)`,
  (args) => {
    const [gives, gets] = [args.uint("makerAssetId"), args.uint("takerAssetId")];
    if ((gives === 0n) === (gets === 0n)) return undecodable;
    return {
      kind: "order_filled",
      orderHash: args.hash("orderHash"),
      maker: args.address("maker"),
      taker: args.address("taker"),
      side: gives === 0n ? "BUY" : "SELL",
      tokenId: toTokenId(gives === 0n ? gets : gives),
      makerAmount: args.uint("makerAmountFilled"),
      takerAmount: args.uint("takerAmountFilled"),
      fee: args.uint("fee"),
      builder: null,
      metadata: null,
    };
  },
);

const exchangeV1: readonly EventAbi[] = [
  orderFilledV1,
  event(
    `OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker,
      uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled,
      uint256 takerAmountFilled)`,
    ordersMatched,
  ),
  event("OrderCancelled(bytes32 indexed orderHash)", (args) => ({
    kind: "order_cancelled",
    orderHash: args.hash("orderHash"),
  })),
  event("FeeCharged(address indexed receiver, uint256 tokenId, uint256 amount)", () => ({
    kind: "fee_charged",
  })),
  event(
    `TokenRegistered(uint256 indexed token0, uint256 indexed token1, bytes32 indexed conditionId)`,
    (args) => ({
      kind: "token_registered",
      token0: args.token("token0"),
      token1: args.token("token1"),
      conditionId: args.condition("conditionId"),
    }),
  ),
];

const exchangeV2And3: readonly EventAbi[] = [
  event(
    `OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker,
      uint8 side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled,
      uint256 fee, bytes32 builder, bytes32 metadata)`,
    (args) => {
      if (args.uint("side") > 1n) return undecodable;
      return {
        kind: "order_filled",
        orderHash: args.hash("orderHash"),
        maker: args.address("maker"),
        taker: args.address("taker"),
        side: args.uint("side") === 0n ? "BUY" : "SELL",
        tokenId: args.token("tokenId"),
        makerAmount: args.uint("makerAmountFilled"),
        takerAmount: args.uint("takerAmountFilled"),
        fee: args.uint("fee"),
        builder: args.hashOrNull("builder"),
        metadata: args.hashOrNull("metadata"),
      };
    },
  ),
  event(
    `OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, uint8 side,
      uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled)`,
    ordersMatched,
  ),
  event("FeeCharged(address indexed receiver, uint256 amount)", () => ({ kind: "fee_charged" })),
  event("OrderPreapproved(bytes32 indexed orderHash)", (args) => ({
    kind: "order_preapproved",
    orderHash: args.hash("orderHash"),
  })),
  event("OrderPreapprovalInvalidated(bytes32 indexed orderHash)", (args) => ({
    kind: "order_preapproval_invalidated",
    orderHash: args.hash("orderHash"),
  })),
  event("UserPaused(address indexed user, uint256 effectivePauseBlock)", (args) => ({
    kind: "user_paused",
    user: args.address("user"),
    effectiveBlock: args.uint("effectivePauseBlock"),
  })),
  event("UserUnpaused(address indexed user)", (args) => ({
    kind: "user_unpaused",
    user: args.address("user"),
  })),
  event("UserPauseBlockIntervalUpdated(uint256 oldInterval, uint256 newInterval)", (args) => ({
    kind: "user_pause_interval_updated",
    oldInterval: args.uint("oldInterval"),
    newInterval: args.uint("newInterval"),
  })),
];

const exchangeV2Settings: readonly EventAbi[] = [
  event("FeeReceiverUpdated(address indexed feeReceiver)", (args) => ({
    kind: "fee_receiver_updated",
    feeReceiver: args.address("feeReceiver"),
  })),
  event("MaxFeeRateUpdated(uint256 maxFeeRate)", (args) => ({
    kind: "max_fee_rate_updated",
    maxFeeRateBps: args.uint("maxFeeRate"),
  })),
];

const pauses: readonly EventAbi[] = [
  event("TradingPaused(address indexed pauser)", (args) => ({
    kind: "trading_paused",
    by: args.address("pauser"),
  })),
  event("TradingUnpaused(address indexed pauser)", (args) => ({
    kind: "trading_unpaused",
    by: args.address("pauser"),
  })),
];

const roles: readonly EventAbi[] = [
  roleEvent("NewAdmin", { role: "admin", granted: true }),
  roleEvent("NewOperator", { role: "operator", granted: true }),
  roleEvent("RemovedAdmin", { role: "admin", granted: false }),
  roleEvent("RemovedOperator", { role: "operator", granted: false }),
];

const feeModule: readonly EventAbi[] = [
  event(
    `FeeRefunded(bytes32 indexed orderHash, address indexed to, uint256 id, uint256 refund,
      uint256 indexed feeCharged)`,
    (args) => ({
      kind: "fee_refunded",
      orderHash: args.hash("orderHash"),
      to: args.address("to"),
      tokenId: args.tokenOrNull("id"),
      refund: args.uint("refund"),
      feeKept: args.uint("feeCharged"),
    }),
  ),
  event("FeeRefunded(address token, address to, uint256 id, uint256 amount)", (args) => ({
    kind: "fee_refunded",
    orderHash: null,
    to: args.address("to"),
    tokenId: args.tokenOrNull("id"),
    refund: args.uint("amount"),
    feeKept: null,
  })),
];

const conditionalTokens: readonly EventAbi[] = [
  event(
    `ConditionPreparation(bytes32 indexed conditionId, address indexed oracle,
      bytes32 indexed questionId, uint256 outcomeSlotCount)`,
    (args) => {
      const slots = args.uint("outcomeSlotCount");
      if (slots < 2n || slots > 256n) return undecodable;
      return {
        kind: "condition_prepared",
        conditionId: args.condition("conditionId"),
        oracle: args.address("oracle"),
        questionId: args.hash("questionId"),
        outcomeSlotCount: Number(slots),
      };
    },
  ),
  event(
    `ConditionResolution(bytes32 indexed conditionId, address indexed oracle,
      bytes32 indexed questionId, uint256 outcomeSlotCount, uint256[] payoutNumerators)`,
    (args) => {
      const payouts = args.uints("payoutNumerators");
      const isComplete = BigInt(payouts.length) === args.uint("outcomeSlotCount");
      if (!isComplete || !payouts.some((payout) => payout > 0n)) return undecodable;
      return {
        kind: "condition_resolved",
        conditionId: args.condition("conditionId"),
        oracle: args.address("oracle"),
        questionId: args.hash("questionId"),
        payouts,
      };
    },
  ),
];

const negRiskAdapter: readonly EventAbi[] = [
  event(
    "MarketPrepared(bytes32 indexed marketId, address indexed oracle, uint256 feeBips, bytes data)",
    (args) => ({
      kind: "neg_risk_market_prepared",
      negRiskMarketId: args.hash("marketId"),
      oracle: args.address("oracle"),
      feeBips: args.uint("feeBips"),
      text: args.text("data"),
    }),
  ),
  event(
    `QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId, uint256 index,
      bytes data)`,
    (args) => ({
      kind: "neg_risk_question_prepared",
      negRiskMarketId: args.hash("marketId"),
      questionId: args.hash("questionId"),
      text: args.text("data"),
    }),
  ),
];

const negRiskOperator: readonly EventAbi[] = [
  event(
    `QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId,
      bytes32 indexed requestId, uint256 index, bytes data)`,
    (args) => ({
      kind: "neg_risk_question_requested",
      negRiskMarketId: args.hash("marketId"),
      questionId: args.hash("questionId"),
      requestId: args.hash("requestId"),
      text: args.text("data"),
    }),
  ),
];

const umaAdapter: readonly EventAbi[] = [
  event(
    `QuestionInitialized(bytes32 indexed questionID, uint256 indexed requestTimestamp,
      address indexed creator, bytes ancillaryData, address rewardToken, uint256 reward,
      uint256 proposalBond)`,
    (args) => ({
      kind: "question_initialized",
      questionId: args.hash("questionID"),
      creator: args.address("creator"),
      text: args.text("ancillaryData"),
      isHashOfText: true,
      bond: args.uint("proposalBond"),
    }),
  ),
  event(
    "AncillaryDataUpdated(bytes32 indexed questionID, address indexed owner, bytes update)",
    (args) => ({
      kind: "question_updated",
      questionId: args.hash("questionID"),
      owner: args.address("owner"),
      text: args.text("update"),
    }),
  ),
];

const umaAdapterV1: readonly EventAbi[] = [
  event(
    `QuestionInitialized(bytes32 indexed questionID, bytes ancillaryData, uint256 resolutionTime,
      address rewardToken, uint256 reward, uint256 proposalBond, bool earlyResolutionEnabled)`,
    (args) => ({
      kind: "question_initialized",
      questionId: args.hash("questionID"),
      creator: null,
      text: args.text("ancillaryData"),
      isHashOfText: false,
      bond: args.uint("proposalBond"),
    }),
  ),
];

const questionReset = event("QuestionReset(bytes32 indexed questionID)", (args) => ({
  ...oracleStep,
  questionId: args.hash("questionID"),
  step: "reset",
}));

const optimisticOracle: readonly EventAbi[] = [
  event(
    `RequestPrice(address indexed requester, bytes32 identifier, uint256 timestamp,
      bytes ancillaryData, address currency, uint256 reward, uint256 finalFee)`,
    (args) => ({ ...ofOracle(args), step: "requested" }),
  ),
  event(
    `ProposePrice(address indexed requester, address indexed proposer, bytes32 identifier,
      uint256 timestamp, bytes ancillaryData, int256 proposedPrice, uint256 expirationTimestamp,
      address currency)`,
    (args) => ({
      ...ofOracle(args),
      step: "proposed",
      account: args.address("proposer"),
      price: args.uint("proposedPrice"),
    }),
  ),
  event(
    `DisputePrice(address indexed requester, address indexed proposer, address indexed disputer,
      bytes32 identifier, uint256 timestamp, bytes ancillaryData, int256 proposedPrice)`,
    (args) => ({
      ...ofOracle(args),
      step: "disputed",
      account: args.address("disputer"),
      price: args.uint("proposedPrice"),
    }),
  ),
  event(
    `Settle(address indexed requester, address indexed proposer, address indexed disputer,
      bytes32 identifier, uint256 timestamp, bytes ancillaryData, int256 price, uint256 payout)`,
    (args) => ({ ...ofOracle(args), step: "settled", price: args.uint("price") }),
  ),
];

function ofOracle(args: EventArgs) {
  const questionId = keccak256(args.hash("ancillaryData") as string as Hex) as string as Hash;
  return { ...oracleStep, questionId, requester: args.address("requester") };
}

const firstAdapterSteps: readonly EventAbi[] = [
  questionReset,
  event(
    `ResolutionDataRequested(address indexed requestor, uint256 indexed requestTimestamp,
      bytes32 indexed questionID, bytes32 identifier, bytes ancillaryData, address rewardToken,
      uint256 reward, uint256 proposalBond, bool earlyResolutionEnabled)`,
    (args) => ({
      ...oracleStep,
      questionId: args.hash("questionID"),
      step: "requested",
      account: args.address("requestor"),
      bond: args.uint("proposalBond"),
    }),
  ),
  event(
    `QuestionSettled(bytes32 indexed questionID, int256 indexed settledPrice,
      bool indexed earlyResolution)`,
    (args) => ({
      ...oracleStep,
      questionId: args.hash("questionID"),
      step: "settled",
      price: args.uint("settledPrice"),
    }),
  ),
];

const aggregatorSteps: readonly EventAbi[] = [
  event(
    "OutcomeProposed(bytes32 indexed requestId, bytes32 resultHash, uint256[] result)",
    (args) => {
      const [price] = args.uints("result");
      if (price === undefined) return undecodable;
      return { ...oracleStep, questionId: args.hash("requestId"), step: "proposed", price };
    },
  ),
  event("ResultDisputed(bytes32 indexed requestId, address indexed module)", (args) => ({
    ...oracleStep,
    questionId: args.hash("requestId"),
    step: "disputed",
    account: args.address("module"),
  })),
  event(
    "RequestResolved(bytes32 indexed requestId, bytes32 resultHash, address indexed resolver)",
    (args) => ({
      ...oracleStep,
      questionId: args.hash("requestId"),
      step: "settled",
      account: args.address("resolver"),
    }),
  ),
];

const reporterSteps: readonly EventAbi[] = [
  event(
    `RequestInitialized(bytes32 indexed requestId, uint256 indexed requestTimestamp,
      address indexed oracleInitializer, bytes32 identifier, bytes requestRules,
      address rewardToken, uint256 reward, uint256 bond, uint64 liveness, uint256 last)`,
    (args) => ({
      ...oracleStep,
      questionId: args.hash("requestId"),
      step: "requested",
      account: args.address("oracleInitializer"),
    }),
  ),
];

const oracleAggregator: readonly EventAbi[] = [
  event(
    `RequestInitialized(bytes29 indexed eventId, address targetContract, uint256 a, uint256 b,
      uint16 c, uint8 marketType, address d, uint32 e, address f)`,
    (args) => {
      const marketTypes = ["binary", "incremental", "atomic"] as const;
      const marketType = marketTypes[Number(args.uint("marketType"))];
      if (marketType === undefined) return undecodable;
      return { kind: "gen3_event_announced", eventId: args.padded("eventId"), marketType };
    },
  ),
  event("ReporterModuleAdded(bytes29 indexed eventId, address indexed module)", (args) => ({
    kind: "gen3_reporter_added",
    eventId: args.padded("eventId"),
    reporter: args.address("module"),
  })),
  event(
    "RuleAdded(bytes32 indexed requestId, uint256 index, uint256 timestamp, bytes data)",
    (args) => ({
      kind: "gen3_text_updated",
      requestId: args.hash("requestId"),
      text: args.text("data"),
    }),
  ),
];

const ooReporter: readonly EventAbi[] = [
  event(
    `RequestRegistered(bytes32 indexed requestId, address indexed requester,
      bytes32 indexed priceIdentifier, bytes requestRules, uint64 minimumLiveness,
      uint64 maximumLiveness)`,
    (args) => ({
      kind: "gen3_text_registered",
      requestId: args.hash("requestId"),
      requester: args.address("requester"),
      isNumerical: args.hash("priceIdentifier") === `0x${"4e554d45524943414c".padEnd(64, "0")}`,
      text: args.text("requestRules"),
    }),
  ),
  event(
    `RequestRulesUpdated(bytes32 indexed requestId, uint256 indexed timestamp,
      address indexed updater, bytes updatedRules)`,
    (args) => ({
      kind: "gen3_text_updated",
      requestId: args.hash("requestId"),
      text: args.text("updatedRules"),
    }),
  ),
];

const anyModule: readonly EventAbi[] = [
  event("ConditionResolved(bytes31 indexed conditionId, uint256[] result)", (args, emitter) => {
    const payouts = args.uints("result");
    const [first = 0n, second = 0n, ...more] = payouts;
    const isResult = payouts.length === 2 && more.length === 0 && first + second === 1_000_000n;
    if (!isResult) return undecodable;
    return {
      kind: "condition_resolved",
      conditionId: args.condition("conditionId"),
      oracle: emitter,
      questionId: null,
      payouts,
    };
  }),
  event(
    `MigrationConditionRegistered(bytes31 indexed v2ConditionId,
      bytes32 indexed legacyConditionId)`,
    (args) => ({
      kind: "gen3_condition_migrated",
      conditionId: args.condition("v2ConditionId"),
      legacyConditionId: args.condition("legacyConditionId"),
    }),
  ),
  event(
    `MigrationResolved(bytes31 indexed conditionId, bytes32 indexed legacyConditionId,
      uint256 payout0, uint256 payout1, uint256 result0, uint256 result1)`,
    (args) => ({
      kind: "gen3_migration_resolved",
      conditionId: args.condition("conditionId"),
      legacyConditionId: args.condition("legacyConditionId"),
    }),
  ),
];

const negRiskModule: readonly EventAbi[] = [
  ...anyModule,
  event("RemainingConditionsDerivableAsNo(bytes29 indexed eventId)", (args) => ({
    kind: "gen3_remaining_resolved_no",
    eventId: args.padded("eventId"),
  })),
  event(
    "SyntheticConditionDerivableAsYes(bytes29 indexed eventId, bytes31 indexed conditionId)",
    (args) => ({
      kind: "gen3_other_resolved_yes",
      eventId: args.padded("eventId"),
      conditionId: args.condition("conditionId"),
    }),
  ),
];

const combinatorialModule: readonly EventAbi[] = [
  event("CombinatorialConditionPrepared(bytes31 indexed conditionId, uint256[] legs)", (args) => {
    const legs = args.uints("legs");
    if (legs.length < 1 || legs.length > 50) return undecodable;
    return {
      kind: "gen3_combo_prepared",
      conditionId: args.condition("conditionId"),
      legs: legs.map(toTokenId),
    };
  }),
];

const upgraded = event("Upgraded(address indexed implementation)", (args) => ({
  kind: "gen3_contract_upgraded",
  implementation: args.address("implementation"),
}));

const chainlinkModule: readonly EventAbi[] = [
  event(
    `RequestReported(bytes29 indexed requestId, bytes32 indexed questionId, int192 startPrice,
      int192 endPrice, uint256 payout)`,
    (args) => ({
      kind: "gen3_window_reported",
      eventId: args.padded("requestId"),
      questionId: args.hash("questionId"),
    }),
  ),
  event("FeedIdUpdated(bytes32 indexed assetPair, bytes32 feedId)", (args) => ({
    kind: "gen3_asset_pair_added",
    assetPair: args.hash("assetPair"),
  })),
];

const positionManager: readonly EventAbi[] = [
  event("ModuleAdded(uint256 indexed moduleId, address indexed module)", (args) => ({
    kind: "gen3_module_added",
    module: args.address("module"),
  })),
];

const exchangeAbis = {
  1: [...exchangeV1, ...pauses, ...roles],
  2: [...exchangeV2And3, ...exchangeV2Settings, ...pauses, ...roles],
  3: [...exchangeV2And3, ...pauses, upgraded],
} as const;

const otherAbis = {
  fee_module: feeModule,
  conditional_tokens: conditionalTokens,
  neg_risk_adapter: negRiskAdapter,
  neg_risk_operator: negRiskOperator,
  uma_adapter: [...umaAdapter, questionReset],
  uma_adapter_v1: [...umaAdapterV1, ...firstAdapterSteps],
  optimistic_oracle: optimisticOracle,
  oracle: [],
  oracle_aggregator: [...oracleAggregator, ...aggregatorSteps, upgraded],
  oo_reporter: [...ooReporter, ...reporterSteps, upgraded],
  reporter_module: [upgraded],
  chainlink_module: [...chainlinkModule, upgraded],
  position_manager: [...positionManager, upgraded],
  binary_module: [...anyModule, upgraded],
  neg_risk_module: [...negRiskModule, upgraded],
  combinatorial_module: [...combinatorialModule, upgraded],
  collateral_adapter: [],
  auto_redeemer: [],
  router: [],
  neg_risk_vault: [],
  burn_address: [],
} as const;

const abisByKind = new Map<string, readonly EventAbi[]>(
  Object.entries(otherAbis).map(([kind, abis]) => {
    const positions = kind in positionAbis ? positionAbis[kind as keyof typeof positionAbis] : [];
    return [kind, [...abis, ...positions.map(([declaration, read]) => event(declaration, read))]];
  }),
);

/** The events of a contract that must have a decoder. No other events may have one. */
export function getAbis(contract: Contract): readonly EventAbi[] {
  return contract.kind === "exchange"
    ? exchangeAbis[contract.generation]
    : (abisByKind.get(contract.kind) ?? []);
}

const byTopicCache = new Map<readonly EventAbi[], ReadonlyMap<string, EventAbi>>();

function abisByTopic(contract: Contract): ReadonlyMap<string, EventAbi> {
  const abis = getAbis(contract);
  const cached = byTopicCache.get(abis);
  if (cached !== undefined) return cached;
  const byTopic = new Map(abis.map((abi) => [toEventSelector(abi.item), abi]));
  byTopicCache.set(abis, byTopic);
  return byTopic;
}

function event(declaration: string, expected: EventAbi["expected"]): EventAbi {
  const oneLine = declaration.replaceAll(/\s+/g, " ");
  return { item: parseAbiItem(`event ${oneLine}`) as AbiEvent, expected };
}

function ordersMatched(args: EventArgs): ChainEvent {
  return { kind: "orders_matched", takerOrderHash: args.hash("takerOrderHash") };
}

function roleEvent(
  name: string,
  change: { readonly role: "admin" | "operator"; readonly granted: boolean },
): EventAbi {
  return event(`${name}(address indexed account, address indexed admin)`, (args) => ({
    kind: "role_changed",
    ...change,
    account: args.address("account"),
    by: args.address("admin"),
  }));
}
