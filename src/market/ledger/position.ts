/**
 * Positions as a fold over the ledger of a wallet: average cost, settled when a market is resolved. Integers of micros.
 * Shares have a known cost if the wallet paid for them or they came from a split, conversion or migration of shares with
 * one. The cost of received shares is unknown and never invented: their sale is `unknownProceeds`, not profit.
 *
 * For every position, with fees: cash in - cash out = realized + unknownProceeds + moved - cost - feeCost - costOut.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import { getCause, getShares, type LedgerRow } from "./ledger-row.ts";

/** What a wallet has of one token, and what it made of it. */
export type Position = {
  readonly tokenId: TokenId;
  shares: bigint;
  /** The shares of known cost, their cost without fees, and their fees. */
  known: bigint;
  cost: bigint;
  feeCost: bigint;
  realized: bigint;
  unknownProceeds: bigint;
  /** The cost of shares that left in transfers. */
  costOut: bigint;
  /** The cost that came or, negative, left with conversions, migrations, wraps and compressions. */
  moved: bigint;
  fees: bigint;
  /** Shares by trades only. */
  bought: bigint;
  sold: bigint;
  firstTimestamp: number;
  lastTimestamp: number;
  lastSeq: Seq;
};

/** The result of a token's market: what a share pays is `numerator / sum`. */
export type Settlement = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly numerator: bigint;
  readonly sum: bigint;
};

/** What the ledger alone does not say. */
export type FoldContext = {
  getSettlement(tokenId: TokenId): Settlement | null;
  /** The fee of conversions of the token's event, in hundredths of a percent. */
  getFeeBips(tokenId: TokenId): bigint;
  /** Called with each profit or loss and its time, also for settlements. */
  onRealized?(tokenId: TokenId, amount: bigint, timestamp: number): void;
};

/** The fields of a row that the fold needs. */
export type FoldRow = Pick<
  LedgerRow,
  "seq" | "sub" | "timestamp" | "tokenId" | "kind" | "role" | "nature" | "shares" | "cash" | "fee"
>;

type Basis = { readonly known: bigint; readonly cost: bigint; readonly feeCost: bigint };

/** Folds the rows of one wallet, which come in the order of `seq` and `sub`, in parts of any size. */
export class PositionFold {
  readonly #context: FoldContext;
  readonly #positions = new Map<TokenId, Position>();
  readonly #settled = new Set<TokenId>();
  /** The rows of a cause that may have more. */
  #open: FoldRow[] = [];
  #timestamp = 0;

  constructor(context: FoldContext) {
    this.#context = context;
  }

  add(row: FoldRow): void {
    const [first] = this.#open;
    if (first !== undefined && (first.seq !== row.seq || getCause(first) !== getCause(row))) {
      this.#close();
    }
    this.#open.push(row);
  }

  /** Yields all positions, also closed ones, settled by the results up to a position on the chain. */
  *finish(through: Seq): Generator<Position, void, undefined> {
    this.#close();
    for (const position of this.#positions.values()) {
      this.#settle(position, through);
      yield position;
    }
  }

