/** Derives ids of generation 3 as its modules do. The service only reads these ids. */
import type { ConditionId, Hash, TokenId } from "../../src/base/ids.ts";
import type { Gen3Module } from "../../src/market/ids/gen3-ids.ts";
import { keccakOfPacked, toWord } from "../../src/market/ids/keccak.ts";

const moduleDigits = { binary: "01", neg_risk: "02", combinatorial: "03" } as const;

/** The condition id of a combination of positions, given in ascending order as in their event. */
export function deriveComboConditionId(legs: readonly TokenId[]): ConditionId {
  const data = [toWord(32), toWord(legs.length), ...legs].map((word) => word.slice(2)).join("");
  return deriveNativeEventId("combinatorial", `0x${data}`) as string as ConditionId;
}

/**
 * The id of an event that was created in generation 3 from the given bytes (`0x` hex). For `binary` and
 * `combinatorial`, whose arity is 0, it is also the condition id.
 */
export function deriveNativeEventId(module: Gen3Module, data: string, arity = 0): Hash {
  const digits = data.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
  // The ABI encoding of (uint256, bytes): the module, the offset of the bytes, their length, the bytes.
  const hash = keccakOfPacked(
    toWord(BigInt(`0x${moduleDigits[module]}`)),
    toWord(64),
    toWord(digits.length / 2),
    `0x${padded}`,
  );
  return getEventId({ module, hash, arity });
}

/** The generation-3 id of a binary condition that was migrated from ConditionalTokens. */
export function deriveMigratedConditionId(legacyConditionId: ConditionId): ConditionId {
  const hash = legacyConditionId as string as Hash;
  return getEventId({ module: "binary", hash, arity: 0 }) as string as ConditionId;
}

/** The generation-3 id of a neg-risk market with `arity` questions that was migrated. */
export function deriveMigratedEventId(legacyMarketId: Hash, arity: number): Hash {
  return getEventId({ module: "neg_risk", hash: legacyMarketId, arity });
}

/** Only the low 128 bits of the hash fit into an id. */
function getEventId(event: { module: Gen3Module; hash: Hash; arity: number }): Hash {
  const baseHash = event.hash.slice(-32);
  const id = `0x${moduleDigits[event.module]}${baseHash}${fourDigits(event.arity)}`;
  return id.padEnd(66, "0") as Hash;
}

function fourDigits(value: number): string {
  return value.toString(16).padStart(4, "0");
}
