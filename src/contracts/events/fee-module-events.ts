import { type Decoder, eventOf } from "../decoder.ts";
import {
  isZeroWord,
  readAddress,
  readTokenId,
  readUint,
  topicAddress,
  topicHash,
  topicUint,
} from "../words.ts";

/** The fee modules of generation 1, which give back what an order was charged too much. */
export const feeModuleDecoders: readonly Decoder[] = [
  // The third indexed field is an amount: the fee that was kept.
  eventOf("FeeRefunded(bytes32,address,uint256,uint256,uint256)", 3, (log) => ({
    kind: "fee_refunded",
    orderHash: topicHash(log, 1),
    to: topicAddress(log, 2),
    tokenId: isZeroWord(log, 0) ? null : readTokenId(log, 0),
    refund: readUint(log, 1),
    feeKept: topicUint(log, 3),
  })),
  // The module of 2023: nothing indexed, no order named.
  eventOf("FeeRefunded(address,address,uint256,uint256)", 0, (log) => ({
    kind: "fee_refunded",
    orderHash: null,
    to: readAddress(log, 1),
    tokenId: isZeroWord(log, 2) ? null : readTokenId(log, 2),
    refund: readUint(log, 3),
    feeKept: null,
  })),
];
