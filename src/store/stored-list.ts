/**
 * Lists over the store and the tail as one. What is final and what is not is decided once, before
 * anything is read, so that a block which becomes final meanwhile is neither lost nor told twice.
 */
import type { Seq } from "../base/ids.ts";
import type { Engine } from "./engine.ts";
import type { FactStore } from "./fact-store.ts";
import {
  allRowsSettings,
  fewRowsSettings,
  pageSettings,
  withoutProjection,
} from "./few-rows-settings.ts";
import type { Span, Times } from "./part-map.ts";
import { firstSeqAbove } from "./recover.ts";
import { integerLiteral } from "./sql-literal.ts";
import type { StoreReader } from "./store-reader.ts";
import type { Cut } from "./stored-fills.ts";
import type { Tail } from "./tail.ts";
import { type Life, stepsOf } from "./token-steps.ts";

/** Where a list begins, which way it goes, and whether it holds what a fork could take back. */
export type ListOrder = {
  readonly order: "asc" | "desc";
  /** Rows behind this position only, exclusive: where the page before ended. */
  readonly after: Seq | null;
  readonly finalizedOnly: boolean;
};

/** Which rows, twice: as the engine finds them and as memory does, which must agree. */
export type StoredList<Item extends { readonly seq: Seq }> = ListOrder & {
  readonly table: "fills" | "events";
  /** Reads what `FROM` and all that follows it select. */
  readonly read: (engine: Engine, from: string) => Promise<readonly Item[]>;
  /** For a `WHERE`. */
  readonly sql: string;
  /** Whether it asks for tokens, and its rows may best be found by them. */
  readonly isOfTokens: boolean;
  /** The same for each token alone, when the list is of the fills of few. */
  readonly byToken?: readonly TokenRows<Item>[];
  readonly heldBy: (tail: Tail) => readonly Item[];
  readonly holds: (item: Item) => boolean;
};

/** The rows of one token. */
type TokenRows<Item> = {
  /**
   * Reads them out of the files of the engine, in no order and maybe some more, where that is faster; `null` where the
   * engine has to be asked.
   */
  readonly readParts: (
    reader: StoreReader,
    page: Cut & { readonly times: Times },
  ) => Promise<readonly Item[] | null>;
  readonly sql: string;
  /** Reads what `FROM` and all that follows it select, and cuts it. */
  readonly readCut: (engine: Engine, from: string, cut: Cut) => Promise<readonly Item[]>;
  /** What the list asks for, as a span of the chain and as times; wider where it is not asked for. */
  readonly span: Span;
  readonly times: Times;
  /** Of the token as of now; `null` when that is not known. */
  readonly life: () => Life | null;
};

type Located = { readonly seq: Seq };

/** Where the rows of a list stand, whatever they are. */
type Place = Pick<StoredList<Located>, "table" | "sql" | "order" | "after">;

/** How far down the final rows are that are read, and how many of them. */
export type Reach = { readonly boundary: Seq; readonly limit: number };

/** The first `limit` rows of a list. */
export async function readRows<Item extends Located>(
  store: FactStore,
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
  const held = heldRows(store, list).slice(0, limit);
  if (list.order === "desc") {
    const missing = limit - held.length;
    return missing <= 0 ? held : [...held, ...(await readFinal({ boundary, limit: missing }))];
  }
  const final = await readFinal({ boundary, limit });
  return [...final, ...held].slice(0, limit);
}

/** Every row of a list that a fork could still take back, in its order. */
export function heldRows<Item extends Located>(
  { tail }: FactStore,
  { order, after, finalizedOnly, heldBy, holds }: StoredList<Item>,
): readonly Item[] {
  if (finalizedOnly) return [];
  const rows = heldBy(tail).filter((item) => isBehind(item.seq, after, order) && holds(item));
  return order === "asc" ? rows : rows.toReversed();
}

/** Below this position rows are final at this moment. */
export function finalBoundary(store: FactStore): Seq {
  return firstSeqAbove(store.coverage);
}

