/**
 * Token ids of generation 3 contain all about their token, so nothing has to be looked up. In hex digits:
 *
 *     module 2 | base hash 32 | arity 4 | reserved 16 | resolution chain 4 | index 4 | outcome 2
 *
 * A condition id is a token id without the outcome; an event id is one without index and outcome. Both
 * are padded with zeros on the right to 32 bytes, as in topics. `arity` is the number of named conditions
 * of a neg-risk event, and 0 otherwise.
 */
import { type ConditionId, type Hash, type TokenId, toTokenId } from "../../base/ids.ts";

export type Gen3Module = "binary" | "neg_risk" | "combinatorial";

/** The fields of a generation 3 token id. */
export type Gen3Position = {
  readonly module: Gen3Module;
  readonly conditionId: ConditionId;
  readonly eventId: Hash;
  /** In a neg-risk event, the index that equals the arity is "Other": none of the named conditions. */
  readonly conditionIndex: number;
};

const moduleOfDigits = new Map<string, Gen3Module>([
  ["01", "binary"],
  ["02", "neg_risk"],
  ["03", "combinatorial"],
]);
const layout = /^0x(..).{36}0{16}....(....)0[01]$/;

/**
 * Parses a token id; `null` when no module could have made it (unknown module, outcome above 1, reserved bits set).
 * Arity and index are not checked. Anyone can split any condition of a module, so tokens of an event that was never
 * announced can be traded.
 */
export function parseGen3TokenId(tokenId: TokenId): Gen3Position | null {
  const [, digits = "", conditionIndex = ""] = layout.exec(tokenId) ?? [];
  const module = moduleOfDigits.get(digits);
  if (module === undefined) return null;
  return {
    module,
    conditionId: `${tokenId.slice(0, -2)}00` as ConditionId,
    eventId: `${tokenId.slice(0, -6)}000000` as Hash,
    conditionIndex: Number.parseInt(conditionIndex, 16),
  };
}

/** Returns the number of named conditions of an event of module 2, which is also the index of "Other"; otherwise 0. */
export function getArity(eventId: Hash): number {
  return Number.parseInt(eventId.slice(36, 40), 16);
}

/** Returns the YES and the NO token of a condition. */
export function deriveGen3TokenIds(conditionId: ConditionId): readonly [TokenId, TokenId] {
  const yes = conditionId as string as TokenId;
  return [yes, toTokenId(BigInt(yes) ^ 1n)];
}

/**
 * Returns all conditions of an event, at most 65,536: the named ones, then "Other". A binary event has
 * one condition, whose id is the same.
 */
export function deriveGen3ConditionIds(eventId: Hash): readonly ConditionId[] {
  return Array.from({ length: getArity(eventId) + 1 }, (_, index) =>
    deriveGen3ConditionId(eventId, index),
  );
}

/** Returns the condition of an event at an index below 65,536. */
export function deriveGen3ConditionId(eventId: Hash, conditionIndex: number): ConditionId {
  const digits = conditionIndex.toString(16).padStart(4, "0");
  return `${eventId.slice(0, -6)}${digits}00` as ConditionId;
}
