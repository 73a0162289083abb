import type { LogText } from "../../chain/parse/log-text.ts";
import type { Decoder } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import {
  readHashOrNull,
  readLowByte,
  readTokenId,
  readUint,
  topicAddress,
  topicHash,
} from "../words.ts";

/** Matching events that generations 2 and 3 share to the bit; only the address distinguishes them. */
const matchDecoders: readonly Decoder[] = [
  {
    signature:
      "OrderFilled(bytes32,address,address,uint8,uint256,uint256,uint256,uint256,bytes32,bytes32)",
    topic0: "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",
    topicCount: 4,
    dataBytes: 224,
    read: readOrderFilled,
  },
  {
    signature: "OrdersMatched(bytes32,address,uint8,uint256,uint256,uint256)",
    topic0: "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c",
    topicCount: 3,
    dataBytes: 128,
    read: (log) => ({
      kind: "orders_matched",
      takerOrderHash: topicHash(log, 1),
      takerOrderMaker: topicAddress(log, 2),
      makerAmount: readUint(log, 2),
      takerAmount: readUint(log, 3),
    }),
  },
  {
    signature: "FeeCharged(address,uint256)",
    topic0: "0x55bb3cade9d43b798a4fe5ffdd05024b2d7870df53920673bfc7e68047cd0ab1",
    topicCount: 2,
    dataBytes: 32,
    read: (log) => ({
      kind: "fee_charged",
      receiver: topicAddress(log, 1),
      tokenId: null,
      amount: readUint(log, 0),
    }),
  },
  {
    signature: "OrderPreapproved(bytes32)",
    topic0: "0xe92c22722d9c284034b6c9f5aaec018edb3e593c0e084900b6b9d390a1182a0b",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({ kind: "order_preapproved", orderHash: topicHash(log, 1) }),
  },
  {
    signature: "OrderPreapprovalInvalidated(bytes32)",
    topic0: "0xb766aa470f20b094f26a9a14ea5bf63a60af51703c15776e2e739b6a0428adf6",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({
      kind: "order_preapproval_invalidated",
      orderHash: topicHash(log, 1),
    }),
  },
  {
    signature: "UserPaused(address,uint256)",
    topic0: "0xa3e76126f19eb25001b29726d2a9502b6377938633d2d6a955107dd442e7a14a",
    topicCount: 2,
    dataBytes: 32,
    read: (log) => ({
      kind: "user_paused",
      user: topicAddress(log, 1),
      effectiveBlock: readUint(log, 0),
    }),
  },
  {
    signature: "UserUnpaused(address)",
    topic0: "0x1419d4111b5c8636aecff843bf618525f4f8e1aa6898a14357021d68dde8af12",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({ kind: "user_unpaused", user: topicAddress(log, 1) }),
  },
  {
    signature: "UserPauseBlockIntervalUpdated(uint256,uint256)",
    topic0: "0x8c8acf678b7cd311e3b5768c92794d63943684862fdea390856e14d9e2a9ef88",
    topicCount: 1,
    dataBytes: 64,
    read: (log) => ({
      kind: "user_pause_interval_updated",
      oldInterval: readUint(log, 0),
      newInterval: readUint(log, 1),
    }),
  },
];

/** The exchange of generation 2: no cancel and no registry of tokens. */
export const exchangeV2Decoders: readonly Decoder[] = [
  ...matchDecoders,
  {
    signature: "FeeReceiverUpdated(address)",
    topic0: "0x27aae5db36d94179909d019ae0b1ac7c16d96d953148f63c0f6a0a9c8ead79ee",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({
      kind: "fee_receiver_updated",
      feeReceiver: topicAddress(log, 1),
    }),
  },
  {
    signature: "MaxFeeRateUpdated(uint256)",
    topic0: "0xe380d7c3967dd06cc7c01db8b17332a1d806fd18f63206dcbd12aaef455c7ff2",
    topicCount: 1,
    dataBytes: 32,
    read: (log) => ({ kind: "max_fee_rate_updated", maxFeeRateBps: readUint(log, 0) }),
  },
];

/** The exchange of generation 3: no cancel, no fee settings. */
export const exchangeV3Decoders: readonly Decoder[] = matchDecoders;

function readOrderFilled(log: LogText): ChainEvent {
  // An older build of generation 3 wrote the side without masking: only its low byte counts there,
  // and a low byte above 1 is refused like anywhere else.
  const side = readLowByte(log, 0);
  if (side > 1) {
    return { kind: "undecodable", reason: "side is neither 0 (BUY) nor 1 (SELL)" };
  }
  return {
    kind: "order_filled",
    orderHash: topicHash(log, 1),
    maker: topicAddress(log, 2),
    taker: topicAddress(log, 3),
    side: side === 0 ? "BUY" : "SELL",
    tokenId: readTokenId(log, 1),
    makerAmount: readUint(log, 2),
    takerAmount: readUint(log, 3),
    fee: readUint(log, 4),
    builder: readHashOrNull(log, 5),
    metadata: readHashOrNull(log, 6),
  };
}
