import type { LogText } from "../../chain/parse/log-text.ts";
import type { Decoder } from "../decoder.ts";
import type { ChainEvent, Side } from "../events.ts";
import {
  isZeroWord,
  readTokenId,
  readUint,
  topicAddress,
  topicConditionId,
  topicHash,
  topicTokenId,
} from "../words.ts";

/** The exchange of generation 1; of an order's two asset ids the one that is 0 is cash. */
export const exchangeV1Decoders: readonly Decoder[] = [
  {
    signature: "OrderFilled(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)",
    topic0: "0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6",
    topicCount: 4,
    dataBytes: 160,
    read: readOrderFilled,
  },
  {
    signature: "OrdersMatched(bytes32,address,uint256,uint256,uint256,uint256)",
    topic0: "0x63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c",
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
    signature: "OrderCancelled(bytes32)",
    topic0: "0x5152abf959f6564662358c2e52b702259b78bac5ee7842a0f01937e670efcc7d",
    topicCount: 2,
    dataBytes: 0,
    read: (log) => ({ kind: "order_cancelled", orderHash: topicHash(log, 1) }),
  },
  {
    signature: "FeeCharged(address,uint256,uint256)",
    topic0: "0xacffcc86834d0f1a64b0d5a675798deed6ff0bcfc2231edd3480e7288dba7ff4",
    topicCount: 2,
    dataBytes: 64,
    read: (log) => ({
      kind: "fee_charged",
      receiver: topicAddress(log, 1),
      tokenId: isZeroWord(log, 0) ? null : readTokenId(log, 0),
      amount: readUint(log, 1),
    }),
  },
  {
    signature: "TokenRegistered(uint256,uint256,bytes32)",
    topic0: "0xbc9a2432e8aeb48327246cddd6e872ef452812b4243c04e6bfb786a2cd8faf0d",
    topicCount: 4,
    dataBytes: 0,
    read: (log) => ({
      kind: "token_registered",
      token0: topicTokenId(log, 1),
      token1: topicTokenId(log, 2),
      conditionId: topicConditionId(log, 3),
    }),
  },
];

/** Exactly one asset is collateral (id 0): the one the order gives makes it a BUY or a SELL. */
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
