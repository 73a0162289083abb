/** Lists of rows that have a position on the chain: as a page, or all of them as a file. */
import type { TObject } from "typebox";
import { webLimits } from "../../base/config/limits.ts";
import type { Seq, TokenId } from "../../base/ids.ts";
import { readRows, type StoredList } from "../../query/merged-list.ts";
import { rowContextOf } from "../../query/row-context.ts";
import { RowSnapshot } from "../../query/row-snapshot.ts";
import type { RowContext } from "../../rows/trade-row.ts";
import { withMarket } from "../../rows/trade-writer.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Backend } from "../backend.ts";
import type { BulkAnswers, BulkRows } from "../bulk/bulk-answers.ts";
import { bulkQuery, type FileFormatName } from "../bulk/bulk-format.ts";
import { type Row, requiredPart } from "../bulk/columns.ts";
import { WrittenJson } from "../cache/response-cache.ts";
import type { Exchange } from "../http/exchange.ts";
import type { CursorPosition } from "./cursor.ts";
import { answerPage, listOf } from "./list-answer.ts";

const chainPageRows = 100;

/** What every such list takes next to its filters. */
export const rowListQuery = bulkQuery({ pageRows: chainPageRows });

/** What the routes of such lists have in common. */
export function rowListRoute<RowShape extends TObject>(row: RowShape) {
  return {
    access: "read",
    response: listOf(row),
    isBulk: true,
    errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
  } as const;
}

/** What lists are answered from. */
export type ListParts = { readonly backend: Backend; readonly bulk: BulkAnswers };

/** All rows of a list as they are at one moment, however long they are read. */
export type RowsAsOfNow<Item> = {
  /** How many there are; counts no further than `max`. */
  readonly count: (max: number) => Promise<number>;
  /** The position of the row with this number, from 0; there must be one. */
  readonly positionAt: (index: number) => Promise<CursorPosition>;
  /** The first `rowsMax` rows in their order, `chunkRows` at a time. */
  readonly chunks: (size: {
    readonly rowsMax: number;
    readonly chunkRows: number;
  }) => AsyncIterable<readonly Item[]>;
};

/** Where the rows of a list come from, from the place where the page before ended. */
export type RowSource<Item> = {
  readonly readPage: (limit: number) => Promise<readonly Item[]>;
  readonly asOfNow: () => RowsAsOfNow<Item>;
  readonly positionOf: (item: Item) => CursorPosition;
};

/** A list as it is asked for. */
export type RowList<Item> = {
  /** What cursors are bound to, with the query. */
  readonly path: string;
  readonly query: {
    readonly format: "json" | FileFormatName;
    readonly limit?: number | undefined;
    /** Adds the optional fields of the row. */
    readonly include?: string | undefined;
  };
  /** Rows of a page, where no limit is given. */
  readonly pageRows?: number;
  /** Of files, without their ending. */
  readonly name: string;
  readonly row: TObject;
  readonly source: RowSource<Item>;
  /** Writes rows as their JSON; rebuilt for each page, and each chunk of a file. */
  readonly writer: (context: RowContext) => (item: Item) => string;
  /** The token whose market `include=market` adds to a row. */
  readonly tokenOf?: (item: Item) => TokenId;
};

/** Answers with a page, or with a file of all rows. */
export async function answerList<Item>(
  { backend, bulk }: ListParts,
  exchange: Exchange,
  list: RowList<Item>,
) {
  const { path, query, name, source, pageRows = chainPageRows } = list;
  const { format, include } = query;
  if (format !== "json") {
    const open = async () => openFile({ backend, bulk }, list);
    const row = include === undefined ? requiredPart(list.row) : list.row;
    return bulk.answer(exchange, { format, row, name, limit: query.limit, open });
  }
  const limit = query.limit ?? pageRows;
  // One more than asked for says that there is a next page.
  const rows = await source.readPage(limit + 1);
  const write = writerOf(list)(rowContextOf(backend));
  const { positionOf } = source;
  const asked = { path, query: { ...query, limit }, rows, positionOf };
  const page = answerPage(backend.cursors, asked, write);
  return { ...page, data: new WrittenJson(`[${page.data.join(",")}]`) };
}

/** The rows up to `limit` and the row cap. */
async function openFile<Item>(
  { backend, bulk }: ListParts,
  list: RowList<Item>,
): Promise<BulkRows<Item>> {
  const { path, query, source } = list;
  const capRows = bulk.rowsMax;
  const context = rowContextOf(backend);
  const rows = source.asOfNow();
  const rowsMax = Math.min(query.limit ?? capRows, capRows);
  const found = await rows.count(rowsMax + 1);
  const hasMore = found > rowsMax;
  const cursorAt = async (index: number) =>
    backend.cursors.encode(path, query, await rows.positionAt(index));
  return {
    rowCount: Math.min(found, rowsMax),
    isCut: hasMore && rowsMax === capRows,
    nextCursor: hasMore ? await cursorAt(rowsMax - 1) : null,
    chunks: rows.chunks({ rowsMax, chunkRows: webLimits.exportChunkRows }),
    writer: () => writerOf(list)(context),
  };
}

function writerOf<Item>({ query, writer, tokenOf }: RowList<Item>): RowList<Item>["writer"] {
  if (query.include === undefined || tokenOf === undefined) return writer;
  return withMarket(writer, tokenOf);
}

/** Rows that are written from what shows them. */
export function shownAs<Item>(
  present: (item: Item, context: RowContext) => Row,
): Pick<RowList<Item>, "writer"> {
  return { writer: (context) => (item) => JSON.stringify(present(item, context)) };
}

/** Rows of the store and the head buffer. */
export function storedSource<Item extends { readonly seq: Seq }>(
  store: IndexedFacts,
  list: StoredList<Item>,
  readPage = async (limit: number) => readRows(store, list, { limit }),
): RowSource<Item> {
  return {
    readPage,
    positionOf: ({ seq }) => [seq],
    asOfNow: () => {
      const snapshot = new RowSnapshot(store, list);
      return {
        count: async (max) => snapshot.count(max),
        positionAt: async (index) => [await snapshot.seqAt(index)],
        chunks: (size) => snapshot.chunks(size),
      };
    },
  };
}
