/** A cause in the books of the model: what a wallet did, with all tokens that it changed. */
import type { Address } from "../../../src/base/ids.ts";
import type { TokenAmount } from "../../../src/contracts/events.ts";
import type { LedgerRow } from "../../../src/market/ledger/ledger-row.ts";

export type ModelRow = Pick<
  LedgerRow,
  "wallet" | "kind" | "role" | "nature" | "via" | "counterparty" | "cash" | "fee" | "feeShares"
> & {
  /** Signed from the wallet's view, in the order of outcomes. */
  readonly tokens: readonly TokenAmount[];
};

export type NewRow = Pick<ModelRow, "kind" | "tokens"> & {
  readonly wallet: Address;
} & Partial<ModelRow>;

/** Returns a row without what was not given. */
export function toModelRow(row: NewRow): ModelRow {
  const none = { role: null, nature: null, via: null, counterparty: null };
  return { ...none, cash: 0n, fee: 0n, feeShares: 0n, ...row };
}

/** The row as text. The order of its tokens does not matter. */
export function formatModelRow(row: ModelRow): string {
  const { wallet, kind, role, nature, via, counterparty, cash, fee, feeShares } = row;
  const tokens = row.tokens.map(({ tokenId, amount }) => `${tokenId} ${amount}`).toSorted();
  const fields = [kind, wallet, role, nature, via, counterparty, cash, fee, feeShares, ...tokens];
  return fields.map(String).join(" ");
}
