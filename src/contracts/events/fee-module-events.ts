import type { Decoder } from "../decoder.ts";
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
  {
    // The third indexed field is an amount: the fee that was kept.
    signature: "FeeRefunded(bytes32,address,uint256,uint256,uint256)",
    topic0: "0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24",
    topicCount: 4,
    dataBytes: 64,
    read: (log) => ({
      kind: "fee_refunded",
      orderHash: topicHash(log, 1),
      to: topicAddress(log, 2),
      tokenId: isZeroWord(log, 0) ? null : readTokenId(log, 0),
      refund: readUint(log, 1),
      feeKept: topicUint(log, 3),
    }),
  },
  {
    // The module of 2023: nothing indexed, no order named.
    signature: "FeeRefunded(address,address,uint256,uint256)",
    topic0: "0x18fe0464eb77016dc4e227eb0d690e4002756d82b442143bbfb874548952b5f2",
    topicCount: 1,
    dataBytes: 128,
    read: (log) => ({
      kind: "fee_refunded",
      orderHash: null,
      to: readAddress(log, 1),
      tokenId: isZeroWord(log, 2) ? null : readTokenId(log, 2),
      refund: readUint(log, 3),
      feeKept: null,
    }),
  },
];
