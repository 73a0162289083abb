import { type Connection, notOurs, type Query } from "./connection.ts";
import { OddwireError } from "./oddwire-error.ts";

/** The formats of a list besides pages of JSON. */
export type FileFormat = "ndjson" | "csv" | "parquet" | "arrow";

/** Parquet files begin and end with these four bytes. */
const parquetMark = "PAR1";
/** The end-of-stream message of Arrow IPC. */
const arrowEnd = "\u00ff\u00ff\u00ff\u00ff\0\0\0\0";
const keptBytes = 8;
const [newLine, quote] = [10, 34];

/**
 * Checks that a file is whole: text by its rows, Parquet and Arrow by their ends. Over HTTP/1.0, and behind some
 * proxies, a body that breaks off looks like one that ends.
 */
export class FileCheck {
  readonly #format: FileFormat;
  readonly #rowCount: number;
  #bytes = 0;
  #lines = 0;
  #isQuoted = false;
  /** The last bytes, a character each. */
  #end = "";

  /** `rowCount` is that of the header `X-Row-Count`. */
  constructor(format: FileFormat, rowCount: number) {
    this.#format = format;
    this.#rowCount = rowCount;
  }

  /** The rows so far; `null` in binary formats. */
  get rows(): number | null {
    if (this.#format === "ndjson") return this.#lines;
    return this.#format === "csv" ? Math.max(0, this.#lines - 1) : null;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#end = (this.#end + String.fromCharCode(...chunk.slice(-keptBytes))).slice(-keptBytes);
    if (this.#format === "ndjson") this.#countLines(chunk);
    else if (this.#format === "csv") this.#countRecords(chunk);
  }

  /** Throws `OddwireError` when the file is not whole. */
  finish(): void {
    if (this.#isWhole()) return;
    const rows = this.rows === null ? `${this.#bytes} bytes` : `${this.rows} rows`;
    const message = `the file broke off: ${rows} came of a file of ${this.#rowCount} rows`;
    throw new OddwireError(message, { status: 0, code: "UNREACHABLE" });
  }

  #isWhole(): boolean {
    if (this.#format === "parquet")
      return this.#end.endsWith(parquetMark) && this.#bytes > keptBytes;
    if (this.#format === "arrow") return this.#end === arrowEnd;
    const lines = this.#format === "csv" ? this.#rowCount + 1 : this.#rowCount;
    const endsLine = this.#bytes === 0 || this.#end.endsWith("\n");
    return endsLine && !this.#isQuoted && this.#lines === lines;
  }

  #countLines(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(newLine); at !== -1; at = chunk.indexOf(newLine, at + 1))
      this.#lines += 1;
  }

  /** A line that ends within quotes is a part of a cell. */
  #countRecords(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (byte === quote) this.#isQuoted = !this.#isQuoted;
      else if (byte === newLine && !this.#isQuoted) this.#lines += 1;
    }
  }
}

/** A list, or a part of it, as a file. */
export type ListFile = {
  /** Rows of the file. */
  readonly rowCount: number;
  /** The cursor of the remaining rows, when the row cap of the service left some out; otherwise `null`. */
  readonly nextCursor: string | null;
  /** The bytes. Fails with `OddwireError` at the end if the file is not whole. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Counts what has been read. */
  readonly check: Pick<FileCheck, "rows">;
};

/** The longest time that a timer can wait, because a list can have any number of rows. */
const timeoutMs = 2 ** 31 - 1;

/** Opens a list as a file. `query` has the `format`. */
export async function openListFile(
  connection: Connection,
  path: string,
  {
    query,
    signal,
  }: { readonly query: Query & { format: FileFormat }; readonly signal?: AbortSignal },
): Promise<ListFile> {
  const response = await connection.request(path, { query, signal, timeoutMs });
  const { headers, body } = response;
  const count = headers.get("X-Row-Count") ?? "";
  if (!/^\d+$/.test(count) || body === null) throw notOurs(response);
  const rowCount = Number(count);
  const check = new FileCheck(query.format, rowCount);
  const checked = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      check.add(chunk);
      controller.enqueue(chunk);
    },
    flush: () => check.finish(),
  });
  const nextCursor = headers.get("X-Next-Cursor");
  return { rowCount, nextCursor, check, body: body.pipeThrough(checked) };
}
