import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder, outsideData, withText } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import { readUint, readUints, topicAddress, topicConditionId, topicHash } from "../words.ts";

const outcomeSlotsMax = 256n;

/** The contracts of generations 1 and 2 that define markets, by their kind. */
export const marketDecoders = {
  /** ConditionalTokens: conditions and their results. */
  conditional_tokens: [
    eventDecoder(
      "ConditionPreparation(bytes32,address,bytes32,uint256)",
      3,
      readConditionPreparation,
    ),
    eventDecoder(
      "ConditionResolution(bytes32,address,bytes32,uint256,uint256[])",
      3,
      readConditionResolution,
    ),
  ],
  /** NegRiskAdapter: markets with several questions of which at most one is true. */
  neg_risk_adapter: [
    eventDecoder(
      "MarketPrepared(bytes32,address,uint256,bytes)",
      2,
      withText(1, (log, text) => ({
        kind: "neg_risk_market_prepared",
        negRiskMarketId: topicHash(log, 1),
        oracle: topicAddress(log, 2),
        feeBips: readUint(log, 0),
        text,
      })),
    ),
    eventDecoder(
      "QuestionPrepared(bytes32,bytes32,uint256,bytes)",
      2,
      withText(1, (log, text) => ({
        kind: "neg_risk_question_prepared",
        negRiskMarketId: topicHash(log, 1),
        questionId: topicHash(log, 2),
        text,
      })),
    ),
  ],
  /** NegRiskOperator: links a question to the UMA request that answers it. */
  neg_risk_operator: [
    eventDecoder(
      "QuestionPrepared(bytes32,bytes32,bytes32,uint256,bytes)",
      3,
      withText(1, (log, text) => ({
        kind: "neg_risk_question_requested",
        negRiskMarketId: topicHash(log, 1),
        questionId: topicHash(log, 2),
        requestId: topicHash(log, 3),
        text,
      })),
    ),
  ],
  /** The first UMA adapter. The caller chooses the question id, and the event does not contain the creator. */
  uma_adapter_v1: [
    eventDecoder(
      "QuestionInitialized(bytes32,bytes,uint256,address,uint256,uint256,bool)",
      1,
      withText(0, (log, text) => ({
        kind: "question_initialized",
        questionId: topicHash(log, 1),
        creator: null,
        text,
        isHashOfText: false,
        bond: readUint(log, 4),
      })),
    ),
  ],
  /** UMA adapters from version 2 on. Updates of a text (the bulletin board) are events of the adapter itself. */
  uma_adapter: [
    eventDecoder(
      "QuestionInitialized(bytes32,uint256,address,bytes,address,uint256,uint256)",
      3,
      withText(0, (log, text) => ({
        kind: "question_initialized",
        questionId: topicHash(log, 1),
        creator: topicAddress(log, 3),
        text,
        isHashOfText: true,
        bond: readUint(log, 3),
      })),
    ),
    eventDecoder(
      "AncillaryDataUpdated(bytes32,address,bytes)",
      2,
      withText(0, (log, text) => ({
        kind: "question_updated",
        questionId: topicHash(log, 1),
        owner: topicAddress(log, 2),
        text,
      })),
    ),
  ],
} satisfies Readonly<Record<string, readonly Decoder[]>>;

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
