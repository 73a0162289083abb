/**
 * Lists over the store and the tail as one. What is final and what is not is decided once, before
 * anything is read, so that a block which becomes final meanwhile is neither lost nor returned twice.
 */
import type { Seq } from "../base/ids.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { firstSeqAbove } from "../storage/recover.ts";
import { integerLiteral } from "../storage/sql-literal.ts";
import type { HeadBuffer } from "../views/head/head-buffer.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";

/** Where a list begins, which way it goes, and whether it holds what a fork could revert. */
export type ListOrder = {
  readonly order: "asc" | "desc";
  /** Rows behind this position only, exclusive: where the page before ended. */
  readonly after: Seq | null;
  readonly finalizedOnly: boolean;
};

/** Which rows, twice: as the engine finds them and as memory does, which must agree. */
export type StoredList<Item extends { readonly seq: Seq }> = ListOrder & {
  readonly question: "trades" | "events";
  readonly table: FillTable | "events";
  /** Reads what the clauses behind `FROM` select of the table. */
  readonly read: (engine: Engine, clauses: string) => Promise<readonly Item[]>;
  /** For the end of a query of a page. */
  readonly settings: string;
  /** For a `WHERE`. */
  readonly sql: string;
  /** The same for each token alone, where the table is ordered by token and tokens are few. */
  readonly byToken?: readonly Conditions[];
  /** What is read first: the list up to a position, `null` for all of it. */
  readonly near?: Conditions & { readonly bound: Seq | null };
  readonly unfinalizedIn: (headBuffer: HeadBuffer) => readonly Item[];
  readonly holds: (item: Item) => boolean;
};

type Located = { readonly seq: Seq };

/**
 * Which rows. `prewhere` is the tokens alone: left to choose, the engine reads other columns before it knows which rows
 * are needed, and a page takes twice as long.
 */
export type Conditions = { readonly prewhere?: string; readonly sql: string };

/** Where the rows of a list are, whatever they are. */
type Place = Pick<StoredList<Located>, "table" | "sql" | "order" | "after">;

/** How far down the final rows are that are read, and how many of them. */
export type Reach = { readonly boundary: Seq; readonly limit: number };

/** The first `limit` rows of a list. */
export async function readRows<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  {
    limit,
    readFinal = (reach) => readFinalRows(store, list, reach),
  }: {
    readonly limit: number;
    readonly readFinal?: (reach: Reach) => Promise<readonly Item[]>;
  },
): Promise<readonly Item[]> {
  const boundary = finalBoundary(store);
  const unfinalized = unfinalizedRows(store, list).slice(0, limit);
  if (list.order === "desc") {
    const missing = limit - unfinalized.length;
    if (missing > 0) return [...unfinalized, ...(await readFinal({ boundary, limit: missing }))];
    store.reads.add(list.question, "head");
    return unfinalized;
  }
  const final = await readFinal({ boundary, limit });
  return [...final, ...unfinalized].slice(0, limit);
}

/** Every row of a list that a fork could still revert, in its order. */
export function unfinalizedRows<Item extends Located>(
  { headBuffer }: IndexedFacts,
  { order, after, finalizedOnly, unfinalizedIn, holds }: StoredList<Item>,
): readonly Item[] {
  if (finalizedOnly) return [];
  const rows = unfinalizedIn(headBuffer).filter(
    (item) => isBehind(item.seq, after, order) && holds(item),
  );
  return order === "asc" ? rows : rows.toReversed();
}

/** Below this position rows are final at this moment. */
export function finalBoundary(store: Pick<IndexedFacts, "coverage">): Seq {
  return firstSeqAbove(store.coverage);
}

/** The first rows of a list below a boundary, which no fork can revert. */
export async function readFinalRows<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  { boundary, limit }: Reach,
): Promise<readonly Item[]> {
  if (list.order === "desc" && list.after === 0) return [];
  store.reads.add(list.question, "engine");
  const { near, order, after } = list;
  if (near === undefined) return readFurther(store, list, { boundary, limit });
  const rows = await readOf(store, list, { ...near, boundary, limit });
  if (rows.length === limit || near.bound === null) return rows;
  const rest = { boundary, limit: limit - rows.length };
  const further =
    order === "asc"
      ? readFurther(store, { ...list, after: Math.max(after ?? 0, near.bound - 1) as Seq }, rest)
      : readFurther(store, list, { ...rest, boundary: Math.min(boundary, near.bound) as Seq });
  return [...rows, ...(await further)];
}

/** Of one token the engine reads the first rows in their order, and no more; of several it sorts all. */
async function readFurther<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  reach: Reach,
): Promise<readonly Item[]> {
  const rows = await Promise.all(
    (list.byToken ?? [{ sql: list.sql }]).map(async (conditions) =>
      readOf(store, list, { ...conditions, ...reach }),
    ),
  );
  const [first = [], ...others] = rows;
  return others.length === 0 ? first : firstOf(rows.flat(), list, reach.limit);
}

async function readOf<Item extends Located>(
  store: IndexedFacts,
  list: StoredList<Item>,
  { prewhere, sql, boundary, limit }: Conditions & Reach,
): Promise<readonly Item[]> {
  const first = prewhere === undefined ? "" : `PREWHERE ${prewhere} `;
  const clauses = first + behind({ ...list, sql }, boundary, limit);
  return list.read(store.engine, `${clauses} SETTINGS ${list.settings}`);
}

function firstOf<Item extends Located>(
  rows: readonly Item[],
  { order }: Place,
  limit: number,
): readonly Item[] {
  const sign = order === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => sign * (a.seq - b.seq)).slice(0, limit);
}

function behind(list: Place, boundary: Seq, limit: number): string {
  const direction = directionOf(list);
  return `WHERE ${finalWhere(list, boundary)} ORDER BY seq ${direction} LIMIT ${integerLiteral(limit)}`;
}

/** How many rows a list has below a boundary; counts no further than `max`. */
export async function countFinalRows(
  store: IndexedFacts,
  list: Place,
  { boundary, limit }: Reach,
): Promise<number> {
  const rows = await store.engine.query(
    `SELECT count() FROM (
       SELECT 1 FROM ${list.table} WHERE ${finalWhere(list, boundary)}
       LIMIT ${integerLiteral(limit)})`,
  );
  return Number(rows[0]?.[0]);
}

/** The position of the row with this number, from 0; `null` when there are not so many. */
export async function readFinalSeqAt(
  store: IndexedFacts,
  list: Place,
  { boundary, index }: { readonly boundary: Seq; readonly index: number },
): Promise<Seq | null> {
  const rows = await store.engine.query(
    `SELECT seq FROM ${list.table} WHERE ${finalWhere(list, boundary)}
     ORDER BY seq ${directionOf(list)} LIMIT 1 OFFSET ${integerLiteral(index)}`,
  );
  const seq = rows[0]?.[0];
  return seq === undefined ? null : (Number(seq) as Seq);
}

function finalWhere({ sql, order, after }: Place, boundary: Seq): string {
  const position =
    after === null ? "" : `AND seq ${order === "asc" ? ">" : "<"} ${integerLiteral(after)}`;
  return `${sql} AND seq < ${integerLiteral(boundary)} ${position}`;
}

function directionOf({ order }: Place): "ASC" | "DESC" {
  return order === "asc" ? "ASC" : "DESC";
}

function isBehind(seq: Seq, after: Seq | null, order: "asc" | "desc"): boolean {
  if (after === null) return true;
  return order === "asc" ? seq > after : seq < after;
}
