/** The conditions of the model, of every kind, and the contracts that move their tokens. */
import type { Address, ConditionId, Hash, TokenId } from "../../../src/base/ids.ts";
import { toTokenId, zeroHash } from "../../../src/base/ids.ts";
import type { Contract } from "../../../src/contracts/contracts.ts";
import { deriveConditionId, deriveTokenIds } from "../../../src/market/ids/condition-ids.ts";
import { deriveGen3ConditionIds, deriveGen3TokenIds } from "../../../src/market/ids/gen3-ids.ts";
import { keccakOfPacked, toWord } from "../../../src/market/ids/keccak.ts";
import {
  deriveComboConditionId,
  deriveMigratedConditionId,
  deriveNativeEventId,
} from "../../support/derive-gen3-ids.ts";
import { contracts } from "../simulation.ts";

const all = [...contracts.byAddress.values()];
const byKind = (kind: Contract["kind"]): readonly Address[] =>
  all.filter((contract) => contract.kind === kind).map(({ address }) => address);
const first = (kind: Contract["kind"]): Address => byKind(kind)[0] as Address;
const byGeneration = (generation: 1 | 2 | 3, name: "standard" | "neg_risk"): Address =>
  all.find(
    (one) => one.kind === "exchange" && one.generation === generation && one.exchange === name,
  )?.address as Address;

export const ctf: Address = first("conditional_tokens");
export const negRiskAdapter: Address = first("neg_risk_adapter");
export const positionManager: Address = first("position_manager");
export const router: Address = first("router");
export const autoRedeemer: Address = first("auto_redeemer");
export const burnAddress: Address = first("burn_address");
export const vault: Address = first("neg_risk_vault");
export const modules = {
  binary: first("binary_module"),
  neg_risk: first("neg_risk_module"),
  combinatorial: first("combinatorial_module"),
} as const;
const adapters = byKind("collateral_adapter");
/** Collateral adapters, the earlier and the later one of each kind. */
export const collateralAdapters = {
  standard: [adapters[0], adapters[2]] as readonly Address[],
  neg_risk: [adapters[1], adapters[3]] as readonly Address[],
} as const;
export const feeModules: readonly Address[] = byKind("fee_module");
export const exchanges = {
  standard: [byGeneration(1, "standard"), byGeneration(2, "standard")],
  neg_risk: [byGeneration(1, "neg_risk"), byGeneration(2, "neg_risk")],
  protocolV2: byGeneration(3, "standard"),
} as const;

export type ModelCondition = {
  readonly id: ConditionId;
  readonly kind: "standard" | "neg_risk" | "other" | "protocol_v2";
  readonly tokens: readonly TokenId[];
  readonly oracle: Address;
  readonly questionId: Hash;
  /** What backs positions of ConditionalTokens. */
  readonly collateral: Address;
  /** The module of generation 3. */
  readonly module: Address;
  /** The legacy condition that it is the mirror of. */
  readonly legacy: ModelCondition | null;
};

export type ModelEvent = {
  readonly id: Hash;
  readonly feeBips: bigint;
  readonly conditions: readonly ModelCondition[];
};

const oracle = `0x${"0c".repeat(20)}` as Address;
const foreign = `0x${"f0".repeat(20)}` as Address;
const none = { module: modules.binary, legacy: null } as const;

function getId(text: string): Hash {
  return keccakOfPacked(toWord(BigInt(`0x${Buffer.from(text).toString("hex")}`)));
}

function legacyCondition(
  name: string,
  questionId = getId(name),
  isNegRisk = false,
): ModelCondition {
  const by = isNegRisk ? negRiskAdapter : oracle;
  const id = deriveConditionId({ oracle: by, questionId, outcomeSlotCount: 2 });
  const collateral = isNegRisk ? contracts.wrappedCollateral : contracts.collateral;
  const tokens = deriveTokenIds(id, collateral);
  const kind = isNegRisk ? "neg_risk" : "standard";
  return { ...none, id, kind, tokens, oracle: by, questionId, collateral };
}

