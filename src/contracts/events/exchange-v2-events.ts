import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import {
  readHashOrNull,
  readLowByte,
  readTokenId,
  readUint,
  topicAddress,
  topicHash,
} from "../words.ts";

/** Events that are identical in generations 2 and 3. Only the address differs. */
const matchDecoders: readonly Decoder[] = [
  eventDecoder(
    "OrderFilled(bytes32,address,address,uint8,uint256,uint256,uint256,uint256,bytes32,bytes32)",
    3,
    readOrderFilled,
  ),
  eventDecoder("OrdersMatched(bytes32,address,uint8,uint256,uint256,uint256)", 2, (log) => ({
    kind: "orders_matched",
    takerOrderHash: topicHash(log, 1),
  })),
  eventDecoder("FeeCharged(address,uint256)", 1, () => ({ kind: "fee_charged" })),
  eventDecoder("OrderPreapproved(bytes32)", 1, (log) => ({
    kind: "order_preapproved",
    orderHash: topicHash(log, 1),
  })),
  eventDecoder("OrderPreapprovalInvalidated(bytes32)", 1, (log) => ({
    kind: "order_preapproval_invalidated",
    orderHash: topicHash(log, 1),
  })),
  eventDecoder("UserPaused(address,uint256)", 1, (log) => ({
    kind: "user_paused",
    user: topicAddress(log, 1),
    effectiveBlock: readUint(log, 0),
  })),
  eventDecoder("UserUnpaused(address)", 1, (log) => ({
    kind: "user_unpaused",
    user: topicAddress(log, 1),
  })),
  eventDecoder("UserPauseBlockIntervalUpdated(uint256,uint256)", 0, (log) => ({
    kind: "user_pause_interval_updated",
    oldInterval: readUint(log, 0),
    newInterval: readUint(log, 1),
  })),
];

/** The exchange of generation 2. It has no cancellations and no token registry. */
export const exchangeV2Decoders: readonly Decoder[] = [
  ...matchDecoders,
  eventDecoder("FeeReceiverUpdated(address)", 1, (log) => ({
    kind: "fee_receiver_updated",
    feeReceiver: topicAddress(log, 1),
  })),
  eventDecoder("MaxFeeRateUpdated(uint256)", 0, (log) => ({
    kind: "max_fee_rate_updated",
    maxFeeRateBps: readUint(log, 0),
  })),
];

/** The exchange of generation 3. It has no cancellations and no fee settings. */
export const exchangeV3Decoders: readonly Decoder[] = matchDecoders;

function readOrderFilled(log: LogText): ChainEvent {
  // An early build of generation 3 emitted the side without clearing the upper bytes, so only the low
  // byte is read. Above 1 it is undecodable.
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
