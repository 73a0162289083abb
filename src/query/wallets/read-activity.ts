/** Reads what wallets did, from the head buffer and the stored ledger. */
import type { Address, Seq } from "../../base/ids.ts";
import {
  type Activity,
  activityTokensMax,
  getCauseKey,
  groupActivity,
} from "../../market/ledger/activity.ts";
import { type LedgerRow, subsPerCause } from "../../market/ledger/ledger-row.ts";
import { readLedger } from "../../storage/codec/read-ledger.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { inOrderSettings } from "../../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../../storage/sql-literal.ts";
import type { HeadBuffer } from "../../views/head/head-buffer.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import { isIn } from "../condition.ts";
import { type ListOrder, RowSnapshot, type StoredList } from "../row-snapshot.ts";
import { type ActivityFilter, activityCondition } from "./activity-filter.ts";

/** The activity of some wallets, in the order of the chain. */
type ActivityList = ListOrder & {
  readonly wallets: readonly Address[];
  readonly filter: ActivityFilter;
};

/** Causes of one token: their first row is their only one. */
const singleKinds: ReadonlySet<LedgerRow["kind"]> = new Set(["trade", "fee_refund"]);

/** Returns how to read the rows of a list of activity. */
export function storedActivity({ wallets, filter, ...order }: ActivityList): StoredList<Activity> {
  return {
    ...order,
    query: "activity",
    table: "ledger",
    hasSub: true,
    settings: inOrderSettings,
    read: (engine, clauses) => readCauses(engine, wallets, clauses),
    unfinalizedIn: (headBuffer) => unfinalizedActivity(headBuffer, wallets),
    ...activityCondition(wallets, filter),
  };
}

/**
 * Reads a page of the stream, whose pages end at a position: the first `limit` rows, and the others at the position of
 * the last.
 */
export async function readActivity(
  facts: IndexedFacts,
  list: ActivityList & { readonly limit: number },
): Promise<readonly Activity[]> {
  const { limit, filter } = list;
  const rows = await new RowSnapshot(facts, storedActivity(list)).first(limit);
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return rows;
  const { seq } = last;
  const range = { seqFrom: seq, seqTo: (seq + 1) as Seq };
  const fullList = { ...list, after: null, filter: { ...filter, ...range } };
  const others = await new RowSnapshot(facts, storedActivity(fullList)).first(subsPerCause);
  return [...rows.filter((row) => row.seq !== seq), ...others];
}

function unfinalizedActivity(headBuffer: HeadBuffer, wallets: readonly Address[]): Activity[] {
  const found = wallets.flatMap((wallet) => groupActivity(headBuffer.getLedger(wallet)));
  return found.toSorted((one, other) => one.seq - other.seq || one.sub - other.sub);
}

/** Reads the first rows of causes, and adds their other tokens. */
async function readCauses(
  engine: Engine,
  wallets: readonly Address[],
  clauses: string,
): Promise<readonly Activity[]> {
  const first = await readLedger(engine, clauses);
  const seqs = new Set(first.filter(({ kind }) => !singleKinds.has(kind)).map(({ seq }) => seq));
  if (seqs.size === 0) return groupActivity(first);
  // One more than are returned shows that there are more.
  const further = await readLedger(
    engine,
    `WHERE ${isIn("wallet", wallets.map(hexLiteral))}
       AND seq IN ${listLiteral([...seqs].map(integerLiteral))}
       AND sub % ${subsPerCause} BETWEEN 1 AND ${activityTokensMax} SETTINGS ${inOrderSettings}`,
  );
  const isRead = new Set(first.map(getCauseKey));
  return groupActivity([...first, ...further.filter((row) => isRead.has(getCauseKey(row)))]);
}
