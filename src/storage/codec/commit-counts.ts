import type { Tally } from "../../market/delta.ts";

/** What a commit record counts, in the order of its columns. */
export const countNames = ["fills", "events", "quarantined", "ledger", "balances"] as const;

/** Returns how many rows of a kind a tally counts. */
export function getCount(
  tally: Omit<Tally, "anomalies" | "hours">,
  name: (typeof countNames)[number],
): number {
  return name === "quarantined" ? tally.quarantined.length : tally[name];
}
