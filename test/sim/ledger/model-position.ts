/**
 * The positions of the model: a second implementation of the rules of `docs/wallets.md`, written from them and not from
 * the fold of the service.
 */
import type { TokenId } from "../../../src/base/ids.ts";
import type { Position } from "../../../src/market/ledger/position.ts";
import type { ModelRow } from "./model-row.ts";

export type ModelPosition = Pick<
  Position,
  | "shares"
  | "known"
  | "cost"
  | "feeCost"
  | "realized"
  | "unknownProceeds"
  | "costOut"
  | "moved"
  | "fees"
  | "bought"
  | "sold"
>;

/** What a share of each token pays after the result. */
export type Payouts = ReadonlyMap<TokenId, { readonly numerator: bigint; readonly sum: bigint }>;

type Book = {
  readonly get: (tokenId: TokenId) => ModelPosition;
  readonly payouts: Payouts;
  /** The collateral that a conversion really paid. */
  readonly paid: bigint;
};

export function emptyPosition(): ModelPosition {
  const [shares, known, cost, feeCost, realized, unknownProceeds] = [0n, 0n, 0n, 0n, 0n, 0n];
  const [costOut, moved, fees, bought, sold] = [0n, 0n, 0n, 0n, 0n];
  return {
    shares,
    known,
    cost,
    feeCost,
    realized,
    unknownProceeds,
    costOut,
    moved,
    fees,
    bought,
    sold,
  };
}

/** Books one cause of a wallet. */
export function bookRow(row: ModelRow, book: Book): void {
  const tokens = row.tokens.map(({ tokenId, amount }) => ({ position: book.get(tokenId), amount }));
  const [first] = tokens;
  if (first === undefined) return;
  const { position, amount } = first;
  const isSet = ["split", "merge", "hsplit", "hmerge"].includes(row.kind);
  if (row.kind === "trade") bookTrade(position, amount, row);
  else if (row.kind === "fee_refund") acquire(position, amount, [0n, 0n]);
  else if (row.nature !== null || row.kind.startsWith("transfer")) moveAll(tokens);
  else if (amount === 0n && (isSet || row.kind === "redeem")) position.unknownProceeds += row.cash;
  else if (isSet) bookSet(tokens, row);
  else if (row.kind === "redeem") bookRedemption(row, book);
  else if (row.kind === "convert" || row.kind === "compress")
    bookConversion(tokens, row, book.paid);
  else if (tokens[1] !== undefined) carry(first, tokens[1]);
}

/** A known share counts as sold and bought again at its payout. */
export function settle(position: ModelPosition, numerator: bigint, sum: bigint): void {
  const value = (position.known * numerator) / sum;
  position.realized += value - position.cost - position.feeCost;
  position.cost = value;
  position.feeCost = 0n;
}

type Token = { readonly position: ModelPosition; readonly amount: bigint };

function bookTrade(position: ModelPosition, amount: bigint, { cash, fee }: ModelRow): void {
  position.fees += fee;
  if (amount > 0n) {
    position.bought += amount;
    acquire(position, amount, [-cash, fee]);
  } else {
    position.sold -= amount;
    dispose(position, -amount, [cash, fee]);
  }
}

/** A dollar becomes one share of each token, or the other way round. */
function bookSet(tokens: readonly Token[], { kind, cash }: ModelRow): void {
  const total = cash < 0n ? -cash : cash;
  const part = total / BigInt(tokens.length);
  const heavy = kind.startsWith("h") ? 0 : tokens.length - 1;
  for (const [index, { position, amount }] of tokens.entries()) {
    const value = index === heavy ? total - part * BigInt(tokens.length - 1) : part;
    if (amount > 0n) acquire(position, amount, [value, 0n]);
    else dispose(position, -amount, [value, 0n]);
  }
}

