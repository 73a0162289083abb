import type { Seq } from "../base/ids.ts";
import { firstSeqOf } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import type { FactStore } from "./fact-store.ts";
import { fillColumns, parseFill } from "./fill-columns.ts";
import { type FillFilter, filterHolds, filterSql } from "./fill-filter.ts";
import { integerLiteral } from "./sql-literal.ts";

/** A page of fills: what passes `filter`, in the order of the chain or against it. */
export type FillPage = {
  readonly filter: FillFilter;
  readonly order: "asc" | "desc";
  /** Rows behind this position only, exclusive: where the page before ended. */
  readonly after: Seq | null;
  readonly limit: number;
  /** Leave out what a fork could still take back. */
  readonly finalizedOnly: boolean;
};

/**
 * Reads one page, over the store and the tail as one. What is final and what is not is decided
 * once, before the query, so that a block which becomes final meanwhile is neither lost nor told
 * twice.
 */
export async function readFills(store: FactStore, page: FillPage): Promise<readonly Fill[]> {
  const boundary = firstSeqOf((store.coverage?.last.number ?? -1) + 1);
  const held = page.finalizedOnly ? [] : tailRows(store, page);
  if (page.order === "desc") {
    const missing = page.limit - held.length;
    return missing <= 0
      ? held
      : [...held, ...(await finalRows(store, page, { boundary, missing }))];
  }
  const final = await finalRows(store, page, { boundary, missing: page.limit });
  return [...final, ...held].slice(0, page.limit);
}

function tailRows(store: FactStore, { filter, order, after, limit }: FillPage): Fill[] {
  const passes = filterHolds(filter);
  const rows = store.tail
    .fills()
    .filter((fill) => isBehind(fill.seq, after, order) && passes(fill));
  return (order === "asc" ? rows : rows.toReversed()).slice(0, limit);
}

async function finalRows(
  store: FactStore,
  { filter, order, after }: FillPage,
  { boundary, missing }: { boundary: Seq; missing: number },
): Promise<Fill[]> {
  if (order === "desc" && after === 0) return [];
  const position =
    after === null ? "" : `AND seq ${order === "asc" ? ">" : "<"} ${integerLiteral(after)}`;
  const rows = await store.engine.query(
    `SELECT ${fillColumns} FROM oddwire.fills
     WHERE ${filterSql(filter)} AND seq < ${integerLiteral(boundary)} ${position}
     ORDER BY seq ${order === "asc" ? "ASC" : "DESC"} LIMIT ${integerLiteral(missing)}`,
  );
  return rows.map(parseFill);
}

function isBehind(seq: Seq, after: Seq | null, order: "asc" | "desc"): boolean {
  if (after === null) return true;
  return order === "asc" ? seq > after : seq < after;
}
