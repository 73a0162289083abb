import type { Seq } from "../base/ids.ts";
import { firstSeqOf } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import type { FactStore } from "./fact-store.ts";
import { fillColumns, parseFill } from "./fill-columns.ts";
import { type FillFilter, filterHolds, filterSql } from "./fill-filter.ts";
import type { NewestOf } from "./newest-fills.ts";
import { integerLiteral } from "./sql-literal.ts";

/** A list of fills: what passes `filter`, in the order of the chain or against it. */
export type FillList = {
  readonly filter: FillFilter;
  readonly order: "asc" | "desc";
  /** Rows behind this position only, exclusive: where the page before ended. */
  readonly after: Seq | null;
  /** Leave out what a fork could still take back. */
  readonly finalizedOnly: boolean;
};

/** The first `limit` rows of a list. */
export type FillPage = FillList & { readonly limit: number };

/**
 * Reads one page, over the store and the tail as one. What is final and what is not is decided
 * once, before the query, so that a block which becomes final meanwhile is neither lost nor told
 * twice.
 */
export async function readFills(store: FactStore, page: FillPage): Promise<readonly Fill[]> {
  const boundary = finalBoundary(store);
  const held = heldFills(store, page).slice(0, page.limit);
  if (page.order === "desc") {
    const missing = page.limit - held.length;
    return missing <= 0
      ? held
      : [...held, ...(await readNewest(store, page, { boundary, limit: missing }))];
  }
  const final = await readFinalFills(store, page, { boundary, limit: page.limit });
  return [...final, ...held].slice(0, page.limit);
}

/** Every row of a list that a fork could still take back, in its order. */
export function heldFills(
  store: FactStore,
  { filter, order, after, finalizedOnly }: FillList,
): readonly Fill[] {
  if (finalizedOnly) return [];
  const passes = filterHolds(filter);
  const rows = store.tail
    .fills()
    .filter((fill) => isBehind(fill.seq, after, order) && passes(fill));
  return order === "asc" ? rows : rows.toReversed();
}

/** Below this position rows are final at this moment. */
export function finalBoundary(store: FactStore): Seq {
  return firstSeqOf((store.coverage?.last.number ?? -1) + 1);
}

/** The first `limit` rows of a list below `boundary`, which no fork can take back. */
export async function readFinalFills(
  store: FactStore,
  list: FillList,
  { boundary, limit }: { boundary: Seq; limit: number },
): Promise<readonly Fill[]> {
  const { order, after } = list;
  if (order === "desc" && after === 0) return [];
  const rows = await store.engine.query(
    `SELECT ${fillColumns} FROM oddwire.fills WHERE ${finalWhere(list, boundary)}
     ORDER BY seq ${order === "asc" ? "ASC" : "DESC"} LIMIT ${integerLiteral(limit)}`,
  );
  return rows.map(parseFill);
}

/** The same for a list from its newest row on, which popular ones are kept for. */
async function readNewest(
  store: FactStore,
  page: FillPage,
  reach: { boundary: Seq; limit: number },
): Promise<readonly Fill[]> {
  const of = page.after === null ? plainTrades(page.filter) : null;
  const kept = of === null ? null : store.newestFills.get(of, reach.limit);
  if (kept !== null) return kept;
  const { appends } = store;
  // What is held now will be final soon: the whole page is kept.
  const limit = of === null ? reach.limit : page.limit;
  const rows = await readFinalFills(store, page, { ...reach, limit });
  // An append in between has told of trades that these do not have.
  if (of !== null && store.appends === appends) store.newestFills.put(of, rows, limit);
  return rows.slice(0, reach.limit);
}

/** What does not narrow a list down beyond its tokens. */
const plainNames: ReadonlySet<string> = new Set(["roles", "tokenIds", "mirroredTokenId"]);

/** Which trades a filter asks for, when it asks for all of one or two tokens, or simply for all. */
function plainTrades(filter: FillFilter): NewestOf | null {
  const { roles, tokenIds = null } = filter;
  const areTrades = roles?.length === 2 && !roles.includes("taker");
  const areFew = tokenIds === null || (tokenIds.length > 0 && tokenIds.length <= 2);
  const isPlain = areTrades && areFew && Object.keys(filter).every((name) => plainNames.has(name));
  return isPlain ? { tokenIds } : null;
}

/** The condition of a list's rows below `boundary`, for a `WHERE`. */
export function finalWhere({ filter, order, after }: FillList, boundary: Seq): string {
  const position =
    after === null ? "" : `AND seq ${order === "asc" ? ">" : "<"} ${integerLiteral(after)}`;
  return `${filterSql(filter)} AND seq < ${integerLiteral(boundary)} ${position}`;
}

function isBehind(seq: Seq, after: Seq | null, order: "asc" | "desc"): boolean {
  if (after === null) return true;
  return order === "asc" ? seq > after : seq < after;
}
