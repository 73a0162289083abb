/** Orders that an exchange fills together, and what all generations have in common. */
import type { Address, Hash, TokenId } from "../../../../src/base/ids.ts";
import { toTokenId } from "../../../../src/base/ids.ts";
import type { Side } from "../../../../src/contracts/events.ts";
import { ctf, type ModelCondition, positionManager } from "../model-markets.ts";
import { each, type ModelTransaction, type Parties } from "../model-transaction.ts";

/** The order of a maker in a match. */
export type Leg = {
  readonly maker: Address;
  /** Whether the order is for the other token, on the side of the taker: the match mints or burns a set. */
  readonly isOther: boolean;
  readonly shares: bigint;
  /** What the maker pays or receives. */
  readonly cash: bigint;
  readonly feeBips: bigint;
};

export type Match = {
  readonly generation: 1 | 2 | 3;
  readonly condition: ModelCondition;
  /** The outcome that the taker trades. */
  readonly outcome: 0 | 1;
  readonly side: Side;
  readonly taker: Address;
  readonly feeBips: bigint;
  readonly legs: readonly Leg[];
  /** The fee module that matched the orders and gives back a part of the fees; generation 1 only. */
  readonly feeModule: Address | null;
  /** Who gets the fees of generation 1. */
  readonly feeReceiver: Address;
  /** The collateral adapter of generation 2: the earlier or the later one. */
  readonly adapter: 0 | 1;
};

/** An order as the exchange fills it. */
export type Filled = {
  readonly owner: Address;
  readonly side: Side;
  readonly tokenId: TokenId;
  readonly shares: bigint;
  readonly cash: bigint;
  readonly fee: bigint;
  readonly orderHash: Hash;
};

/** A match with its orders filled. */
export type Filling = Match & {
  readonly tx: ModelTransaction;
  readonly exchange: Address;
  /** The account that moves tokens for the exchange. */
  readonly operator: Address;
  readonly makers: readonly Filled[];
  readonly takerOrder: Filled;
};

export function move(
  { tx, generation, operator }: Filling,
  parties: Pick<Parties, "from" | "to">,
  { tokenId, shares }: Pick<Filled, "tokenId" | "shares">,
): void {
  const at = generation === 3 ? positionManager : ctf;
  tx.move({ at, operator, ...parties }, { tokenId, amount: shares });
}

export function getAmounts({
  side,
  shares,
  cash,
}: Filled): readonly [given: bigint, received: bigint] {
  return side === "BUY" ? [cash, shares] : [shares, cash];
}

export function bookMaker(filling: Filling, order: Filled): void {
  bookTrade(filling, { order, role: "maker", counterparty: filling.taker });
}

export function bookTaker(filling: Filling, leftOver: bigint): void {
  const { tx, takerOrder, exchange, taker } = filling;
  bookTrade(filling, { order: takerOrder, role: "taker", counterparty: null });
  const tokens = each([takerOrder.tokenId], leftOver);
  tx.book({ wallet: taker, kind: "transfer_in", counterparty: exchange, tokens });
}

function bookTrade(
  { tx, generation, exchange, feeModule }: Filling,
  {
    order,
    role,
    counterparty,
  }: {
    readonly order: Filled;
    readonly role: "maker" | "taker";
    readonly counterparty: Address | null;
  },
): void {
  const { owner, side, tokenId, shares, cash, fee } = order;
  const isBuy = side === "BUY";
  const hasShareFee = generation === 1 && isBuy;
  // A refund in collateral lowers the fee; one in shares is a row of its own.
  const kept = feeModule === null ? fee : fee / 3n;
  tx.book({
    wallet: owner,
    kind: "trade",
    role,
    via: exchange,
    counterparty,
    cash: isBuy ? -cash : cash,
    fee: hasShareFee ? 0n : kept,
    feeShares: hasShareFee ? fee : 0n,
    tokens: each([tokenId], isBuy ? shares - (hasShareFee ? fee : 0n) : -shares),
  });
}

/** The hash of the next order. */
export function newOrderHash({ state }: ModelTransaction): Hash {
  state.orders += 1;
  return toTokenId(BigInt(state.orders)) as string as Hash;
}
