/** The two ledgers of a market that moved to Protocol V2: the tokens of its own condition and those of its mirror. */
import type { Market, TokenId } from "../../../clients/typescript/src/api.ts";

/** A token of a market, and the token of the same outcome in Protocol V2; `null` if the market has not moved. */
export type LedgerToken = {
  readonly id: TokenId;
  readonly mirrorId: TokenId | null;
  /** The token that is traded now: that of Protocol V2 from its first trade on. */
  readonly activeId: TokenId;
};

/** Returns the tokens of a market in the order of its outcomes. */
export function ledgerTokens({ tokens, mirror, exchange_versions }: Market): LedgerToken[] {
  return tokens.map(({ token_id: id }, at) => {
    const mirrorId = mirror?.tokens[at]?.token_id ?? null;
    return { id, mirrorId, activeId: exchange_versions.includes(3) ? (mirrorId ?? id) : id };
  });
}

/** Returns the ids of tokens on both ledgers. */
export function bothLedgers(tokens: readonly LedgerToken[]): readonly TokenId[] {
  return tokens.flatMap(({ id, mirrorId }) => (mirrorId === null ? [id] : [id, mirrorId]));
}

/** Returns the price of an outcome that a row has: in an open market that moved, the price in Protocol V2. */
export function priceInRow({ tokens, mirror, status }: Market, at: number): string | null {
  const moved = status === "open" ? mirror?.tokens[at]?.price : null;
  return moved ?? tokens[at]?.price ?? null;
}
