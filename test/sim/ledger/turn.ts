/** Whose turn it is, and what it picks from. */
import type { Address, TokenId } from "../../../src/base/ids.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { ModelCondition } from "./model-markets.ts";
import * as markets from "./model-markets.ts";
import type { ModelTransaction } from "./model-transaction.ts";

export const wallets: readonly Address[] = Array.from(
  { length: 6 },
  (_, index) => `0x${(index + 1).toString(16).repeat(40)}` as Address,
);
/** Fills orders, is approved by wallets, and gets fees. */
export const operator = `0x${"b".repeat(40)}` as Address;

export type Turn = {
  readonly tx: ModelTransaction;
  readonly random: SeededRandom;
  /** Who begins the operation. */
  readonly wallet: Address;
};
export type Operation = (turn: Turn) => void;

/** A little, a part, or all of what there is. */
export function anyPart(random: SeededRandom, amount: bigint): bigint {
  if (amount <= 1n) return amount;
  const part = BigInt(random.integer(1, 999));
  return random.pick([amount, (amount * part) / 1_000n, 1n, amount / 2n + 1n]) || 1n;
}

export function anyAmount(random: SeededRandom): bigint {
  return BigInt(random.pick([1, 2, 3, random.integer(1, 5_000_000), random.integer(1, 5_000_000)]));
}

export function another({ random, wallet }: Turn): Address {
  return random.pick(wallets.filter((one) => one !== wallet));
}

export function isPrepared({ tx }: Turn, condition: ModelCondition): boolean {
  return condition.kind === "protocol_v2" || tx.state.prepared.has(condition.id);
}

/**
 * The conditions that exchanges and adapters accept. The contracts accept prepared ones only; here tokens of standard
 * conditions also move before.
 */
export function legacyMarkets(turn: Turn): readonly ModelCondition[] {
  return [...markets.standard, ...markets.negRisk.filter((one) => isPrepared(turn, one))];
}

export function smallest({ tx, wallet }: Turn, tokens: readonly TokenId[]): bigint {
  return tokens
    .map((tokenId) => tx.balance(wallet, tokenId))
    .reduce((least, one) => (one < least ? one : least));
}
