/**
 * Lists that merge the store with the head buffer. The boundary between final and unfinalized rows is fixed
 * once, before the first read, so that a block that becomes final meanwhile is neither lost nor returned twice.
 */
import type { Seq } from "../base/ids.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { firstSeqAbove } from "../storage/recover.ts";
import { integerLiteral } from "../storage/sql-literal.ts";
import type { HeadBuffer } from "../views/head/head-buffer.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";

/** The start and direction of a list, and whether it includes unfinalized rows. */
export type ListOrder = {
  readonly order: "asc" | "desc";
  /** The last position of the previous page: only rows after it, in the order of the list. */
  readonly after: Seq | null;
  readonly finalizedOnly: boolean;
};

/** The rows of a list in two forms that must agree: for the engine and for the head buffer. */
export type StoredList<Item extends { readonly seq: Seq }> = ListOrder & {
  readonly question: "trades" | "events";
  readonly table: FillTable | "events";
  /** Reads rows of the table. `clauses` follow `FROM <table>`. */
  readonly read: (engine: Engine, clauses: string) => Promise<readonly Item[]>;
  /** The engine's settings for a query of a page. */
  readonly settings: string;
  /** The condition for a `WHERE`. */
  readonly sql: string;
  /** The conditions for each token separately, when the table is ordered by token and there are few tokens. */
  readonly byToken?: readonly SqlConditions[];
  /** The part of the list to read first: up to the position `bound`, or all of it when `bound` is `null`. */
  readonly near?: SqlConditions & { readonly bound: Seq | null };
  readonly unfinalizedIn: (headBuffer: HeadBuffer) => readonly Item[];
  readonly holds: (item: Item) => boolean;
};

type Located = { readonly seq: Seq };

/**
 * The SQL conditions of a query. `prewhere` has only the tokens: when the engine chooses, it reads other columns before
 * it knows the matching rows, and a page takes twice as long.
 */
export type SqlConditions = { readonly prewhere?: string; readonly sql: string };

/** The part of a list that its queries need, whatever the rows are. */
type ListQuery = Pick<StoredList<Located>, "table" | "sql" | "order" | "after">;

/** The final rows to read: below the position `boundary`, at most `limit`. */
type FinalPage = { readonly boundary: Seq; readonly limit: number };

/** Reads the first `limit` rows of a list. */
export async function readRows<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  limit: number,
): Promise<readonly Item[]> {
  const boundary = finalBoundary(store);
  const unfinalized = unfinalizedRows(store, list).slice(0, limit);
  if (list.order === "desc") {
    const missing = limit - unfinalized.length;
    if (missing === 0) {
      store.reads.add(list.question, "head");
      return unfinalized;
    }
    return [...unfinalized, ...(await readFinalRows(store, list, { boundary, limit: missing }))];
  }
  const final = await readFinalRows(store, list, { boundary, limit });
  return [...final, ...unfinalized].slice(0, limit);
}

/** Returns all unfinalized rows of a list, in its order. */
export function unfinalizedRows<Item extends Located>(
  { headBuffer }: IndexedFacts,
  { order, after, finalizedOnly, unfinalizedIn, holds }: StoredList<Item>,
): readonly Item[] {
  if (finalizedOnly) return [];
  const rows = unfinalizedIn(headBuffer).filter(
    (item) => isAfter(item.seq, after, order) && holds(item),
  );
  return order === "asc" ? rows : rows.toReversed();
}

/** Returns the position below which rows are final now. */
export function finalBoundary(store: Pick<IndexedFacts, "coverage">): Seq {
  return firstSeqAbove(store.coverage);
}

/** Reads the first final rows of a list, below a boundary. */
export async function readFinalRows<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  { boundary, limit }: FinalPage,
): Promise<readonly Item[]> {
  if (list.order === "desc" && list.after === 0) return [];
  store.reads.add(list.question, "engine");
  const { near, order, after } = list;
  if (near === undefined) return readByToken(store, list, { boundary, limit });
  const rows = await readPart(store, list, { ...near, boundary, limit });
  if (rows.length === limit || near.bound === null) return rows;
  const rest = { boundary, limit: limit - rows.length };
  const further =
    order === "asc"
      ? readByToken(store, { ...list, after: Math.max(after ?? 0, near.bound - 1) as Seq }, rest)
      : readByToken(store, list, { ...rest, boundary: Math.min(boundary, near.bound) as Seq });
  return [...rows, ...(await further)];
}

/** Reads each token separately, if few: for one token the engine stops at the limit, for several it sorts all rows. */
async function readByToken<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  page: FinalPage,
): Promise<readonly Item[]> {
  const rows = await Promise.all(
    (list.byToken ?? [{ sql: list.sql }]).map(async (conditions) =>
      readPart(store, list, { ...conditions, ...page }),
    ),
  );
  const [first = [], ...others] = rows;
  return others.length === 0 ? first : firstRows(rows.flat(), list, page.limit);
}

async function readPart<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  { prewhere, sql, boundary, limit }: SqlConditions & FinalPage,
): Promise<readonly Item[]> {
  const first = prewhere === undefined ? "" : `PREWHERE ${prewhere} `;
  const where = finalWhere({ ...list, sql }, boundary);
  const order = `ORDER BY seq ${directionOf(list)} LIMIT ${integerLiteral(limit)}`;
  return list.read(store.engine, `${first}WHERE ${where} ${order} SETTINGS ${list.settings}`);
}

function firstRows<Item extends Located>(
  rows: readonly Item[],
  { order }: ListQuery,
  limit: number,
): readonly Item[] {
  const sign = order === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => sign * (a.seq - b.seq)).slice(0, limit);
}

/** Counts the rows of a list below a boundary, up to `limit`. */
export async function countFinalRows(
  store: IndexedFacts,
  list: ListQuery,
  { boundary, limit }: FinalPage,
): Promise<number> {
  const rows = await store.engine.query(
    `SELECT count() FROM (
       SELECT 1 FROM ${list.table} WHERE ${finalWhere(list, boundary)}
       LIMIT ${integerLiteral(limit)})`,
  );
  return Number(rows[0]?.[0]);
}

/** Reads the position of the row at an index, counted from 0; `null` when the list has fewer rows. */
export async function readFinalSeqAt(
  store: IndexedFacts,
  list: ListQuery,
  { boundary, index }: { readonly boundary: Seq; readonly index: number },
): Promise<Seq | null> {
  const rows = await store.engine.query(
    `SELECT seq FROM ${list.table} WHERE ${finalWhere(list, boundary)}
     ORDER BY seq ${directionOf(list)} LIMIT 1 OFFSET ${integerLiteral(index)}`,
  );
  const seq = rows[0]?.[0];
  return seq === undefined ? null : (Number(seq) as Seq);
}

function finalWhere({ sql, order, after }: ListQuery, boundary: Seq): string {
  const position =
    after === null ? "" : `AND seq ${order === "asc" ? ">" : "<"} ${integerLiteral(after)}`;
  return `${sql} AND seq < ${integerLiteral(boundary)} ${position}`;
}

function directionOf({ order }: ListQuery): "ASC" | "DESC" {
  return order === "asc" ? "ASC" : "DESC";
}

function isAfter(seq: Seq, after: Seq | null, order: "asc" | "desc"): boolean {
  if (after === null) return true;
  return order === "asc" ? seq > after : seq < after;
}
