/**
 * Generation 3: conditions have no registry. A binary or neg-risk
 * condition may be announced by the aggregator, described on UMA's reporter, migrated from an older
 * one, or none of these; a combination is prepared. None of these signatures was seen in a log of
 * the deployed contracts yet, only in recordings of transcribed ones.
 */
import { type Address, tokenIdOf } from "../../base/ids.ts";
import type { LogText } from "../../chain/parse/log-text.ts";
import type { Decoder } from "../decoder.ts";
import { outsideData, withText } from "../dynamic-fields.ts";
import type { ChainEvent } from "../events.ts";
import { readUint, readUints, topicAddress, topicConditionId, topicHash } from "../words.ts";

/** Both numbers of a result sum to exactly this. */
const resultSum = 1_000_000n;
/** The contract's bound on the legs of a combination. */
const comboLegsMax = 50;

/** OracleAggregator: what is a market of the venue, and which modules may describe it. */
export const oracleAggregatorDecoders: readonly Decoder[] = [
  {
    signature:
      "RequestInitialized(bytes29,address,uint256,uint256,uint16,uint8,address,uint32,address)",
    topic0: "0x3f540a7f583087a9dcc5ae409a9757c451baede9df196f29fb15fe29fe2662c9",
    topicCount: 2,
    dataBytes: 256,
    read: (log) => {
      const marketType = marketTypes[Number(readUint(log, 4) & 0xffn)];
      if (marketType === undefined) {
        return { kind: "undecodable", reason: "market type is none of 0, 1 and 2" };
      }
      return { kind: "gen3_event_announced", eventId: topicHash(log, 1), marketType };
    },
  },
  {
    signature: "ReporterModuleAdded(bytes29,address)",
    topic0: "0xc14be9714cff6af699b94f2fa548a5a69ca0997966844840847cf531f82102e0",
    topicCount: 3,
    dataBytes: 0,
    read: (log) => ({ kind: "gen3_reporter_added", reporter: topicAddress(log, 2) }),
  },
];

/** UMA's reporter: the only place where the text of generation 3 stands. */
export const ooReporterDecoders: readonly Decoder[] = [
  {
    signature: "RequestRegistered(bytes32,address,bytes32,bytes,uint64,uint64)",
    topic0: "0x459464e3d93204e986f0b20e33596daba585b1f37d5afe1eb1821551f7cb6f49",
    topicCount: 4,
    dataBytes: { min: 128 },
    read: withText(0, (log, text) => ({
      kind: "gen3_text_registered",
      requestId: topicHash(log, 1),
      requester: topicAddress(log, 2),
      text,
    })),
  },
];

const conditionResolved: Decoder = {
  signature: "ConditionResolved(bytes31,uint256[])",
  topic0: "0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa",
  topicCount: 2,
  dataBytes: { min: 64 },
  read: readConditionResolved,
};

const conditionMigrated: Decoder = {
  signature: "MigrationConditionRegistered(bytes31,bytes32)",
  topic0: "0x0da49435dfd3b856758ee0b1a2500f1e8062fed24dd654594af9fa163cc5bcb4",
  topicCount: 3,
  dataBytes: 0,
  read: (log) => ({
    kind: "gen3_condition_migrated",
    conditionId: topicConditionId(log, 1),
    legacyConditionId: topicConditionId(log, 2),
  }),
};

/** Module 1: single questions. */
export const binaryModuleDecoders: readonly Decoder[] = [conditionResolved, conditionMigrated];

/** Module 2: events of several questions of which one is true, with an Other. */
export const negRiskModuleDecoders: readonly Decoder[] = [
  conditionResolved,
  conditionMigrated,
  {
    signature: "RemainingConditionsDerivableAsNo(bytes29)",
    topic0: "0x7b4e633936952f2babe4b4b548a8ccb384cdfdf1a95247fbacd18e387b490502",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({ kind: "gen3_remaining_resolved_no", eventId: topicHash(log, 1) }),
  },
  {
    signature: "SyntheticConditionDerivableAsYes(bytes29,bytes31)",
    topic0: "0x5bea118d92630445b0b401b6883731630ed870edf2f259980efe977dfc128b36",
    topicCount: 3,
    dataBytes: 0,
    read: (log) => ({
      kind: "gen3_other_resolved_yes",
      eventId: topicHash(log, 1),
      conditionId: topicConditionId(log, 2),
    }),
  },
];

/** Module 3: combinations of positions of the other two. */
export const combinatorialModuleDecoders: readonly Decoder[] = [
  {
    signature: "CombinatorialConditionPrepared(bytes31,uint256[])",
    topic0: "0x51c89d7ee51515f7235e928930da7f81be08212bc14870a6a37c64744492db96",
    topicCount: 2,
    dataBytes: { min: 64 },
    read: (log) => {
      const legs = readUints(log, 0);
      if (legs === null) return outsideData;
      if (legs.length === 0 || legs.length > comboLegsMax) {
        return { kind: "undecodable", reason: "a combination has 1 to 50 legs" };
      }
      return {
        kind: "gen3_combo_prepared",
        conditionId: topicConditionId(log, 1),
        legs: legs.map(tokenIdOf),
      };
    },
  },
];

const marketTypes = ["binary", "incremental", "atomic"] as const;

function readConditionResolved(log: LogText, emitter: Address): ChainEvent {
  const payouts = readUints(log, 0);
  if (payouts === null) return outsideData;
  if (payouts.length !== 2 || payouts.reduce((sum, part) => sum + part, 0n) !== resultSum) {
    return { kind: "undecodable", reason: "a result is two numbers that sum to 1000000" };
  }
  return {
    kind: "condition_resolved",
    conditionId: topicConditionId(log, 1),
    oracle: emitter,
    questionId: null,
    payouts,
  };
}
