/**
 * Generation 3 has no registry of conditions. A condition can be announced, described or migrated, or none of these.
 * So far these signatures have been seen only in recordings of transcribed contracts, not on the chain.
 */
import { type Address, toTokenId } from "../../base/ids.ts";
import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder, outsideData, withText } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import { readUint, readUints, topicAddress, topicConditionId, topicHash } from "../words.ts";

/** The exact sum of the two numbers of a result. */
const resultSum = 1_000_000n;
const comboLegsMax = 50;

const conditionResolved: Decoder = eventDecoder(
  "ConditionResolved(bytes31,uint256[])",
  1,
  readConditionResolved,
);

/** How both modules that have mirrors of legacy conditions link the two. */
const mirrorDecoders: readonly Decoder[] = [
  eventDecoder("MigrationConditionRegistered(bytes31,bytes32)", 2, (log) => ({
    kind: "gen3_condition_migrated",
    ...readMirror(log),
  })),
  eventDecoder("MigrationResolved(bytes31,bytes32,uint256,uint256,uint256,uint256)", 2, (log) => ({
    kind: "gen3_migration_resolved",
    ...readMirror(log),
  })),
];

/** All contracts of Protocol V2 are proxies. */
export const upgradeDecoder: Decoder = eventDecoder("Upgraded(address)", 1, (log) => ({
  kind: "gen3_contract_upgraded",
  implementation: topicAddress(log, 1),
}));

/** The contracts of generation 3 that define markets, by their kind. */
export const gen3MarketDecoders = {
  /** OracleAggregator: the events that are markets of the venue, and the modules that can report their results. */
  oracle_aggregator: [
    eventDecoder(
      "RequestInitialized(bytes29,address,uint256,uint256,uint16,uint8,address,uint32,address)",
      1,
      (log) => {
        const marketType = marketTypes[Number(readUint(log, 4) & 0xffn)];
        if (marketType === undefined) {
          return { kind: "undecodable", reason: "market type is none of 0, 1 and 2" };
        }
        return { kind: "gen3_event_announced", eventId: topicHash(log, 1), marketType };
      },
    ),
    eventDecoder("ReporterModuleAdded(bytes29,address)", 2, (log) => ({
      kind: "gen3_reporter_added",
      eventId: topicHash(log, 1),
      reporter: topicAddress(log, 2),
    })),
    eventDecoder("RuleAdded(bytes32,uint256,uint256,bytes)", 1, withText(2, readTextUpdated)),
    upgradeDecoder,
  ],
  /** A module that reports results, such as those of the UMA reporter. */
  reporter_module: [upgradeDecoder],
  /** The module that reports results from prices of Chainlink. */
  chainlink_module: [
    eventDecoder("RequestReported(bytes29,bytes32,int192,int192,uint256)", 2, (log) => ({
      kind: "gen3_window_reported",
      eventId: topicHash(log, 1),
      questionId: topicHash(log, 2),
    })),
    eventDecoder("FeedIdUpdated(bytes32,bytes32)", 1, (log) => ({
      kind: "gen3_asset_pair_added",
      assetPair: topicHash(log, 1),
    })),
    upgradeDecoder,
  ],
  /** The ledger of tokens, which names the modules that can mint them. */
  position_manager: [
    eventDecoder("ModuleAdded(uint256,address)", 2, (log) => ({
      kind: "gen3_module_added",
      module: topicAddress(log, 2),
    })),
    upgradeDecoder,
  ],
  /** The UMA reporter: the only source of texts of generation 3. */
  oo_reporter: [
    eventDecoder(
      "RequestRegistered(bytes32,address,bytes32,bytes,uint64,uint64)",
      3,
      withText(0, (log, text) => ({
        kind: "gen3_text_registered",
        requestId: topicHash(log, 1),
        requester: topicAddress(log, 2),
        isNumerical: topicHash(log, 3) === numericalIdentifier,
        text,
      })),
    ),
    eventDecoder(
      "RequestRulesUpdated(bytes32,uint256,address,bytes)",
      3,
      withText(0, readTextUpdated),
    ),
    upgradeDecoder,
  ],
  /** Module 1: single questions. */
  binary_module: [conditionResolved, ...mirrorDecoders, upgradeDecoder],
  /** Module 2: events with several questions of which exactly one is true, one of them "Other". */
  neg_risk_module: [
    conditionResolved,
    ...mirrorDecoders,
    upgradeDecoder,
    eventDecoder("RemainingConditionsDerivableAsNo(bytes29)", 1, (log) => ({
      kind: "gen3_remaining_resolved_no",
      eventId: topicHash(log, 1),
    })),
    eventDecoder("SyntheticConditionDerivableAsYes(bytes29,bytes31)", 2, (log) => ({
      kind: "gen3_other_resolved_yes",
      eventId: topicHash(log, 1),
      conditionId: topicConditionId(log, 2),
    })),
  ],
  /** Module 3: combinations of positions of the other two modules. */
  combinatorial_module: [
    upgradeDecoder,
    eventDecoder("CombinatorialConditionPrepared(bytes31,uint256[])", 1, (log) => {
      const legs = readUints(log, 0);
      if (legs === null) return outsideData;
      if (legs.length === 0 || legs.length > comboLegsMax) {
        return { kind: "undecodable", reason: "a combination has 1 to 50 legs" };
      }
      return {
        kind: "gen3_combo_prepared",
        conditionId: topicConditionId(log, 1),
        legs: legs.map(toTokenId),
      };
    }),
  ],
} satisfies Readonly<Record<string, readonly Decoder[]>>;

/** "NUMERICAL" as bytes: UMA's identifier of questions whose answer is a number. */
const numericalIdentifier = "0x4e554d45524943414c".padEnd(66, "0");

const marketTypes = ["binary", "incremental", "atomic"] as const;

function readTextUpdated(log: LogText, text: string): ChainEvent {
  return { kind: "gen3_text_updated", requestId: topicHash(log, 1), text };
}

function readMirror(log: LogText) {
  return { conditionId: topicConditionId(log, 1), legacyConditionId: topicConditionId(log, 2) };
}

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
