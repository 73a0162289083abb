/** The steps by which a question gets its result: those of UMA's oracle, its adapters, and the aggregator. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Hash } from "../../base/ids.ts";
import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder, outsideData, withText } from "../decoder.ts";
import type { OracleStep } from "../events.ts";
import { readInt, readUint, readUints, topicAddress, topicHash, topicInt } from "../words.ts";

type StepFields = Pick<OracleStep, "questionId" | "step"> & Partial<OracleStep>;

/** The adapter asks again, because a proposal was disputed for the first time. */
const questionReset: Decoder = eventDecoder("QuestionReset(bytes32)", 1, (log) =>
  toStep({ questionId: topicHash(log, 1), step: "reset" }),
);

export const oracleDecoders = {
  /** OptimisticOracleV2 and its managed successor. Many protocols ask it; the requester says which. */
  optimistic_oracle: [
    eventDecoder(
      "RequestPrice(address,bytes32,uint256,bytes,address,uint256,uint256)",
      1,
      withText(2, (log, text) => toOracleStep(log, text, { step: "requested" })),
    ),
    eventDecoder(
      "ProposePrice(address,address,bytes32,uint256,bytes,int256,uint256,address)",
      2,
      withText(2, (log, text) =>
        toOracleStep(log, text, {
          step: "proposed",
          account: topicAddress(log, 2),
          price: readInt(log, 3),
        }),
      ),
    ),
    eventDecoder(
      "DisputePrice(address,address,address,bytes32,uint256,bytes,int256)",
      3,
      withText(2, (log, text) =>
        toOracleStep(log, text, {
          step: "disputed",
          account: topicAddress(log, 3),
          price: readInt(log, 3),
        }),
      ),
    ),
    eventDecoder(
      "Settle(address,address,address,bytes32,uint256,bytes,int256,uint256)",
      3,
      withText(2, (log, text) =>
        toOracleStep(log, text, { step: "settled", price: readInt(log, 3) }),
      ),
    ),
  ],
  uma_adapter: [questionReset],
  /** The ids of the first adapter do not follow from its requests, so its own events have to do. */
  uma_adapter_v1: [
    questionReset,
    eventDecoder(
      "ResolutionDataRequested(address,uint256,bytes32,bytes32,bytes,address,uint256,uint256,bool)",
      3,
      withText(1, (log) =>
        toStep({
          questionId: topicHash(log, 3),
          step: "requested",
          account: topicAddress(log, 1),
          bond: readUint(log, 4),
        }),
      ),
    ),
    eventDecoder("QuestionSettled(bytes32,int256,bool)", 3, (log) =>
      toStep({ questionId: topicHash(log, 1), step: "settled", price: topicInt(log, 2) }),
    ),
  ],
  oracle_aggregator: [
    eventDecoder("OutcomeProposed(bytes32,bytes32,uint256[])", 1, (log) => {
      const [price = null] = readUints(log, 1) ?? [];
      if (price === null) return outsideData;
      return toStep({ questionId: topicHash(log, 1), step: "proposed", price });
    }),
    eventDecoder("ResultDisputed(bytes32,address)", 2, (log) =>
      toStep({ questionId: topicHash(log, 1), step: "disputed", account: topicAddress(log, 2) }),
    ),
    eventDecoder("RequestResolved(bytes32,bytes32,address)", 2, (log) =>
      toStep({ questionId: topicHash(log, 1), step: "settled", account: topicAddress(log, 2) }),
    ),
  ],
  oo_reporter: [
    eventDecoder(
      "RequestInitialized(bytes32,uint256,address,bytes32,bytes,address,uint256,uint256,uint64,uint256)",
      3,
      withText(1, (log) =>
        toStep({
          questionId: topicHash(log, 1),
          step: "requested",
          account: topicAddress(log, 3),
        }),
      ),
    ),
  ],
} satisfies Readonly<Record<string, readonly Decoder[]>>;

/** The id of a question is the hash of its text, by the rule of the adapters from version 2 on. */
function toOracleStep(
  log: LogText,
  text: string,
  fields: Omit<StepFields, "questionId">,
): OracleStep {
  const questionId = `0x${bytesToHex(keccak_256(hexToBytes(text.slice(2))))}` as Hash;
  return toStep({ questionId, requester: topicAddress(log, 1), ...fields });
}

function toStep(fields: StepFields): OracleStep {
  const none = { requester: null, account: null, price: null, bond: null };
  return { kind: "oracle_step", ...none, ...fields };
}
