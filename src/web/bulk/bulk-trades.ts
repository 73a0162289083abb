import { setImmediate as nextTurn } from "node:timers/promises";
import { webLimits } from "../../base/limits.ts";
import type { Fill } from "../../market/fill.ts";
import { presentTrade } from "../../rows/trade-row.ts";
import { FillSnapshot } from "../../store/fill-snapshot.ts";
import type { FillList } from "../../store/read-fills.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import type { BulkRows } from "./bulk-answers.ts";
import type { Row } from "./columns.ts";

/** Trades as files tell them. */
export type BulkTrades = {
  readonly path: string;
  /** What cursors are bound to. */
  readonly query: { readonly limit?: number | undefined };
  readonly list: FillList;
  /** A trade as the list tells it: on its own token, or on the other of the pair. */
  readonly told: (fill: Fill) => Fill;
};

/** The trades of a list as they are now, up to `limit` and the row cap. */
export async function openBulkTrades(
  backend: Backend,
  { path, query, list, told }: BulkTrades,
  capRows: number,
): Promise<BulkRows> {
  const snapshot = new FillSnapshot(backend.store, list);
  const context = rowContextOf(backend);
  const rowsMax = Math.min(query.limit ?? capRows, capRows);
  const found = await snapshot.count(rowsMax + 1);
  const hasMore = found > rowsMax;
  const nextCursor = hasMore
    ? backend.cursors.encode(path, query, [await snapshot.seqAt(rowsMax - 1)])
    : null;
  const fills = snapshot.chunks({ rowsMax, chunkRows: webLimits.exportChunkRows });
  return {
    rowCount: Math.min(found, rowsMax),
    isCut: hasMore && rowsMax === capRows,
    nextCursor,
    chunks: presented(fills, (fill) => presentTrade(told(fill), context)),
  };
}

async function* presented(
  chunks: AsyncIterable<readonly Fill[]>,
  present: (fill: Fill) => Row,
): AsyncGenerator<readonly Row[], void, undefined> {
  for await (const fills of chunks) {
    await nextTurn();
    yield fills.map(present);
  }
}
