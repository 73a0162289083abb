/** Filters of the activity of wallets. A test compares the two forms of a filter on generated rows. */
import type { Address, TokenId } from "../../base/ids.ts";
import { type Activity, getTradeSide } from "../../market/ledger/activity.ts";
import { type LedgerKind, type LedgerRole, subsPerCause } from "../../market/ledger/ledger-row.ts";
import { decimalLiteral, hexLiteral, wordLiteral } from "../../storage/sql-literal.ts";
import {
  type Condition,
  type Conditions,
  isAmong,
  isIn,
  joinConditions,
  type RangeFilter,
  rangeConditions,
} from "../condition.ts";

/** A filter of activity. An absent field matches all; all present fields must match. */
export type ActivityFilter = RangeFilter & {
  readonly kinds?: readonly LedgerKind[] | undefined;
  readonly side?: "BUY" | "SELL" | undefined;
  readonly role?: LedgerRole | undefined;
  /** Causes that change at least one of these tokens. */
  readonly tokenIds?: readonly TokenId[] | undefined;
  /** Of the collateral paid or received, in micros. */
  readonly valueMin?: bigint | undefined;
};

const buySql = "(shares > 0 OR (shares = 0 AND cash <= 0))";

/** Returns the condition of the first row of each cause of some wallets. */
export function activityCondition(
  wallets: readonly Address[],
  filter: ActivityFilter,
): Condition<Activity> {
  const isWallet = isIn("wallet", wallets.map(hexLiteral));
  const conditions: Conditions<ActivityFilter, Activity> = {
    ...rangeConditions,
    kinds: isAmong("kind", wordLiteral, ({ rows }: Activity) => rows[0]?.kind ?? "trade"),
    role: (role) => ({
      sql: `role = ${wordLiteral(role)}`,
      holds: ({ rows }) => rows[0]?.role === role,
    }),
    side: (side) => ({
      sql: `kind = 'trade' AND ${side === "BUY" ? "" : "NOT "}${buySql}`,
      holds: ({ rows: [first] }) => first !== undefined && getTradeSide(first) === side,
    }),
    tokenIds: (tokenIds) => ({
      sql: `(wallet, seq, intDiv(sub, ${subsPerCause})) GLOBAL IN (
        SELECT wallet, seq, intDiv(sub, ${subsPerCause}) FROM ledger
        WHERE ${isWallet} AND ${isIn("token_id", tokenIds.map(hexLiteral))})`,
      holds: ({ rows }) => rows.some(({ tokenId }) => tokenIds.includes(tokenId)),
    }),
    valueMin: (micros) => ({
      sql: `abs(cash) >= ${decimalLiteral(micros)}`,
      holds: ({ rows: [first] }) => {
        const cash = first?.cash ?? 0n;
        return (cash < 0n ? -cash : cash) >= micros;
      },
    }),
  };
  const { sql, holds } = joinConditions(conditions, filter);
  return { sql: `${isWallet} AND sub % ${subsPerCause} = 0 AND ${sql}`, holds };
}
