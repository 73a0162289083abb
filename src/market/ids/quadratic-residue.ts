/** The prime of the alt_bn128 base field, over which ConditionalTokens builds collection ids. */
export const fieldPrime =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/**
 * Whether `value` (0 <= value < `fieldPrime`) has a square root modulo `fieldPrime`: its Jacobi symbol by Euclid's
 * algorithm, some ten times as fast as Euler's criterion.
 */
export function isSquareInField(value: bigint): boolean {
  if (value === 0n) return true;
  let [top, bottom] = [value, fieldPrime];
  let isNegative = false;
  while (top !== 0n) {
    for (; (top & 1n) === 0n; top >>= 1n) {
      // (2 / n) is -1 exactly for n = 3 or 5 modulo 8.
      if (((bottom + 2n) & 4n) !== 0n) isNegative = !isNegative;
    }
    // Quadratic reciprocity: the symbol changes when both are 3 modulo 4.
    if ((top & bottom & 2n) !== 0n) isNegative = !isNegative;
    [top, bottom] = [bottom % top, top];
  }
  return !isNegative;
}
