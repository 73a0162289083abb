import type { Connection, Query } from "./connection.ts";
import { FileCheck, type FileFormat } from "./file-check.ts";
import { OddwireError } from "./oddwire-error.ts";

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
  const { headers, body } = await connection.request(path, { query, signal, timeoutMs });
  const count = headers.get("X-Row-Count");
  if (count === null || body === null)
    throw new OddwireError("the answer is not a file", { status: 0, code: "NOT_OURS" });
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