/** The first rows of a list below a boundary, which no fork can take back. */
export async function readFinalRows<Item extends Located>(
  store: FactStore,
  list: StoredList<Item>,
  { boundary, limit }: Reach,
): Promise<readonly Item[]> {
  if (list.order === "desc" && list.after === 0) return [];
  const { byToken, read, isOfTokens } = list;
  if (byToken === undefined) {
    const settings = isOfTokens ? `SETTINGS ${pageSettings}` : withoutProjection;
    const from = `oddwire.${list.table} ${behind(list, boundary, limit)} ${settings}`;
    return read(store.engine, from);
  }
  const parts = await Promise.all(
    byToken.map(async (rows) => readTokenRows(store, { list, rows }, { boundary, limit })),
  );
  return firstOf(parts.flat(), list, limit);
}

/**
 * In the projection a token's rows lie in this order: so many are read, and no more, however many
 * there are. Left to itself the engine reads all of the token's and sorts them.
 */
const byTokenSource = "mergeTreeProjection('oddwire', 'fills', 'by_token')";

/**
 * Of a token with so many trades all are read, and put in order here: having the engine cut them and put them
 * in order is planned for a quarter of the query, reading 1,000 rows for a page of 100 takes less.
 */
const readWholeMax = 1000;

async function readTokenRows<Item extends Located>(
  { engine, parts, reader }: FactStore,
  { list, rows }: { readonly list: StoredList<Item>; readonly rows: TokenRows<Item> },
  { boundary, limit }: Reach,
): Promise<readonly Item[]> {
  const life = rows.life();
  const times = commonOf(rows.times, life ?? rows.times);
  const span = spanOf(list, rows.span, boundary);
  const read = await rows.readParts(reader, { order: list.order, span, times, limit });
  if (read !== null) return read;
  if (life !== null && life.trades <= readWholeMax) {
    const where = `WHERE ${parts.sqlWithin(span, times)} ${rows.sql}`;
    const cut = { order: list.order, span, limit };
    return rows.readCut(engine, `${byTokenSource} ${where} ${allRowsSettings}`, cut);
  }
  const found: Item[] = [];
  for (const step of stepsOf(parts.within(span, times), { ...list, span, life, limit })) {
    if (step.from >= step.to || found.length >= limit) break;
    const sql = `${parts.sqlWithin(step, times)} seq >= ${integerLiteral(step.from)} AND ${rows.sql}`;
    const place = behind({ ...list, sql }, step.to as Seq, limit - found.length);
    found.push(...(await list.read(engine, `${byTokenSource} ${place} ${fewRowsSettings}`)));
  }
  return found;
}

/** The first of some rows in any order. */
function firstOf<Item extends Located>(
  rows: readonly Item[],
  { order }: Place,
  limit: number,
): readonly Item[] {
  const sign = order === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => sign * (a.seq - b.seq)).slice(0, limit);
}

/** The part of a span that is below a boundary and behind the place where the page before ended. */
function spanOf({ order, after }: Place, { from, to }: Span, boundary: Seq): Span {
  const end = Math.min(to, boundary);
  if (after === null) return { from, to: end };
  return order === "asc"
    ? { from: Math.max(from, after + 1), to: end }
    : { from, to: Math.min(end, after) };
}

function commonOf(a: Times, b: Times): Times {
  return {
    firstTimestamp: Math.max(a.firstTimestamp, b.firstTimestamp),
    lastTimestamp: Math.min(a.lastTimestamp, b.lastTimestamp),
  };
}

/** The first rows of a list below a boundary, as the end of a `SELECT`. */
function behind(list: Place, boundary: Seq, limit: number): string {
  const direction = directionOf(list);
  return `WHERE ${finalWhere(list, boundary)} ORDER BY seq ${direction} LIMIT ${integerLiteral(limit)}`;
}

/** How many rows a list has below a boundary; counts no further than `max`. */
export async function countFinalRows(
  store: FactStore,
  list: Place,
  { boundary, limit }: Reach,
): Promise<number> {
  const rows = await store.engine.query(
    `SELECT count() FROM (
       SELECT 1 FROM oddwire.${list.table} WHERE ${finalWhere(list, boundary)}
       LIMIT ${integerLiteral(limit)})`,
  );
  return Number(rows[0]?.[0]);
}

/** The position of the row with this number, from 0; `null` when there are not so many. */
export async function readFinalSeqAt(
  store: FactStore,
  list: Place,
  { boundary, index }: { readonly boundary: Seq; readonly index: number },
): Promise<Seq | null> {
  const rows = await store.engine.query(
    `SELECT seq FROM oddwire.${list.table} WHERE ${finalWhere(list, boundary)}
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
