/** What the exchanges of generations 2 and 3 log, in their order. */
import type { Address } from "../../../../src/base/ids.ts";
import { zeroHash } from "../../../../src/base/ids.ts";
import { zeroAddress } from "../../../../src/market/ledger/ledger-row.ts";
import { collateralAdapters, positionManager } from "../model-markets.ts";
import { each } from "../model-transaction.ts";
import {
  bookMaker,
  bookTaker,
  type Filled,
  type Filling,
  getAmounts,
  type Match,
  move,
} from "./filling.ts";
import { burnFor, mintFor } from "./legacy-contracts.ts";

/** Generations 2 and 3 without a mint or merge: tokens go from the seller to the buyer. */
export function matchPlain(filling: Filling): void {
  const { generation, makers, taker } = filling;
  for (const order of makers) {
    const isSell = order.side === "SELL";
    const transfer = () =>
      move(
        filling,
        isSell ? { from: order.owner, to: taker } : { from: taker, to: order.owner },
        order,
      );
    const isFilledFirst = generation === 3 && !isSell;
    if (!isFilledFirst) transfer();
    if (generation === 2) charge(filling, order);
    fill(filling, order, taker);
    if (isFilledFirst) transfer();
    if (generation === 3) charge(filling, order);
    bookMaker(filling, order);
  }
  finishV2(filling, 0n);
}

/** Generation 2 with a mint or merge: one for the whole match, by a collateral adapter. */
export function matchV2(filling: Filling): void {
  const { tx, exchange, makers, takerOrder, side, taker, condition } = filling;
  const isNegRisk = condition.kind === "neg_risk";
  const via = collateralAdapters[isNegRisk ? "neg_risk" : "standard"][filling.adapter] as Address;
  const amount = sumOther(filling);
  if (side === "SELL") move(filling, { from: taker, to: exchange }, takerOrder);
  for (const order of makers) {
    if (order.side === "SELL") move(filling, { from: order.owner, to: exchange }, order);
  }
  (side === "BUY" ? mintFor : burnFor)(tx, { wallet: exchange, via }, { condition, amount });
  for (const order of makers) {
    if (order.side === "BUY") move(filling, { from: exchange, to: order.owner }, order);
    charge(filling, order);
    fill(filling, order, taker);
    bookMaker(filling, order);
  }
  const leftOver = side === "SELL" ? tx.balance(exchange, takerOrder.tokenId) : 0n;
  if (side === "BUY") move(filling, { from: exchange, to: taker }, takerOrder);
  else if (leftOver > 0n)
    move(filling, { from: exchange, to: taker }, { ...takerOrder, shares: leftOver });
  finishV2(filling, leftOver);
}

/** Generation 3 with a mint or merge by the module. */
export function matchV3(filling: Filling): void {
  const { tx, exchange, makers, takerOrder, side, taker, condition } = filling;
  const { module } = condition;
  const amount = sumOther(filling);
  for (const order of makers) {
    const isMerged = order.tokenId !== takerOrder.tokenId;
    if (order.side === "SELL") {
      move(filling, { from: order.owner, to: isMerged ? module : exchange }, order);
    }
    fill(filling, order, taker);
    bookMaker(filling, order);
  }
  if (side === "BUY") {
    const parties = { at: positionManager, operator: module, from: zeroAddress, to: exchange };
    for (const token of each(condition.tokens, amount)) tx.move(parties, token);
    tx.emit(module, "PositionsSplit(address,bytes31,address,address,uint256)", {
      topics: [exchange, condition.id, exchange],
      data: [exchange, amount],
    });
    tx.pay("protocol_v2", amount);
  } else {
    const bought = takerOrder.shares - amount;
    if (bought > 0n)
      move(filling, { from: taker, to: exchange }, { ...takerOrder, shares: bought });
    move(filling, { from: taker, to: module }, { ...takerOrder, shares: amount });
    const parties = { at: positionManager, operator: module, from: module, to: zeroAddress };
    for (const token of each(condition.tokens, amount)) tx.move(parties, token);
    tx.emit(module, "PositionsMerged(address,bytes31,address,uint256)", {
      topics: [exchange, condition.id, exchange],
      data: [amount],
    });
    tx.pay("protocol_v2", -amount);
  }
  for (const order of makers) {
    if (order.side === "BUY") move(filling, { from: exchange, to: order.owner }, order);
    charge(filling, order);
  }
  if (side === "BUY") move(filling, { from: exchange, to: taker }, takerOrder);
  finishV2(filling, 0n);
}

function charge({ tx, exchange }: Filling, { fee, owner }: Filled): void {
  if (fee > 0n) tx.emit(exchange, "FeeCharged(address,uint256)", { topics: [owner], data: [fee] });
}

function fill({ tx, exchange }: Filling, order: Filled, counterparty: Address): void {
  const { orderHash, owner, side, tokenId, fee } = order;
  tx.emit(
    exchange,
    "OrderFilled(bytes32,address,address,uint8,uint256,uint256,uint256,uint256,bytes32,bytes32)",
    {
      topics: [orderHash, owner, counterparty],
      data: [side === "BUY" ? 0 : 1, tokenId, ...getAmounts(order), fee, zeroHash, zeroHash],
    },
  );
}

function finishV2(filling: Filling, leftOver: bigint): void {
  const { tx, exchange, takerOrder } = filling;
  const { orderHash, owner, tokenId, side } = takerOrder;
  charge(filling, takerOrder);
  fill(filling, takerOrder, exchange);
  tx.emit(exchange, "OrdersMatched(bytes32,address,uint8,uint256,uint256,uint256)", {
    topics: [orderHash, owner],
    data: [side === "BUY" ? 0 : 1, tokenId, ...getAmounts(takerOrder)],
  });
  bookTaker(filling, leftOver);
}

function sumOther({ legs }: Match): bigint {
  return legs.reduce((sum, { isOther, shares }) => (isOther ? sum + shares : sum), 0n);
}