function bookRedemption({ tokens, cash }: ModelRow, { get, payouts }: Book): void {
  const values = tokens.map(({ tokenId, amount }) => {
    const payout = payouts.get(tokenId);
    return payout === undefined ? null : (-amount * payout.numerator) / payout.sum;
  });
  const isKnown = !values.includes(null);
  for (const [index, { tokenId, amount }] of tokens.entries()) {
    const value = isKnown ? (values[index] ?? 0n) : index === 0 ? cash : 0n;
    dispose(get(tokenId), -amount, [value, 0n]);
  }
  if (!isKnown) return;
  const total = values.reduce((sum: bigint, value) => sum + (value ?? 0n), 0n);
  const paying =
    tokens[
      Math.max(
        0,
        values.findIndex((value) => value !== 0n),
      )
    ];
  if (paying !== undefined) get(paying.tokenId).unknownProceeds += cash - total;
}

function bookConversion(tokens: readonly Token[], { kind }: ModelRow, paid: bigint): void {
  const given = tokens.filter(({ amount }) => amount < 0n);
  const made = tokens.filter(({ amount }) => amount > 0n);
  const lowest = given[0]?.position;
  if (lowest === undefined || given.some(({ position }) => position.known !== position.shares)) {
    moveAll(tokens);
    if (lowest !== undefined) lowest.unknownProceeds += paid;
    return;
  }
  if (kind === "compress" && made.length === 0) {
    return dispose(lowest, -(given[0]?.amount ?? 0n), [paid, 0n]);
  }
  let basis = 0n;
  for (const { position, amount } of given) {
    const own = remove(position, -amount);
    position.shares += amount;
    position.moved -= own.cost + own.feeCost;
    basis += own.cost + own.feeCost;
  }
  const rest = made.length > 0 && basis > paid ? basis - paid : 0n;
  if (rest === 0n) lowest.realized += paid - basis;
  lowest.moved += rest === 0n ? basis : paid;
  const part = made.length === 0 ? 0n : rest / BigInt(made.length);
  for (const [index, { position, amount }] of made.entries()) {
    const value = index === 0 ? rest - part * BigInt(made.length - 1) : part;
    acquire(position, amount, [value, 0n]);
    position.moved += value;
  }
}

function carry(from: Token, to: Token): void {
  const unknown = from.position.shares - from.position.known;
  const known = -from.amount > unknown ? -from.amount - unknown : 0n;
  const { cost, feeCost } = remove(from.position, known);
  from.position.shares += from.amount;
  from.position.moved -= cost + feeCost;
  to.position.shares += to.amount;
  to.position.known += known;
  to.position.cost += cost;
  to.position.feeCost += feeCost;
  to.position.moved += cost + feeCost;
}

/** Received shares have no known cost. Of sent ones, those without a known cost go first. */
function moveAll(tokens: readonly Token[]): void {
  for (const { position, amount } of tokens) {
    if (amount < 0n) {
      const unknown = position.shares - position.known;
      const { cost, feeCost } = remove(position, -amount > unknown ? -amount - unknown : 0n);
      position.costOut += cost + feeCost;
    }
    position.shares += amount;
  }
}

type ValueAndFee = readonly [value: bigint, fee: bigint];

function acquire(position: ModelPosition, shares: bigint, [value, fee]: ValueAndFee): void {
  position.shares += shares;
  position.known += shares;
  position.cost += value;
  position.feeCost += fee;
}

function dispose(position: ModelPosition, shares: bigint, [value, fee]: ValueAndFee): void {
  const known = shares < position.known ? shares : position.known;
  const { cost, feeCost } = remove(position, known);
  const [ownValue, ownFee] =
    known === shares ? [value, fee] : [(value * known) / shares, (fee * known) / shares];
  position.shares -= shares;
  position.realized += ownValue - ownFee - cost - feeCost;
  position.unknownProceeds += value - ownValue - (fee - ownFee);
}

/** Removes known shares with their part of the cost, rounded down. */
function remove(position: ModelPosition, known: bigint) {
  const isAll = known === position.known;
  const cost = isAll ? position.cost : (position.cost * known) / position.known;
  const feeCost = isAll ? position.feeCost : (position.feeCost * known) / position.known;
  position.known -= known;
  position.cost -= cost;
  position.feeCost -= feeCost;
  return { cost, feeCost };
}
