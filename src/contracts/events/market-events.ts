import type { LogText } from "../../chain/parse/log-text.ts";
import type { Decoder } from "../decoder.ts";
import { outsideData, withText } from "../dynamic-fields.ts";
import type { ChainEvent } from "../events.ts";
import { readUint, readUints, topicAddress, topicConditionId, topicHash } from "../words.ts";

/** More slots than the contract allows (256) cannot be real. */
const outcomeSlotsMax = 256n;

/** ConditionalTokens: conditions and their results. */
export const conditionalTokensDecoders: readonly Decoder[] = [
  {
    signature: "ConditionPreparation(bytes32,address,bytes32,uint256)",
    topic0: "0xab3760c3bd2bb38b5bcf54dc79802ed67338b4cf29f3054ded67ed24661e4177",
    topicCount: 4,
    dataBytes: 32,
    read: readConditionPreparation,
  },
  {
    signature: "ConditionResolution(bytes32,address,bytes32,uint256,uint256[])",
    topic0: "0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894",
    topicCount: 4,
    dataBytes: { min: 128 },
    read: readConditionResolution,
  },
];

/** NegRiskAdapter: the markets of several questions of which one at most is true. */
export const negRiskAdapterDecoders: readonly Decoder[] = [
  {
    signature: "MarketPrepared(bytes32,address,uint256,bytes)",
    topic0: "0xf059ab16d1ca60e123eab60e3c02b68faf060347c701a5d14885a8e1def7b3a8",
    topicCount: 3,
    dataBytes: { min: 96 },
    read: withText(1, (log, text) => ({
      kind: "neg_risk_market_prepared",
      negRiskMarketId: topicHash(log, 1),
      oracle: topicAddress(log, 2),
      text,
    })),
  },
  {
    signature: "QuestionPrepared(bytes32,bytes32,uint256,bytes)",
    topic0: "0xaac410f87d423a922a7b226ac68f0c2eaf5bf6d15e644ac0758c7f96e2c253f7",
    topicCount: 3,
    dataBytes: { min: 96 },
    read: withText(1, (log, text) => ({
      kind: "neg_risk_question_prepared",
      negRiskMarketId: topicHash(log, 1),
      questionId: topicHash(log, 2),
      text,
    })),
  },
];

/** NegRiskOperator: joins a question with the UMA request that answers it. */
export const negRiskOperatorDecoders: readonly Decoder[] = [
  {
    signature: "QuestionPrepared(bytes32,bytes32,bytes32,uint256,bytes)",
    topic0: "0xcdc45423ec79c60a3fe3de57272e598d71a4ec88822e822ac8e134184a8435aa",
    topicCount: 4,
    dataBytes: { min: 96 },
    read: withText(1, (log, text) => ({
      kind: "neg_risk_question_requested",
      negRiskMarketId: topicHash(log, 1),
      questionId: topicHash(log, 2),
      requestId: topicHash(log, 3),
      text,
    })),
  },
];

/** UMA adapters from version 2 on; their bulletin board is part of the adapter. */
export const umaAdapterDecoders: readonly Decoder[] = [
  {
    signature: "QuestionInitialized(bytes32,uint256,address,bytes,address,uint256,uint256)",
    topic0: "0xeee0897acd6893adcaf2ba5158191b3601098ab6bece35c5d57874340b64c5b7",
    topicCount: 4,
    dataBytes: { min: 160 },
    read: withText(0, (log, text) => ({
      kind: "question_initialized",
      questionId: topicHash(log, 1),
      creator: topicAddress(log, 3),
      text,
      isHashOfText: true,
    })),
  },
  {
    signature: "AncillaryDataUpdated(bytes32,address,bytes)",
    topic0: "0x0059e11815211969c0c4aaf3f498b52b6c2f2d14f286275d0862d70de22a836b",
    topicCount: 3,
    dataBytes: { min: 64 },
    read: withText(0, (log, text) => ({
      kind: "question_updated",
      questionId: topicHash(log, 1),
      owner: topicAddress(log, 2),
      text,
    })),
  },
];

/** The first UMA adapter: the caller chose the question id, and the creator is not sent. */
export const umaAdapterV1Decoders: readonly Decoder[] = [
  {
    signature: "QuestionInitialized(bytes32,bytes,uint256,address,uint256,uint256,bool)",
    topic0: "0x53af6c2e40505bb55a47d917203a12c8f063b6c505c11094d98ac8f772e8a031",
    topicCount: 2,
    dataBytes: { min: 224 },
    read: withText(0, (log, text) => ({
      kind: "question_initialized",
      questionId: topicHash(log, 1),
      creator: null,
      text,
      isHashOfText: false,
    })),
  },
];

function readConditionPreparation(log: LogText): ChainEvent {
  const slots = readUint(log, 0);
  if (slots < 2n || slots > outcomeSlotsMax) {
    return { kind: "undecodable", reason: "outcome slot count is not within 2..256" };
  }
  return {
    kind: "condition_prepared",
    conditionId: topicConditionId(log, 1),
    oracle: topicAddress(log, 2),
    questionId: topicHash(log, 3),
    outcomeSlotCount: Number(slots),
  };
}

function readConditionResolution(log: LogText): ChainEvent {
  const payouts = readUints(log, 1);
  if (payouts === null) return outsideData;
  if (BigInt(payouts.length) !== readUint(log, 0) || payouts.every((payout) => payout === 0n)) {
    return { kind: "undecodable", reason: "payouts are all zero or not one per outcome slot" };
  }
  return {
    kind: "condition_resolved",
    conditionId: topicConditionId(log, 1),
    oracle: topicAddress(log, 2),
    questionId: topicHash(log, 3),
    payouts,
  };
}
