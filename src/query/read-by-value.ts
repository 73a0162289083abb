/** Reads fills in the order of their value. */
import type { Seq } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import { invertFill } from "../market/invert.ts";
import { firstSeqAbove } from "../storage/covered-facts.ts";
import { prefixed } from "../storage/engine/engine.ts";
import { decimalLiteral, hexLiteral, integerLiteral, listLiteral } from "../storage/sql-literal.ts";
import { readStoredFills } from "../storage/stored-fills.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { type FillFilter, publicSql, toFillCondition } from "./fill-filter.ts";
import { tableFor } from "./read-fills.ts";

/** Where a fill is in a list by value. Fills of equal value are in the order of the chain. */
type ValuePosition = { readonly value: bigint; readonly seq: Seq };

/** A list of fills by value. The filter should bound its time: all of its rows are scanned. */
export type ListByValue = {
  readonly filter: FillFilter;
  readonly order: "asc" | "desc";
  /** The position of the last row of the previous page. */
  readonly after: ValuePosition | null;
  readonly finalizedOnly: boolean;
};

/** Reads the first `limit` rows. */
export async function readByValue(
  facts: IndexedFacts,
  list: ListByValue,
  limit: number,
): Promise<readonly Fill[]> {
  const { filter, order, after, finalizedOnly } = list;
  facts.reads.add("trades", "engine");
  const boundary = firstSeqAbove(facts.coverage);
  const toPosition = (fill: Fill) => ({ value: getValue(fill, filter), seq: fill.seq });
  const compare = (one: ValuePosition, other: ValuePosition): number => {
    const byValue = one.value < other.value ? -1 : Number(one.value > other.value);
    return (order === "asc" ? 1 : -1) * (byValue || one.seq - other.seq);
  };
  const { holds } = toFillCondition(filter);
  const unfinalized = finalizedOnly ? [] : facts.headBuffer.fills();
  const matching = unfinalized.filter(
    (fill) => holds(fill) && (after === null || compare(after, toPosition(fill)) < 0),
  );
  const final = await readFinal(facts, { ...list, boundary }, limit);
  return [...final, ...matching]
    .toSorted((one, other) => compare(toPosition(one), toPosition(other)))
    .slice(0, limit);
}

/** Returns the value of a fill as clients see it. */
export function getValue(fill: Fill, { invertedTokenIds = [] }: FillFilter): bigint {
  const isInverted = invertedTokenIds.includes(fill.tokenId);
  return isInverted ? invertFill(fill, fill.tokenId).value : fill.value;
}

/** Reads the positions of the rows from few columns, then the rows: the table by token finds each in one small granule. */
async function readFinal(
  { engine }: IndexedFacts,
  { filter, order, after, boundary }: ListByValue & { readonly boundary: Seq },
  limit: number,
): Promise<readonly Fill[]> {
  const { value } = publicSql(filter.invertedTokenIds ?? []);
  const sign = order === "asc" ? ">" : "<";
  const position =
    after === null
      ? ""
      : `AND (${value}, seq) ${sign} (${decimalLiteral(after.value)}, ${integerLiteral(after.seq)})`;
  const positions = await engine.query(
    `SELECT hex(token_id), seq FROM ${tableFor(filter)}
     WHERE ${toFillCondition(filter).sql} AND seq < ${integerLiteral(boundary)} ${position}
     ORDER BY ${value} ${order}, seq ${order} LIMIT ${integerLiteral(limit)}`,
  );
  if (positions.length === 0) return [];
  const keys = positions.map(
    ([tokenId, seq]) => `(${hexLiteral(prefixed(tokenId))}, ${integerLiteral(Number(seq))})`,
  );
  const where = `PREWHERE (token_id, seq) IN ${listLiteral(keys)}`;
  return readStoredFills(engine, "fills_by_token", where);
}
