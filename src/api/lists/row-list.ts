/** Lists of rows: a page as JSON, or all rows as a file. */
import type { FastifyReply } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { webLimits } from "../../base/config/limits.ts";
import type { Seq, TokenId } from "../../base/ids.ts";
import { lowerBound } from "../../base/lower-bound.ts";
import type { Awaitable } from "../../base/time/awaitable.ts";
import { readAhead } from "../../base/time/read-ahead.ts";
import { type LowerBounds, reachesBeforeFirst } from "../../query/before-first.ts";
import { getRowContext } from "../../query/row-context.ts";
import { RowSnapshot, type StoredList } from "../../query/row-snapshot.ts";
import type { RowContext } from "../../rows/trade-row.ts";
import { withMarket } from "../../rows/trade-writer.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Backend } from "../backend.ts";
import type { BulkAnswers, FileRequest, FileRows } from "../bulk/bulk-answers.ts";
import { type FileFormatName, listParameters } from "../bulk/bulk-format.ts";
import { requiredPart } from "../bulk/columns.ts";
import type { CursorPosition } from "../route/cursor.ts";
import { getPage, rangeMeta, toListShape, toPagination } from "../route/list-answer.ts";
import { WrittenJson } from "../route/response-cache.ts";
import { defineRoute, fillPath, type Route, type RouteOptions } from "../route/route.ts";
import { type Fields, pickColumns, pickFields } from "./fields.ts";
import type { ReadQueue } from "./read-queue.ts";

const chainPageRows = 100;

/** Parameters that every such list takes besides its filters. */
export const rowListParameters = listParameters({ pageRows: chainPageRows });

/** The parts that list routes need. */
export type ListParts = Backend & {
  readonly bulk: BulkAnswers;
  /** The reads of all lists that take longer than a page. */
  readonly heavyReads: ReadQueue;
};

/** The source of the rows of a list, from the end of the previous page on. */
export type RowSource<Item> = {
  /** Reads the first `count` rows. */
  readonly first: (count: number) => Promise<readonly Item[]>;
  readonly toPosition: (item: Item) => CursorPosition;
  /**
   * Opens up to `rowsMax` rows, to send more than a page; by default as one page. With `columns`, rows can come as an
   * Arrow stream of these.
   */
  readonly openAll?: (rowsMax: number, columns?: readonly string[]) => Promise<FileRows<Item>>;
  /** Whether the rows of a page are sent in the reverse of the order in which pages follow each other. */
  readonly isReversed?: boolean;
};

/** Returns a function that writes a row as JSON. Called for each page and each chunk of a file. */
type Writer<Item> = (context: RowContext) => (item: Item) => string;

type ListParameters = LowerBounds & {
  readonly format: "json" | FileFormatName;
  readonly limit?: number | undefined;
  /** Both add the optional fields of the row. */
  readonly include?: string | undefined;
  readonly include_pnl?: boolean | undefined;
  /** Added by `withFields`. */
  readonly fields?: Fields;
};

type ListOptions<Params extends TObject, Query extends TObject, Item> = Omit<
  RouteOptions<Params, Query, TObject, TSchema>,
  "response" | "handler"
> & {
  readonly row: TObject;
  /** Rows of a page without `limit`; 100 by default. */
  readonly pageRows?: number;
  /** The schema of `meta`, if it has more than those of other lists. */
  readonly meta?: TObject;
  /** Opens the list. Cursors are bound to `path`. What it returns can write the rows and add to `meta`. */
  readonly open: (
    request: {
      readonly params: Static<Params>;
      readonly query: Static<Query>;
      readonly path: string;
    },
    reply: FastifyReply,
  ) => Awaitable<
    RowSource<Item> & {
      readonly writer?: Writer<Item>;
      /** Called after the rows of a page are read. */
      readonly getMeta?: (rows: readonly Item[]) => object;
    }
  >;
  readonly toRow?: (item: Item, context: RowContext) => unknown;
  readonly writer?: Writer<Item>;
  /** Returns the token whose market `include=market` adds to a row. */
  readonly getToken?: (item: Item) => TokenId;
};