function legacyEvent(name: string, count: number, feeBips: bigint): ModelEvent {
  const id = `${getId(name).slice(0, -2)}00` as Hash;
  const conditions = Array.from({ length: count }, (_, index) =>
    legacyCondition(name, `${id.slice(0, -2)}0${index}` as Hash, true),
  );
  return { id, feeBips, conditions };
}

function gen3Condition(id: ConditionId, module: Address, legacy?: ModelCondition): ModelCondition {
  const [questionId, collateral] = [zeroHash, contracts.collateral];
  const tokens = deriveGen3TokenIds(id);
  const kind = "protocol_v2";
  return {
    id,
    kind,
    tokens,
    oracle: module,
    questionId,
    collateral,
    module,
    legacy: legacy ?? null,
  };
}

const bytes = (text: string) => `0x${Buffer.from(text).toString("hex")}`;
const binaryId = (name: string) =>
  deriveNativeEventId("binary", bytes(name)) as string as ConditionId;

export const standard: readonly ModelCondition[] = ["one", "two", "three"].map((name) =>
  legacyCondition(name),
);
export const events: readonly ModelEvent[] = [
  legacyEvent("event", 3, 0n),
  legacyEvent("event with a fee", 4, 100n),
];

/** Positions of ConditionalTokens that are not of a market. Their ids are not derived by the service. */
const others = ["x", "y", "z", "x or y", "f", "g", "m", "n"].map((name) =>
  toTokenId(BigInt(getId(name))),
);
const [market = legacyCondition("one")] = standard;
export const threeOutcomes: ModelCondition = {
  ...none,
  id: getId("three outcomes") as string as ConditionId,
  kind: "other",
  tokens: others.slice(0, 3),
  oracle,
  questionId: getId("three"),
  collateral: contracts.collateral,
};
/** The position in the first two of three outcomes. */
export const subsetToken = others[3] as TokenId;
/** The same condition as that of a market, with other collateral and under another position. */
export const foreignPositions: ModelCondition = {
  ...market,
  kind: "other",
  tokens: others.slice(4, 6),
  collateral: foreign,
};
export const nestedPositions: ModelCondition = {
  ...market,
  kind: "other",
  tokens: others.slice(6, 8),
};

const mirrored = standard[2] as ModelCondition;
export const binary: readonly ModelCondition[] = [
  gen3Condition(binaryId("binary"), modules.binary),
  gen3Condition(binaryId("other binary"), modules.binary),
];
export const mirror: ModelCondition = gen3Condition(
  deriveMigratedConditionId(mirrored.id),
  modules.binary,
  mirrored,
);
export const gen3EventId: Hash = deriveNativeEventId("neg_risk", bytes("event"), 2);
/** Two named conditions and "Other". */
export const gen3Event: readonly ModelCondition[] = deriveGen3ConditionIds(gen3EventId).map((id) =>
  gen3Condition(id, modules.neg_risk),
);

const toCombo = (legs: readonly TokenId[]) =>
  gen3Condition(deriveComboConditionId(legs), modules.combinatorial);
const getYes = (condition: ModelCondition | undefined) => condition?.tokens[0] as TokenId;
/** Of two legs, of three, and of one, which wraps the leg. */
export const combos: readonly ModelCondition[] = [
  toCombo([getYes(binary[0]), getYes(gen3Event[0])]),
  toCombo([getYes(binary[0]), getYes(binary[1]), getYes(gen3Event[0])]),
];
export const wrapped: readonly { readonly from: TokenId; readonly to: TokenId }[] = [
  ...binary,
  ...gen3Event,
].flatMap((condition) => {
  const made = toCombo([getYes(condition)]);
  return condition.tokens.map((from, index) => ({ from, to: made.tokens[index] as TokenId }));
});

export const negRisk: readonly ModelCondition[] = events.flatMap(({ conditions }) => conditions);
export const protocolV2: readonly ModelCondition[] = [...binary, mirror, ...gen3Event];
/** The conditions that exchanges trade. */
export const traded: readonly ModelCondition[] = [
  ...standard,
  ...negRisk,
  ...protocolV2,
  ...combos,
];
