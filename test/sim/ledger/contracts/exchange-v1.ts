/** What the exchanges of generation 1 log, in their order. */
import type { Address } from "../../../../src/base/ids.ts";
import { ctf, exchanges, type ModelCondition, negRiskAdapter } from "../model-markets.ts";
import { each, type ModelTransaction } from "../model-transaction.ts";
import {
  bookMaker,
  bookTaker,
  type Filled,
  type Filling,
  getAmounts,
  move,
  newOrderHash,
} from "./filling.ts";
import { burnAtAdapter, burnAtCtf, mintAtAdapter, mintAtCtf } from "./legacy-contracts.ts";

const filledV1 = "OrderFilled(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)";

/** Generation 1: every order is filled against the exchange, and its fee is paid in what it receives. */
export function matchV1(filling: Filling): void {
  const { tx, exchange, makers, takerOrder, side, taker, condition } = filling;
  const isNegRisk = condition.kind === "neg_risk";
  if (side === "SELL") move(filling, { from: taker, to: exchange }, takerOrder);
  for (const order of makers) {
    const change = { condition, amount: order.shares };
    if (order.side === "SELL") move(filling, { from: order.owner, to: exchange }, order);
    if (order.tokenId !== takerOrder.tokenId) {
      if (side === "BUY") (isNegRisk ? mintAtAdapter : mintAtCtf)(tx, exchange, change);
      else (isNegRisk ? burnAtAdapter : burnAtCtf)(tx, exchange, change);
    }
    settleV1(filling, order);
    bookMaker(filling, order);
  }
  // What the exchange had before goes to the taker as well.
  const inMatch = side === "BUY" ? takerOrder.shares : 0n;
  const leftOver = tx.balance(exchange, takerOrder.tokenId) - inMatch;
  if (side === "BUY") settleV1(filling, takerOrder, leftOver);
  else {
    chargeV1(filling, takerOrder);
    if (leftOver > 0n)
      move(filling, { from: exchange, to: taker }, { ...takerOrder, shares: leftOver });
    fillV1(filling, takerOrder, exchange);
  }
  finish(filling, leftOver);
  if (filling.feeModule !== null) refund(filling, filling.feeModule);
}

/** An order of generation 1 receives its shares, less the fee in shares, or is charged in collateral. */
function settleV1(filling: Filling, order: Filled, leftOver = 0n): void {
  const { tx, exchange, feeReceiver, takerOrder } = filling;
  const from = exchange;
  const isTaker = order === takerOrder;
  if (order.side === "BUY") {
    move(
      filling,
      { from, to: order.owner },
      { ...order, shares: order.shares + leftOver - order.fee },
    );
    if (order.fee > 0n) {
      move(filling, { from, to: feeReceiver }, { ...order, shares: order.fee });
      tx.book({
        wallet: feeReceiver,
        kind: "transfer_in",
        counterparty: exchange,
        tokens: each([order.tokenId], order.fee),
      });
    }
  }
  chargeV1(filling, order);
  fillV1(
    filling,
    { ...order, shares: order.shares + leftOver },
    isTaker ? exchange : filling.taker,
  );
}

/** The fee module gives back two thirds of each fee: to the taker, then to the makers. */
function refund({ tx, makers, takerOrder, condition, operator }: Filling, module: Address): void {
  for (const order of [takerOrder, ...makers]) {
    const amount = order.fee - order.fee / 3n;
    if (amount === 0n) continue;
    const isShares = order.side === "BUY";
    const token = { tokenId: order.tokenId, amount };
    const tokens = [token];
    if (isShares) {
      const by = condition.kind === "neg_risk" ? operator : module;
      tx.move({ at: ctf, operator: by, from: module, to: order.owner }, token);
    }
    tx.emit(module, "FeeRefunded(bytes32,address,uint256,uint256,uint256)", {
      topics: [order.orderHash, order.owner, order.fee - amount],
      data: [isShares ? order.tokenId : 0, amount],
    });
    if (!isShares) continue;
    tx.book({ wallet: order.owner, kind: "fee_refund", via: module, tokens });
    tx.book({
      wallet: module,
      kind: "transfer_out",
      counterparty: order.owner,
      tokens: each([order.tokenId], -amount),
    });
  }
}

/** An operator fills an order of generation 1 itself, and keeps the fee. */
export function fillDirectly(
  tx: ModelTransaction,
  {
    condition,
    operator,
    order,
  }: {
    readonly condition: ModelCondition;
    readonly operator: Address;
    readonly order: Omit<Filled, "orderHash">;
  },
): void {
  const isNegRisk = condition.kind === "neg_risk";
  const exchange = exchanges[isNegRisk ? "neg_risk" : "standard"][0];
  const { owner, side, tokenId, shares, cash, fee } = order;
  const isBuy = side === "BUY";
  const moved = isBuy ? shares - fee : shares;
  const [from, to] = isBuy ? [operator, owner] : [owner, operator];
  tx.move(
    { at: ctf, operator: isNegRisk ? negRiskAdapter : exchange, from, to },
    { tokenId, amount: moved },
  );
  const orderHash = newOrderHash(tx);
  tx.emit(exchange, filledV1, toFilledV1({ ...order, orderHash }, operator));
  const amount = isBuy ? moved : -moved;
  const trade = { kind: "trade", via: exchange } as const;
  const fees = isBuy ? { feeShares: fee } : { fee };
  tx.book({
    ...trade,
    ...fees,
    wallet: owner,
    role: "maker",
    counterparty: operator,
    cash: isBuy ? -cash : cash,
    tokens: each([tokenId], amount),
  });
  tx.book({
    ...trade,
    wallet: operator,
    role: "operator",
    counterparty: owner,
    cash: isBuy ? cash : fee - cash,
    tokens: each([tokenId], -amount),
  });
}

function chargeV1({ tx, exchange }: Filling, { side, tokenId, fee, owner }: Filled): void {
  if (fee === 0n) return;
  tx.emit(exchange, "FeeCharged(address,uint256,uint256)", {
    topics: [owner],
    data: [side === "BUY" ? tokenId : 0, fee],
  });
}

function toFilledV1(order: Filled, counterparty: Address) {
  const assets = order.side === "BUY" ? [0, order.tokenId] : [order.tokenId, 0];
  return {
    topics: [order.orderHash, order.owner, counterparty],
    data: [...assets, ...getAmounts(order), order.fee],
  };
}

function fillV1({ tx, exchange }: Filling, order: Filled, counterparty: Address): void {
  tx.emit(exchange, filledV1, toFilledV1(order, counterparty));
}

/** Generation 1: the summary of the match. `leftOver` is in what the taker received. */
function finish(filling: Filling, leftOver: bigint): void {
  const { tx, exchange, takerOrder } = filling;
  const { orderHash, owner, tokenId, side } = takerOrder;
  const shares = takerOrder.shares + (side === "BUY" ? leftOver : 0n);
  tx.emit(exchange, "OrdersMatched(bytes32,address,uint256,uint256,uint256,uint256)", {
    topics: [orderHash, owner],
    data: [
      ...(side === "BUY" ? [0, tokenId] : [tokenId, 0]),
      ...getAmounts({ ...takerOrder, shares }),
    ],
  });
  bookTaker(filling, leftOver);
}
