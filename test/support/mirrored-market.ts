/** A binary question on two ledgers: the standard market and its mirror, with the logs of their life. */
import { deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import { deriveMigratedConditionId } from "./derive-gen3-ids.ts";
import type { Pair } from "./generate-matches.ts";
import { knownContracts } from "./recorded-chain.ts";
import { encodeLog, testMarkets } from "./test-markets.ts";

const { conditionId, oracle, questionId, tokenIds } = testMarkets.standard;
const mirrorId = deriveMigratedConditionId(conditionId);
const contracts = [...knownContracts().byAddress.values()];
const bytes31 = mirrorId.slice(0, 64);

/** The tokens of both ledgers, Yes first. */
export const mirroredPairs = {
  legacy: tokenIds as unknown as Pair,
  mirror: deriveGen3TokenIds(mirrorId),
} as const;
export const mirroredIds = { legacy: conditionId, mirror: mirrorId } as const;

/** Yes wins on both ledgers. Each log is at most once on a chain. */
export const mirroredLogs = {
  prepared: encodeLogOfKind("conditional_tokens", "ConditionPreparation", {
    conditionId,
    oracle,
    questionId,
    outcomeSlotCount: 2n,
  }),
  registered: encodeLogOfKind("binary_module", "MigrationConditionRegistered", {
    v2ConditionId: bytes31,
    legacyConditionId: conditionId,
  }),
  resolved: encodeLogOfKind("conditional_tokens", "ConditionResolution", {
    conditionId,
    oracle,
    questionId,
    outcomeSlotCount: 2n,
    payoutNumerators: [1n, 0n],
  }),
  mirrorResolved: encodeLogOfKind("binary_module", "ConditionResolved", {
    conditionId: bytes31,
    result: [1_000_000n, 0n],
  }),
  migrationResolved: encodeLogOfKind("binary_module", "MigrationResolved", {
    conditionId: bytes31,
    legacyConditionId: conditionId,
    payout0: 1n,
    payout1: 0n,
    result0: 1_000_000n,
    result1: 0n,
  }),
} as const;

/** Encodes an event of the first contract of a kind. */
export function encodeLogOfKind(
  kind: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
) {
  const contract = contracts.find((one) => one.kind === kind);
  if (contract === undefined) throw new Error(`there is no contract ${kind}`);
  return encodeLog(contract, name, args);
}