  #close(): void {
    const rows = this.#open;
    this.#open = [];
    const [first] = rows;
    if (first === undefined) return;
    for (const row of rows) this.#touch(row);
    this.#timestamp = first.timestamp;
    if (first.kind !== "trade" && rows.every(({ shares }) => shares === 0n)) {
      // The shares had an unknown owner: only their collateral is the wallet's.
      this.#of(first).unknownProceeds += first.cash;
      return;
    }
    switch (first.kind) {
      case "trade":
        return this.#trade(first);
      case "fee_refund":
        return this.#acquire(first, 0n);
      case "split":
      case "hsplit":
      case "merge":
      case "hmerge":
        return first.nature === null ? this.#exchangeSet(rows) : this.#transfer(rows);
      case "redeem":
        return first.nature === null ? this.#redeem(rows) : this.#transfer(rows);
      case "convert":
      case "compress":
        return this.#convert(rows);
      case "migrate":
      case "wrap":
      case "unwrap":
        return this.#carry(rows);
      case "transfer_in":
      case "transfer_out":
        return this.#transfer(rows);
    }
  }

  #touch({ tokenId, timestamp, seq }: FoldRow): void {
    const position = this.#positions.get(tokenId) ?? emptyPosition(tokenId, timestamp);
    this.#positions.set(tokenId, position);
    this.#settle(position, (seq - 1) as Seq);
    position.lastTimestamp = timestamp;
    position.lastSeq = seq;
  }

  #of({ tokenId }: FoldRow): Position {
    return this.#positions.get(tokenId) ?? emptyPosition(tokenId, 0);
  }

  #trade(row: FoldRow): void {
    const position = this.#of(row);
    position.fees += row.fee;
    if (row.shares > 0n || (row.shares === 0n && row.cash <= 0n)) {
      position.bought += row.shares;
      this.#acquire(row, -row.cash, row.fee);
    } else {
      position.sold -= row.shares;
      this.#dispose(row, row.cash, row.fee);
    }
  }

  /** Splits and merges: each token has an equal part of the collateral. */
  #exchangeSet(rows: readonly FoldRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const isIn = first.kind === "split" || first.kind === "hsplit";
    // The remainder is on outcome 1 of a pair, and on the first token of an event.
    const heavy = first.kind === "split" || first.kind === "merge" ? rows.length - 1 : 0;
    const parts = evenParts(isIn ? -first.cash : first.cash, { count: rows.length, heavy });
    for (const [index, row] of rows.entries()) {
      if (isIn) this.#acquire(row, parts[index] ?? 0n);
      else this.#dispose(row, parts[index] ?? 0n);
    }
  }

  /** The payout of a token is that of its result. What a contract had before and paid out as well is no profit. */
  #redeem(rows: readonly FoldRow[]): void {
    const cash = rows.reduce((sum, row) => sum + row.cash, 0n);
    const payouts = rows.map(({ tokenId, shares }) => {
      const settlement = this.#context.getSettlement(tokenId);
      return settlement === null ? null : (-shares * settlement.numerator) / settlement.sum;
    });
    const isKnown = payouts.every((payout) => payout !== null);
    for (const [index, row] of rows.entries()) {
      this.#dispose(row, (isKnown ? payouts[index] : index === 0 ? cash : 0n) ?? 0n);
    }
    if (!isKnown) return;
    const paid =
      rows[
        Math.max(
          0,
          payouts.findIndex((payout) => payout !== 0n),
        )
      ];
    const surplus = cash - payouts.reduce((sum: bigint, payout) => sum + (payout ?? 0n), 0n);
    if (paid !== undefined) this.#of(paid).unknownProceeds += surplus;
  }

  /** Tokens turn into others. Their cost beyond the collateral moves on; without other tokens it is realized. */
  #convert(rows: readonly FoldRow[]): void {
    const given = rows.filter(({ shares }) => shares < 0n);
    const received = rows.filter(({ shares }) => shares >= 0n);
    const [lowest] = given;
    if (lowest === undefined) return this.#transfer(received);
    const cash =
      received.length > 0
        ? lowest.cash
        : conversionCash(given, this.#context.getFeeBips(lowest.tokenId));
    if (given.some((row) => this.#of(row).known !== this.#of(row).shares)) {
      this.#transfer(rows);
      this.#of(lowest).unknownProceeds += cash;
      return;
    }
    const isCompression = lowest.kind === "compress";
    if (isCompression && received.length === 0) return this.#dispose(lowest, cash);
    const bases = given.map((row) => this.#give(row, -row.shares));
    const basis = bases.reduce((sum, { cost, feeCost }) => sum + cost + feeCost, 0n);
    const rest = basis > cash && received.length > 0 ? basis - cash : 0n;
    for (const [index, row] of given.entries()) {
      const { cost = 0n, feeCost = 0n } = bases[index] ?? {};
      this.#of(row).moved -= cost + feeCost;
    }
    const position = this.#of(lowest);
    if (rest === 0n) {
      this.#realize(position, cash - basis);
      position.moved += basis;
    } else {
      position.moved += cash;
    }
    const parts = evenParts(rest, { count: received.length, heavy: 0 });
    for (const [index, row] of received.entries()) {
      this.#acquire(row, parts[index] ?? 0n);
      this.#of(row).moved += parts[index] ?? 0n;
    }
  }

  /** The cost and the known shares move from one token to another. */
  #carry(rows: readonly FoldRow[]): void {
    const [from, to] = rows;
    if (from === undefined || to === undefined) return this.#transfer(rows);
    const { known, cost, feeCost } = this.#removeUnknownFirst(from);
    const [source, target] = [this.#of(from), this.#of(to)];
    source.moved -= cost + feeCost;
    target.moved += cost + feeCost;
    target.shares += to.shares;
    target.known += known;
    target.cost += cost;
    target.feeCost += feeCost;
  }

  #transfer(rows: readonly FoldRow[]): void {
    for (const row of rows) {
      const shares = getShares(row);
      const position = this.#of(row);
      // Anyone can mint any amount of these.
      if (row.nature === "foreign") position.shares = BigInt.asUintN(256, position.shares + shares);
      else if (shares >= 0n) position.shares += shares;
      else {
        const { cost, feeCost } = this.#removeUnknownFirst({ ...row, shares });
        position.costOut += cost + feeCost;
      }
    }
  }

  #acquire(row: FoldRow, value: bigint, fee = 0n): void {
    const position = this.#of(row);
    position.shares += row.shares;
    position.known += row.shares;
    position.cost += value;
    position.feeCost += fee;
  }

  /** Sells shares, known ones first. */
  #dispose(row: FoldRow, value: bigint, fee = 0n): void {
    const position = this.#of(row);
    const shares = -row.shares;
    const { known, cost, feeCost } = this.#give(row, shares);
    const [knownValue, knownFee] =
      known === shares ? [value, fee] : [(value * known) / shares, (fee * known) / shares];
    this.#realize(position, knownValue - cost - knownFee - feeCost);
    position.unknownProceeds += value - knownValue - (fee - knownFee);
  }

  /** Removes shares, of which unknown ones go first. */
  #removeUnknownFirst(row: FoldRow): Basis {
    const { shares, known } = this.#of(row);
    const unknown = shares - known;
    const given = -row.shares > unknown ? -row.shares - unknown : 0n;
    const basis = this.#give(row, given);
    this.#of(row).shares += row.shares + given;
    return basis;
  }

  /** Removes shares with their part of the cost, up to those that are known; the others have none. */
  #give(row: FoldRow, shares: bigint): Basis {
    const position = this.#of(row);
    const known = shares < position.known ? shares : position.known;
    const isAll = known === position.known;
    const cost = isAll ? position.cost : (position.cost * known) / position.known;
    const feeCost = isAll ? position.feeCost : (position.feeCost * known) / position.known;
    position.shares -= shares;
    position.known -= known;
    position.cost -= cost;
    position.feeCost -= feeCost;
    return { known, cost, feeCost };
  }

  /** At the result, known shares count as sold and bought again at the payout. */
  #settle(position: Position, through: Seq): void {
    const { tokenId } = position;
    if (this.#settled.has(tokenId)) return;
    const settlement = this.#context.getSettlement(tokenId);
    if (settlement === null || settlement.seq > through) return;
    this.#settled.add(tokenId);
    const value = (position.known * settlement.numerator) / settlement.sum;
    const before = this.#timestamp;
    this.#timestamp = settlement.timestamp;
    this.#realize(position, value - position.cost - position.feeCost);
    this.#timestamp = before;
    position.cost = value;
    position.feeCost = 0n;
  }

  #realize(position: Position, amount: bigint): void {
    position.realized += amount;
    if (amount !== 0n) this.#context.onRealized?.(position.tokenId, amount, this.#timestamp);
  }
}

/** The collateral of a conversion of all outcomes, whose fee is not in its logs. The first of its rows has it, before the fee. */
export function conversionCash(given: readonly FoldRow[], feeBips: bigint): bigint {
  const cash = given[0]?.cash ?? 0n;
  const paidTokens = BigInt(Math.max(given.length - 1, 1));
  const amount = cash / paidTokens;
  return cash - paidTokens * ((amount * feeBips) / 10_000n);
}

function evenParts(amount: bigint, { count, heavy }: { count: number; heavy: number }): bigint[] {
  if (count === 0) return [];
  const part = amount / BigInt(count);
  const parts = Array.from({ length: count }, () => part);
  parts[heavy] = amount - part * BigInt(count - 1);
  return parts;
}

function emptyPosition(tokenId: TokenId, timestamp: number): Position {
  return {
    tokenId,
    shares: 0n,
    known: 0n,
    cost: 0n,
    feeCost: 0n,
    realized: 0n,
    unknownProceeds: 0n,
    costOut: 0n,
    moved: 0n,
    fees: 0n,
    bought: 0n,
    sold: 0n,
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    lastSeq: 0 as Seq,
  };
}
