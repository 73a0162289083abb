/** A few markets of every kind, with their logs and some other logs. */
import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from "viem";
import type { Address, ConditionId, Hash, TokenId } from "../../src/base/ids.ts";
import type { RawLog } from "../../src/chain/raw-log.ts";
import type { Contract } from "../../src/contracts/contracts.ts";
import { deriveConditionId, deriveTokenIds } from "../../src/market/ids/condition-ids.ts";
import { deriveGen3ConditionId, deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import { toKeccak } from "../../src/market/ids/keccak.ts";
import { deriveComboConditionId, deriveMigratedConditionId } from "./derive-gen3-ids.ts";
import { getAbis } from "./event-abis.ts";
import type { Pair } from "./generate-matches.ts";
import { knownContracts } from "./recorded-chain.ts";

export type LogContent = Pick<RawLog, "address" | "topics" | "data">;

const contracts = knownContracts();
const all = [...contracts.byAddress.values()];
const [adapter, otherAdapter] = all.filter(({ kind }) => kind === "uma_adapter");
const firstAdapter = only("uma_adapter_v1");
const tokens = only("conditional_tokens");
const negRiskAdapter = only("neg_risk_adapter");
const negRiskOperator = only("neg_risk_operator");
const feeModule = only("fee_module");
const aggregator = only("oracle_aggregator");
const negRiskModule = only("neg_risk_module");

export const knownCreator = [...contracts.knownCreators][0] as Address;
export const stranger = `0x${"57".repeat(20)}` as Address;
const unknownOracle = `0x${"0c".repeat(20)}` as Address;

/** The exchange of a kind; the first one if there are several. */
export function getExchange(generation: 1 | 2 | 3, name: "standard" | "neg_risk"): Contract {
  const found = all.find(
    (contract) =>
      contract.kind === "exchange" &&
      contract.generation === generation &&
      contract.exchange === name,
  );
  return defined(found);
}

/** The text of a question in the format of current adapters, with its creator at the end. */
export function umaText(question: {
  readonly title: string;
  readonly creator: Address;
  readonly outcomes?: readonly [string, string];
}): string {
  const [first, second] = question.outcomes ?? ["Yes", "No"];
  return (
    `q: title: ${question.title}, description: About ${question.title}. market_id: 7 ` +
    `res_data: p1: 0, p2: 1, p3: 0.5. Where p1 corresponds to ${second}, p2 to ${first}, ` +
    `p3 to unknown/50-50,initializer:${question.creator.slice(2)}`
  );
}

export type TestMarket = {
  readonly oracle: Address;
  readonly questionId: Hash;
  readonly conditionId: ConditionId;
  /** The tokens of two outcomes. No tokens are derived for more outcomes. */
  readonly tokenIds: readonly TokenId[];
  readonly outcomeCount: number;
};

const standardText = umaText({ title: "Standard, isn't it?", creator: knownCreator });
const namedText = umaText({ title: "A: B?", creator: stranger, outcomes: ["FaZe", "illwill"] });
const requestText = umaText({ title: "Will one of three win?", creator: knownCreator });
const negRiskMarketId = `0x${"a7".repeat(31)}00` as Hash;
const negRiskQuestionId = `0x${"a7".repeat(31)}05` as Hash;
const freeQuestionId = `0x${"f1".repeat(32)}` as Hash;

/** Markets named for their special property. */
export const testMarkets = {
  standard: market(defined(adapter).address, getHash(standardText)),
  /** The same question on another adapter, where it was never asked. */
  sameQuestion: market(defined(otherAdapter).address, getHash(standardText)),
  strangersQuestion: market(defined(adapter).address, getHash(namedText)),
  /** A market whose question id is not a hash of its text. */
  firstAdapter: market(firstAdapter.address, freeQuestionId),
  unknownOracle: market(unknownOracle, `0x${"0d".repeat(32)}` as Hash),
  negRisk: market(negRiskAdapter.address, negRiskQuestionId),
  threeOutcomes: market(unknownOracle, `0x${"03".repeat(32)}` as Hash, 3),
} as const;

export const allTestMarkets: readonly TestMarket[] = Object.values(testMarkets);

const gen3Event = `0x02${"d2".repeat(16)}0002`.padEnd(66, "0") as Hash;
const gen3OtherEvent = `0x02${"d3".repeat(16)}0001`.padEnd(66, "0") as Hash;
const gen3Binary = `0x01${"d1".repeat(16)}`.padEnd(66, "0") as ConditionId;
const comboLegs = [...deriveGen3TokenIds(gen3Binary).slice(0, 1), tokenOfEvent(1)];

/** Conditions of generation 3, which need no preparation. */
export const gen3Conditions = {
  binary: gen3Binary,
  /** Three conditions of one event; the last is its "Other". */
  first: deriveGen3ConditionId(gen3Event, 0),
  second: deriveGen3ConditionId(gen3Event, 1),
  other: deriveGen3ConditionId(gen3Event, 2),
  /** The "Other" of an event whose only named condition resolved to No. */
  derivedYes: deriveGen3ConditionId(gen3OtherEvent, 1),
  migrated: deriveMigratedConditionId(testMarkets.standard.conditionId),
  combo: deriveComboConditionId(comboLegs),
} as const;

/** The pairs that are traded: most of the above, and some conditions of generation 3. */
export const testPairs: { legacy: readonly Pair[]; generation3: readonly Pair[] } = {
  legacy: [
    testMarkets.standard,
    testMarkets.strangersQuestion,
    testMarkets.unknownOracle,
    testMarkets.negRisk,
  ].map(({ tokenIds }) => [tokenIds[0], tokenIds[1]] as Pair),
  generation3: [gen3Conditions.binary, gen3Conditions.first, gen3Conditions.combo].map(
    deriveGen3TokenIds,
  ),
};

const gen3Text = umaText({ title: "Of generation 3", creator: stranger });
const gen3Logs: readonly LogContent[] = [
  announcement(gen3Binary as string as Hash, 0),
  announcement(gen3Event, 1),
  addedReporter(knownCreator),
  registeredText(gen3Conditions.binary, knownCreator),
  registeredText(gen3Conditions.first, stranger),
  encodeLog(aggregator, "RuleAdded", {
    requestId: gen3Conditions.binary,
    index: 0n,
    timestamp: 0n,
    data: toHex("The deadline is noon."),
  }),
  encodeLog(only("oo_reporter"), "RequestRulesUpdated", {
    requestId: gen3Conditions.binary,
    timestamp: 0n,
    updater: knownCreator,
    updatedRules: toHex("The deadline is noon."),
  }),
  encodeLog(only("combinatorial_module"), "CombinatorialConditionPrepared", {
    conditionId: bytes31(gen3Conditions.combo),
    legs: comboLegs.map(BigInt),
  }),
  encodeLog(only("binary_module"), "MigrationConditionRegistered", {
    v2ConditionId: bytes31(gen3Conditions.migrated),
    legacyConditionId: testMarkets.standard.conditionId,
  }),
  encodeLog(only("binary_module"), "ConditionResolved", {
    conditionId: bytes31(gen3Conditions.binary),
    result: [333_333n, 666_667n],
  }),
  encodeLog(negRiskModule, "ConditionResolved", {
    conditionId: bytes31(gen3Conditions.second),
    result: [1_000_000n, 0n],
  }),
  encodeLog(negRiskModule, "RemainingConditionsDerivableAsNo", { eventId: bytes29(gen3Event) }),
  encodeLog(negRiskModule, "SyntheticConditionDerivableAsYes", {
    eventId: bytes29(gen3OtherEvent),
    conditionId: bytes31(gen3Conditions.derivedYes),
  }),
];

/** All events about the markets, each once, in no particular order. */
export const marketLogs: readonly LogContent[] = [
  ...allTestMarkets.map(({ conditionId, oracle, questionId, outcomeCount }) =>
    encodeLog(tokens, "ConditionPreparation", {
      conditionId,
      oracle,
      questionId,
      outcomeSlotCount: BigInt(outcomeCount),
    }),
  ),
  ...getRegistrations(testMarkets.standard, getExchange(1, "standard")),
  ...getRegistrations(testMarkets.negRisk, getExchange(1, "neg_risk")),
  questionLog(defined(adapter), standardText, knownCreator),
  questionLog(defined(adapter), namedText, stranger),
  questionLog(defined(otherAdapter), requestText, knownCreator),
  // A text that does not hash to its claimed id.
  encodeLog(defined(adapter), "QuestionInitialized", {
    ...initialized(umaText({ title: "Forged", creator: knownCreator }), knownCreator),
    questionID: getHash(standardText),
  }),
  encodeLog(firstAdapter, "QuestionInitialized", {
    questionID: freeQuestionId,
    ancillaryData: toHex("q: title: Old, description: As they were."),
    resolutionTime: 1n,
    rewardToken: stranger,
    reward: 0n,
    proposalBond: 0n,
    earlyResolutionEnabled: true,
  }),
  encodeLog(negRiskAdapter, "MarketPrepared", {
    marketId: negRiskMarketId,
    oracle: negRiskOperator.address,
    feeBips: 0n,
    data: toHex("title: Three, description: One of three., id: 4711"),
  }),
  encodeLog(negRiskAdapter, "QuestionPrepared", {
    marketId: negRiskMarketId,
    questionId: negRiskQuestionId,
    index: 5n,
    data: toHex("title: One of three, description: D"),
  }),
  encodeLog(negRiskOperator, "QuestionPrepared", {
    marketId: negRiskMarketId,
    questionId: negRiskQuestionId,
    requestId: getHash(requestText),
    index: 5n,
    data: toHex("title: One of three, description: D"),
  }),
  resolutionLog(testMarkets.standard, [0n, 1n]),
  resolutionLog(testMarkets.negRisk, [3n, 7n]),
  resolutionLog(testMarkets.threeOutcomes, [1n, 0n, 2n]),
  encodeLog(defined(adapter), "AncillaryDataUpdated", {
    questionID: getHash(standardText),
    owner: knownCreator,
    update: toHex("REVISION: \t\n\\ 'quoted' \u{1f600}"),
  }),
  ...gen3Logs,
];

/** Logs that can come at any time and repeatedly: notices, logs of strangers, and undecodable logs. */
export const otherLogs: readonly LogContent[] = [
  encodeLog(getExchange(1, "standard"), "OrderCancelled", { orderHash: freeQuestionId }),
  encodeLog(getExchange(2, "standard"), "OrderPreapproved", { orderHash: freeQuestionId }),
  encodeLog(getExchange(2, "neg_risk"), "UserPaused", {
    user: stranger,
    effectivePauseBlock: 2n ** 200n,
  }),
  encodeLog(getExchange(2, "standard"), "MaxFeeRateUpdated", { maxFeeRate: 500n }),
  encodeLog(getExchange(3, "standard"), "TradingPaused", { pauser: stranger }),
  encodeLog(getExchange(1, "neg_risk"), "NewOperator", { account: stranger, admin: knownCreator }),
  { ...resolutionLog(testMarkets.standard, [1n, 0n]), address: stranger },
  // A refund without a fill is an anomaly. A condition with too many outcomes is undecodable.
  encodeLog(feeModule, "FeeRefunded", {
    orderHash: freeQuestionId,
    to: stranger,
    id: 0n,
    refund: 1n,
    feeCharged: 1n,
  }),
  encodeLog(tokens, "ConditionPreparation", {
    conditionId: freeQuestionId,
    oracle: stranger,
    questionId: freeQuestionId,
    outcomeSlotCount: 1000n,
  }),
];

/** Encodes an event by its name; the first event of that name that the contract declares. */
export function encodeLog(
  contract: Contract,
  name: string,
  args: Readonly<Record<string, unknown>>,
): LogContent {
  const item: AbiEvent = defined(getAbis(contract).find((abi) => abi.item.name === name)).item;
  const plain = item.inputs.filter((input) => input.indexed !== true);
  const data = encodeAbiParameters(
    plain,
    plain.map((input) => args[input.name ?? ""]),
  );
  const topics = encodeEventTopics({ abi: [item], args } as never);
  return { address: contract.address, topics: topics as string[] as Hash[], data };
}

function getRegistrations({ conditionId, tokenIds }: TestMarket, exchange: Contract): LogContent[] {
  const [first, second] = tokenIds.map((tokenId) => BigInt(tokenId));
  return [
    encodeLog(exchange, "TokenRegistered", { token0: second, token1: first, conditionId }),
    encodeLog(exchange, "TokenRegistered", { token0: first, token1: second, conditionId }),
  ];
}

/** The log of the aggregator that announces an event; type 0 is a single question. */
export function announcement(eventId: Hash, marketType: number): LogContent {
  const zeros = { a: 0n, b: 0n, c: 0, d: stranger, e: 0, f: stranger };
  const args = { eventId: bytes29(eventId), targetContract: stranger, marketType, ...zeros };
  return encodeLog(aggregator, "RequestInitialized", args);
}

/** The log of the aggregator that names a module that reports the results of an event. */
export function addedReporter(module: string): LogContent {
  return encodeLog(aggregator, "ReporterModuleAdded", { eventId: bytes29(gen3Event), module });
}

/** The log of a reporter, by default the configured one, with the text of a condition. */
export function registeredText(
  conditionId: ConditionId,
  requester: Address,
  reporter = only("oo_reporter").address,
): LogContent {
  const log = encodeLog(only("oo_reporter"), "RequestRegistered", {
    requestId: conditionId,
    requester,
    priceIdentifier: freeQuestionId,
    requestRules: toHex(gen3Text),
    minimumLiveness: 0n,
    maximumLiveness: 0n,
  });
  return { ...log, address: reporter };
}

function tokenOfEvent(conditionIndex: number): TokenId {
  return deriveGen3TokenIds(deriveGen3ConditionId(gen3Event, conditionIndex))[0];
}

function bytes29(id: Hash): string {
  return id.slice(0, 60);
}

function bytes31(id: ConditionId): string {
  return id.slice(0, 64);
}

function questionLog(contract: Contract, text: string, creator: Address): LogContent {
  return encodeLog(contract, "QuestionInitialized", initialized(text, creator));
}

function initialized(text: string, creator: Address): Readonly<Record<string, unknown>> {
  return {
    questionID: getHash(text),
    requestTimestamp: 1n,
    creator,
    ancillaryData: toHex(text),
    rewardToken: stranger,
    reward: 0n,
    proposalBond: 0n,
  };
}

function resolutionLog(market: TestMarket, payouts: readonly bigint[]): LogContent {
  const { conditionId, oracle, questionId } = market;
  return encodeLog(tokens, "ConditionResolution", {
    conditionId,
    oracle,
    questionId,
    outcomeSlotCount: BigInt(payouts.length),
    payoutNumerators: payouts,
  });
}

function market(oracle: Address, questionId: Hash, outcomeCount = 2): TestMarket {
  const conditionId = deriveConditionId({ oracle, questionId, outcomeSlotCount: outcomeCount });
  const { collateral, wrappedCollateral } = contracts;
  const backing = oracle === negRiskAdapter.address ? wrappedCollateral : collateral;
  const tokenIds = outcomeCount === 2 ? deriveTokenIds(conditionId, backing) : [];
  return { oracle, questionId, conditionId, tokenIds, outcomeCount };
}

function getHash(text: string): Hash {
  return toKeccak(Buffer.from(text));
}

function toHex(text: string): string {
  return `0x${Buffer.from(text).toString("hex")}`;
}

function only(kind: Contract["kind"]): Contract {
  return defined(all.find((contract) => contract.kind === kind));
}

function defined<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a test market is incomplete");
  return value;
}
