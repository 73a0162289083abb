import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder } from "../decoder.ts";
import type { ChainEvent, Side } from "../events.ts";
import {
  isZeroWord,
  readAddress,
  readTokenId,
  readUint,
  topicAddress,
  topicConditionId,
  topicHash,
  topicTokenId,
  topicUint,
} from "../words.ts";

/** The exchange of generation 1. An order has two asset ids; an id of 0 is collateral. */
export const exchangeV1Decoders: readonly Decoder[] = [
  eventDecoder(
    "OrderFilled(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)",
    3,
    readOrderFilled,
  ),
  eventDecoder("OrdersMatched(bytes32,address,uint256,uint256,uint256,uint256)", 2, (log) => ({
    kind: "orders_matched",
    takerOrderHash: topicHash(log, 1),
  })),
  eventDecoder("OrderCancelled(bytes32)", 1, (log) => ({
    kind: "order_cancelled",
    orderHash: topicHash(log, 1),
  })),
  eventDecoder("FeeCharged(address,uint256,uint256)", 1, () => ({ kind: "fee_charged" })),
  eventDecoder("TokenRegistered(uint256,uint256,bytes32)", 3, (log) => ({
    kind: "token_registered",
    token0: topicTokenId(log, 1),
    token1: topicTokenId(log, 2),
    conditionId: topicConditionId(log, 3),
  })),
];

/** The fee modules of generation 1, which refund fees that exceed what an order owes. */
export const feeModuleDecoders: readonly Decoder[] = [
  // The third indexed argument is an amount: the fee that the module kept.
  eventDecoder("FeeRefunded(bytes32,address,uint256,uint256,uint256)", 3, (log) => ({
    kind: "fee_refunded",
    orderHash: topicHash(log, 1),
    to: topicAddress(log, 2),
    tokenId: isZeroWord(log, 0) ? null : readTokenId(log, 0),
    refund: readUint(log, 1),
    feeKept: topicUint(log, 3),
  })),
  // The module of 2023 indexes nothing and does not report the order.
  eventDecoder("FeeRefunded(address,address,uint256,uint256)", 0, (log) => ({
    kind: "fee_refunded",
    orderHash: null,
    to: readAddress(log, 1),
    tokenId: isZeroWord(log, 2) ? null : readTokenId(log, 2),
    refund: readUint(log, 3),
    feeKept: null,
  })),
];

/** Exactly one asset must be collateral (id 0). An order that gives collateral is a BUY, else a SELL. */
function readOrderFilled(log: LogText): ChainEvent {
  const givesCollateral = isZeroWord(log, 0);
  const getsCollateral = isZeroWord(log, 1);
  if (givesCollateral === getsCollateral) {
    const which = givesCollateral ? "both assets are collateral" : "neither asset is collateral";
    return { kind: "undecodable", reason: which };
  }
  const side: Side = givesCollateral ? "BUY" : "SELL";
  return {
    kind: "order_filled",
    orderHash: topicHash(log, 1),
    maker: topicAddress(log, 2),
    taker: topicAddress(log, 3),
    side,
    tokenId: readTokenId(log, givesCollateral ? 1 : 0),
    makerAmount: readUint(log, 2),
    takerAmount: readUint(log, 3),
    fee: readUint(log, 4),
    builder: null,
    metadata: null,
  };
}
