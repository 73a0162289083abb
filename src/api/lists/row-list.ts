/** Lists of rows: a page as JSON, or all rows as a file. */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { type TObject, Type } from "typebox";
import { webLimits } from "../../base/config/limits.ts";
import type { Seq, TokenId } from "../../base/ids.ts";
import { readAhead } from "../../base/time/read-ahead.ts";
import { type LowerBounds, reachesBeforeFirst } from "../../query/before-first.ts";
import { getRowContext } from "../../query/row-context.ts";
import { RowSnapshot, type StoredList } from "../../query/row-snapshot.ts";
import type { RowContext } from "../../rows/trade-row.ts";
import { withMarket } from "../../rows/trade-writer.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Backend } from "../backend.ts";
import type { BulkAnswers, FileRequest, FileRows } from "../bulk/bulk-answers.ts";
import { bulkQuery, type FileFormatName } from "../bulk/bulk-format.ts";
import { requiredPart } from "../bulk/columns.ts";
import type { CursorPosition } from "../route/cursor.ts";
import { getPage, rangeMeta, toListShape, toPagination } from "../route/list-answer.ts";
import { WrittenJson } from "../route/response-cache.ts";
import { type Fields, pickColumns, pickFields } from "./fields.ts";

const chainPageRows = 100;

/** Parameters that every such list takes besides its filters. */
export const rowListQuery = bulkQuery({ pageRows: chainPageRows });

/** Returns the options that the routes of such lists share. */
export function rowListRoute<RowShape extends TObject>(row: RowShape) {
  return {
    access: "read",
    response: Type.Object({ ...toListShape(row).properties, meta: rangeMeta }),
    isBulk: true,
    cacheControl: "private, max-age=1",
  } as const;
}

/** The parts that list routes need. */
export type ListParts = Backend & { readonly bulk: BulkAnswers };

/** The source of the rows of a list, from the end of the previous page on. */
export type RowSource<Item> = {
  /** Reads the first `count` rows. */
  readonly first: (count: number) => Promise<readonly Item[]>;
  readonly toPosition: (item: Item) => CursorPosition;
  /** Opens up to `rowsMax` rows, to send more than a page. With `columns`, rows can come as an Arrow stream of these. */
  readonly openAll: (rowsMax: number, columns?: readonly string[]) => Promise<FileRows<Item>>;
  /** Whether the rows of a page are sent in the reverse of the order in which pages follow each other. */
  readonly isReversed?: boolean;
};

/** A requested list. */
export type RowList<Item> = {
  /** Cursors are bound to this path and to the query. */
  readonly path: string;
  readonly query: LowerBounds & {
    readonly format: "json" | FileFormatName;
    readonly limit?: number | undefined;
    /** Adds the optional fields of the row. */
    readonly include?: string | undefined;
    /** Added by `withFields`. */
    readonly fields?: Fields;
  };
  /** Rows of a page without `limit`; 100 by default. */
  readonly pageRows?: number;
  readonly row: TObject;
  readonly source: RowSource<Item>;
  /** Returns a function that writes a row as JSON. Called for each page and each chunk of a file. */
  readonly writer: (context: RowContext) => (item: Item) => string;
  /** Returns the token whose market `include=market` adds to a row. */
  readonly getToken?: (item: Item) => TokenId;
};

/** Responds with a page, or with a file of all rows. */
export async function answerList<Item>(parts: ListParts, reply: FastifyReply, list: RowList<Item>) {
  const opened = await openList(parts, reply, list);
  if (opened instanceof Readable) return opened;
  const { rows, ...rest } = opened;
  const write = getWriter(list)(getRowContext(parts));
  return { data: new WrittenJson(`[${rows.map(write).join(",")}]`), ...rest };
}

