import type { Meta, Pagination } from "./api.ts";
import { type Connection, hasRows, isObject, type Query } from "./connection.ts";
import type { FileFormat } from "./list-file.ts";
import { type ListFile, openListFile } from "./list-file.ts";

/** One page of a list. */
export type Page<Row, PageMeta = Meta> = {
  readonly data: readonly Row[];
  readonly pagination: Pagination;
  readonly meta: PageMeta;
};

/**
 * A list of the service, read page by page while it is iterated. Each row comes once, even while new rows arrive. Each
 * iteration starts from the beginning; leaving the loop ends the reading.
 */
export class Pages<Row, PageMeta = Meta> implements AsyncIterable<Row> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #query: Query;

  constructor(connection: Connection, path: string, query: Query) {
    this.#connection = connection;
    this.#path = path;
    this.#query = query;
  }

  /** Reads the first page, or the page at a cursor. */
  async page(cursor?: string): Promise<Page<Row, PageMeta>> {
    return this.#connection.json(this.#path, { query: { ...this.#query, cursor } }, isPage);
  }

  /** Reads page after page. */
  async *pages(): AsyncGenerator<Page<Row, PageMeta>, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.page(cursor);
      yield page;
      if (page.pagination.next_cursor === null) return;
      cursor = page.pagination.next_cursor;
    }
  }

  /** Opens the list as a file, with all rows up to the row cap of the service, from a cursor of an earlier file on. */
  async file(
    format: FileFormat,
    { cursor, signal }: { readonly cursor?: string; readonly signal?: AbortSignal } = {},
  ): Promise<ListFile> {
    const query = { ...this.#query, format, cursor };
    return openListFile(this.#connection, this.#path, { query, ...(signal && { signal }) });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}

function isPage(answer: Readonly<Record<string, unknown>>): boolean {
  const { pagination, meta } = answer;
  if (!hasRows(answer) || !isObject(pagination) || !isObject(meta)) return false;
  const { next_cursor: cursor } = pagination;
  return cursor === null || typeof cursor === "string";
}
