import type { Address, ConditionId, Hash, TokenId } from "../../base/ids.ts";
import { keccakOfPacked, wordOf } from "./keccak.ts";

/** The prime of the alt_bn128 base field, over which ConditionalTokens builds collection ids. */
export const fieldPrime =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** The id ConditionalTokens gives a condition; its oracle and question alone decide it. */
export function deriveConditionId(condition: {
  readonly oracle: Address;
  readonly questionId: Hash;
  readonly outcomeSlotCount: number;
}): ConditionId {
  const { oracle, questionId, outcomeSlotCount } = condition;
  return keccakOfPacked(oracle, questionId, wordOf(outcomeSlotCount)) as string as ConditionId;
}

/**
 * The collection of the outcomes in `indexSet` (bit i is outcome i) of a condition, without a
 * parent collection: the compressed point of the curve y^2 = x^3 + 3 that the hash leads to.
 *
 * The contract takes the root y whose parity is the hash's top bit, and marks an odd y in bit 254.
 * So the mark is known without y, and asking whether a root exists replaces computing it. The two
 * roots never have the same parity, because y = 0 is on no point of a curve of prime order.
 */
export function deriveCollectionId(conditionId: ConditionId, indexSet: number): Hash {
  const seed = BigInt(keccakOfPacked(conditionId, wordOf(indexSet)));
  let x = seed;
  do {
    x = (x + 1n) % fieldPrime;
  } while (!isSquareInField((x * x * x + 3n) % fieldPrime));
  const parityOfRoot = seed >> 255n;
  return wordOf(x | (parityOfRoot << 254n));
}

/** The ERC-1155 id of a collection's outcome token backed by `collateral`. */
export function deriveTokenId(collateral: Address, collectionId: Hash): TokenId {
  return keccakOfPacked(collateral, collectionId) as string as TokenId;
}

/**
 * The tokens of outcome 0 and outcome 1 of a condition with two slots. `collateral` is what backs
 * the positions (USDC.e, or the wrapped collateral of neg-risk), not what the exchange settles in.
 */
export function deriveTokenIds(
  conditionId: ConditionId,
  collateral: Address,
): readonly [TokenId, TokenId] {
  return [
    deriveTokenId(collateral, deriveCollectionId(conditionId, 0b01)),
    deriveTokenId(collateral, deriveCollectionId(conditionId, 0b10)),
  ];
}

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
