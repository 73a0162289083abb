import type { Position } from "./position.ts";

/** A price as an exact fraction of a dollar per share. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

/**
 * A position with its value now. Without a complete ledger of the token, its shares and all that derives from them are
 * not known.
 */
export type ValuedPosition = Position & {
  /** Whether every transfer of the token is indexed. */
  readonly isComplete: boolean;
  /** `null` without any trade of the pair. */
  readonly price: Fraction | null;
  /** The payout of a share; `null` while the market is open. */
  readonly payout: Fraction | null;
  readonly value: bigint | null;
  readonly unrealized: bigint | null;
  readonly status: "open" | "redeemable" | "lost" | "closed";
  /** Shares that could be merged with as many of the other outcome; 0 once the market is resolved. */
  readonly mergeable: bigint;
};

/** Counts of the positions of a wallet, and sums over those whose whole ledger is indexed. */
export class PositionSums {
  total = 0;
  complete = 0;
  open = 0;
  value = 0n;
  redeemable = 0n;
  realized = 0n;
  unrealized = 0n;
  unknownProceeds = 0n;
  firstTimestamp = Infinity;
  lastTimestamp = 0;
  #isCostKnown = true;

  add(position: ValuedPosition): void {
    const { known, shares, status, value, realized, unrealized, unknownProceeds } = position;
    this.total += 1;
    if (status === "open") this.open += 1;
    if (known !== shares) this.#isCostKnown = false;
    this.firstTimestamp = Math.min(this.firstTimestamp, position.firstTimestamp);
    this.lastTimestamp = Math.max(this.lastTimestamp, position.lastTimestamp);
    if (!position.isComplete) return;
    this.complete += 1;
    this.value += value ?? 0n;
    if (status === "redeemable") this.redeemable += value ?? 0n;
    this.realized += realized;
    this.unrealized += unrealized ?? 0n;
    this.unknownProceeds += unknownProceeds;
  }

  /** Whether the sums leave no position out. */
  get isComplete(): boolean {
    return this.complete === this.total;
  }

  /** Whether the cost of all shares is known, too. */
  get isCostComplete(): boolean {
    return this.isComplete && this.#isCostKnown;
  }

  /** Whether the sums say anything: they do not if they leave all positions out. */
  get hasAmounts(): boolean {
    return this.isComplete || this.complete > 0;
  }
}

/** Values shares, rounded down. */
export function valueShares(shares: bigint, price: Fraction | null): bigint | null {
  return price && floorDivide(shares * price.numerator, price.denominator);
}

/** The value of shares of known cost minus their cost; `null` without a price. */
export function getUnrealized(
  { known, cost, feeCost }: Position,
  price: Fraction | null,
): bigint | null {
  const value = valueShares(known, price);
  return value === null ? null : value - cost - feeCost;
}

/** Whether a position can still change, and what it pays. */
export function getStatus({ shares }: Position, payout: Fraction | null): ValuedPosition["status"] {
  if (shares === 0n) return "closed";
  if (payout === null) return "open";
  return payout.numerator > 0n ? "redeemable" : "lost";
}

/** Divides and rounds down, also below zero: a price of mints can be negative. */
function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
