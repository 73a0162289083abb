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

/** Returns whether sums over positions leave none out, and whether the cost of all their shares is known, too. */
export function getCompleteness(positions: readonly ValuedPosition[]): {
  readonly isComplete: boolean;
  readonly isCostComplete: boolean;
} {
  const isComplete = positions.every((position) => position.isComplete);
  const isKnown = positions.every(({ known, shares }) => known === shares);
  return { isComplete, isCostComplete: isComplete && isKnown };
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
