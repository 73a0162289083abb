import type { Address, ConditionId, Hash, TokenId } from "../../base/ids.ts";
import { keccakOfPacked, toWord } from "./keccak.ts";

/** The prime of the alt_bn128 base field, over which ConditionalTokens builds collection ids. */
export const fieldPrime =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** Derives the id that ConditionalTokens gives a condition, from its oracle, question and number of outcomes. */
export function deriveConditionId(condition: {
  readonly oracle: Address;
  readonly questionId: Hash;
  readonly outcomeSlotCount: number;
}): ConditionId {
  const { oracle, questionId, outcomeSlotCount } = condition;
  return keccakOfPacked(oracle, questionId, toWord(outcomeSlotCount)) as string as ConditionId;
}

/**
 * Derives the collection of the outcomes in `indexSet` (bit i is outcome i) of a condition, without a
 * parent collection: the hash maps to a compressed point of the curve y^2 = x^3 + 3.
 *
 * The contract takes the root y whose parity is the top bit of the hash, and sets bit 254 for an odd y.
 * So that bit is known without y, and it is enough to check that a root exists. The two roots never
 * have the same parity, because a curve of prime order has no point with y = 0.
 */
export function deriveCollectionId(conditionId: ConditionId, indexSet: number): Hash {
  const seed = BigInt(keccakOfPacked(conditionId, toWord(indexSet)));
  let x = seed;
  do {
    x = (x + 1n) % fieldPrime;
  } while (!isSquareInField((x * x * x + 3n) % fieldPrime));
  const parityOfRoot = seed >> 255n;
  return toWord(x | (parityOfRoot << 254n));
}

/** Derives the ERC-1155 id of a collection's token, backed by `collateral`. */
export function deriveTokenId(collateral: Address, collectionId: Hash): TokenId {
  return keccakOfPacked(collateral, collectionId) as string as TokenId;
}

/**
 * Derives the tokens of outcomes 0 and 1 of a condition with two outcomes. `collateral` is the token that backs
 * the positions (USDC.e, or the wrapped collateral of neg-risk), not the one that the exchange settles in.
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
 * Whether `value` (0 <= value < `fieldPrime`) has a square root modulo `fieldPrime`. Computes the Jacobi symbol by a
 * variant of Euclid's algorithm, about ten times as fast as Euler's criterion.
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
    // Quadratic reciprocity: the sign changes when both are 3 modulo 4.
    if ((top & bottom & 2n) !== 0n) isNegative = !isNegative;
    [top, bottom] = [bottom % top, top];
  }
  return !isNegative;
}