/** Reads a page of a list; or returns its file: a page if there is a `limit`, otherwise all rows up to the row cap. */
export async function openList<Item>(parts: ListParts, reply: FastifyReply, list: RowList<Item>) {
  const { path, query, source, pageRows = chainPageRows } = list;
  const { format, include, fields } = query;
  const isTruncated = reachesBeforeFirst(parts, query);
  if (format === "json") {
    const { limit = pageRows } = query;
    const { rows, edge } = await readPage(source, limit);
    const list = { path, query: { ...query, limit } };
    const pagination = toPagination(parts.cursors, list, edge);
    return { rows, pagination, meta: isTruncated ? { truncated_at_start: true } : {} };
  }
  const row = pickColumns(include === undefined ? requiredPart(list.row) : list.row, fields);
  const columns = format === "arrow" ? Object.keys(row.properties) : undefined;
  const openFile =
    query.limit === undefined
      ? (rowsMax: number) => source.openAll(rowsMax, columns)
      : openPage(source);
  if (isTruncated) void reply.header("x-truncated-at-start", "true");
  const [context, writer] = [getRowContext(parts), getWriter(list)];
  const write = () => {
    const whole = writer(context);
    // The other formats read the columns of `row` alone.
    if (fields === undefined || format !== "ndjson") return whole;
    return (item: Item) => JSON.stringify(pickFields(JSON.parse(whole(item)) as object, fields));
  };
  const file = { path, query, row, format, openFile, writer: write };
  return parts.bulk.answer(reply, file);
}

function openPage<Item>(source: RowSource<Item>): FileRequest<Item>["openFile"] {
  return async (rowsMax) => {
    const { rows, edge } = await readPage(source, rowsMax);
    return { rowCount: rows.length, edge, chunks: [rows] };
  };
}

async function readPage<Item>(source: RowSource<Item>, limit: number) {
  const { first, toPosition, isReversed = false } = source;
  // One row more than the page shows that there is a next page.
  const { rows, edge } = getPage(await first(limit + 1), limit, toPosition);
  return { rows: isReversed ? rows.toReversed() : rows, edge };
}

function getWriter<Item>({ query, writer, getToken }: RowList<Item>): RowList<Item>["writer"] {
  if (query.include === undefined || getToken === undefined) return writer;
  return withMarket(writer, getToken);
}

/** Returns a writer that writes the row that `present` returns. */
export function publicAs<Item>(
  present: (item: Item, context: RowContext) => unknown,
): Pick<RowList<Item>, "writer"> {
  return { writer: (context) => (item) => JSON.stringify(present(item, context)) };
}

/** Returns a source that reads the store and the head buffer. */
export function storedSource<Item extends { readonly seq: Seq; readonly sub?: number }>(
  facts: IndexedFacts,
  list: StoredList<Item>,
): RowSource<Item> {
  return {
    first: async (count) => new RowSnapshot(facts, list).first(count),
    toPosition: toCursorPosition,
    openAll: async (rowsMax, columns) => {
      const snapshot = new RowSnapshot(facts, list);
      const { count, edge } = await snapshot.end(rowsMax);
      const { exportChunkRows: chunkRows, exportEncodedRows: groupRows } = webLimits;
      const { encode } = list;
      const chunks =
        columns === undefined || encode === undefined
          ? snapshot.chunks({ chunkRows, rowsMax })
          : readAhead(
              snapshot.encodedChunks({ chunkRows, groupRows, rowsMax }, (from) =>
                encode(facts.engine, from, columns),
              ),
            );
      return { rowCount: count, edge: edge === null ? null : toCursorPosition(edge), chunks };
    },
  };
}

function toCursorPosition({
  seq,
  sub,
}: {
  readonly seq: Seq;
  readonly sub?: number;
}): CursorPosition {
  return sub === undefined ? [seq] : [seq, sub];
}

/** Yields the first `rowsMax` rows of some chunks. */
export async function* firstRows<Item>(
  chunks: AsyncIterable<readonly Item[]>,
  rowsMax: number,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = rowsMax;
  for await (const chunk of chunks) {
    yield chunk.slice(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