/** Defines a list, which responds with a page, or with a file of all rows. */
export function listRoute<Params extends TObject, Query extends TObject, Item>(
  parts: ListParts,
  options: ListOptions<Params, Query, Item>,
): Route {
  const { row, meta = rangeMeta, open, toRow = toItself, getToken, ...route } = options;
  const { pageRows = chainPageRows, writer: commonWriter = publicAs(toRow), ...shared } = route;
  return defineRoute<TSchema, Params, Query>({
    response: Type.Object({ ...toListShape(row).properties, meta }),
    isBulk: true,
    cacheControl: "private, max-age=1",
    ...shared,
    handler: async (request, reply) => {
      const params = request.params as Static<Params>;
      const query = request.query as Static<Query> & ListParameters;
      const path = fillPath(route.path, params);
      const opened = await open({ params, query, path }, reply);
      const { writer: rowWriter = commonWriter, getMeta, ...source } = opened;
      const isWithMarket = query.include !== undefined && getToken !== undefined;
      const writer = isWithMarket ? withMarket(rowWriter, getToken) : rowWriter;
      const isTruncated = reachesBeforeFirst(parts, query);
      const { format, limit = pageRows } = query;
      if (format !== "json") {
        if (isTruncated) void reply.header("x-truncated-at-start", "true");
        const file = toFile({ path, query, row, writer, source }, getRowContext(parts));
        return parts.bulk.answer(reply, { ...file, format });
      }
      const { rows, edge } = await readPage(source, limit);
      const write = writer(getRowContext(parts));
      return {
        data: new WrittenJson(`[${rows.map(write).join(",")}]`),
        pagination: toPagination(parts.cursors, { path, query: { ...query, limit } }, edge),
        meta: { ...(isTruncated && { truncated_at_start: true }), ...getMeta?.(rows) },
      };
    },
  });
}

const toItself = (item: unknown) => item;

/** Returns the file of a list: a page if there is a `limit`, otherwise all rows up to the row cap. */
function toFile<Item>(
  list: Pick<FileRequest<Item>, "path" | "row"> & {
    readonly query: ListParameters;
    readonly source: RowSource<Item>;
    readonly writer: Writer<Item>;
  },
  context: RowContext,
): Omit<FileRequest<Item>, "format"> {
  const { path, query, source } = list;
  const { format, include, include_pnl: hasPnl = false, fields } = query;
  const isWhole = include !== undefined || hasPnl;
  const row = pickColumns(isWhole ? list.row : requiredPart(list.row), fields);
  const columns = format === "arrow" ? Object.keys(row.properties) : undefined;
  const openFile = async (rowsMax: number): Promise<FileRows<Item>> => {
    if (query.limit === undefined && source.openAll) return source.openAll(rowsMax, columns);
    const { rows, edge } = await readPage(source, rowsMax);
    return { rowCount: rows.length, edge, chunks: toChunks(rows) };
  };
  const writer = () => {
    const writeRow = list.writer(context);
    // The other formats read the columns of `row` alone.
    if (fields === undefined || format !== "ndjson") return writeRow;
    return (item: Item) => JSON.stringify(pickFields(JSON.parse(writeRow(item)) as object, fields));
  };
  return { path, query, row, openFile, writer };
}

async function readPage<Item>(source: RowSource<Item>, limit: number) {
  const { first, toPosition, isReversed = false } = source;
  // One row more than the page shows that there is a next page.
  const { rows, edge } = getPage(await first(limit + 1), limit, toPosition);
  return { rows: isReversed ? rows.toReversed() : rows, edge };
}

function* toChunks<Item>(rows: readonly Item[]): Generator<readonly Item[], void> {
  const { exportChunkRows: chunkRows } = webLimits;
  for (let from = 0; from < rows.length; from += chunkRows)
    yield rows.slice(from, from + chunkRows);
}

/** Returns a writer that writes the row that `toRow` returns. */
export function publicAs<Item>(toRow: (item: Item, context: RowContext) => unknown): Writer<Item> {
  return (context) => (item) => JSON.stringify(toRow(item, context));
}

/** Returns a source of rows that are in memory, in their order. `isAfter` says which ones follow a cursor: the last. */
export function memorySource<Item>(
  items: readonly Item[],
  {
    after,
    toPosition,
    isAfter,
  }: Pick<RowSource<Item>, "toPosition"> & {
    readonly after: CursorPosition | null;
    readonly isAfter: (item: Item, after: CursorPosition) => boolean;
  },
): RowSource<Item> {
  const isBefore = (index: number) => after !== null && !isAfter(items[index] as Item, after);
  const start = after === null ? 0 : lowerBound(items.length, isBefore);
  return { first: async (count) => items.slice(start, start + count), toPosition };
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
  let remaining = rowsMax;
  for await (const chunk of chunks) {
    yield chunk.slice(0, remaining);
    remaining -= chunk.length;
    if (remaining <= 0) return;
  }
}
