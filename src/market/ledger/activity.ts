/** What a wallet did: the rows of its ledger, joined by cause. */
import type { Address, Seq } from "../../base/ids.ts";
import { getCause, type LedgerRow } from "./ledger-row.ts";

/**
 * The most tokens of a cause that are returned. A conversion has at most 256. Only transfers of batches can have more.
 */
export const activityTokensMax = 256;

/** One cause. `rows` are its tokens in the order of outcomes, at least one. */
export type Activity = {
  readonly seq: Seq;
  /** The `sub` of the first row, which orders the causes of a wallet at one position. */
  readonly sub: number;
  readonly timestamp: number;
  readonly txHash: LedgerRow["txHash"];
  readonly wallet: Address;
  readonly rows: readonly LedgerRow[];
};

/** Identifies the cause of a row. */
export function getCauseKey(row: LedgerRow): string {
  return `${row.wallet} ${row.seq} ${getCause(row)}`;
}

/** Joins rows to causes, in the order of the first row of each. */
export function groupActivity(rows: readonly LedgerRow[]): Activity[] {
  const causes = Map.groupBy(rows, getCauseKey);
  return [...causes.values()].flatMap((causeRows) => {
    const sorted = causeRows.toSorted((one, other) => one.sub - other.sub);
    const [first] = sorted;
    if (first === undefined) return [];
    const { seq, sub, timestamp, txHash, wallet } = first;
    return [{ seq, sub, timestamp, txHash, wallet, rows: sorted }];
  });
}

/** The side of a trade; `null` for other causes. A trade of 0 shares is a purchase unless it was paid. */
export function getTradeSide({
  kind,
  shares,
  cash,
}: Pick<LedgerRow, "kind" | "shares" | "cash">): "BUY" | "SELL" | null {
  if (kind !== "trade") return null;
  return shares > 0n || (shares === 0n && cash <= 0n) ? "BUY" : "SELL";
}
