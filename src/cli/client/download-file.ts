import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Backoff, wait, waitAfter } from "../../../clients/typescript/src/backoff.ts";
import { Connection, type Query } from "../../../clients/typescript/src/connection.ts";
import type { FileFormat } from "../../../clients/typescript/src/list-file.ts";
import { openListFile } from "../../../clients/typescript/src/list-file.ts";
import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import { CommandError } from "../command.ts";
import type { ApiAccess } from "./api-options.ts";
import type { DownloadProgress } from "./download-progress.ts";

/** The download of a list, or of a part of it, to a file. */
export type Download = {
  readonly api: ApiAccess;
  readonly list: string;
  readonly query: Query & { readonly format: FileFormat };
  readonly path: string;
  readonly signal: AbortSignal;
  readonly progress: DownloadProgress;
};

const backoff: Backoff = { attempts: 4, firstWaitMs: 1000, longestWaitMs: 60_000 };
const once: Backoff = { ...backoff, attempts: 1 };

/**
 * Downloads a file, which is named `<path>.part` until it is complete. Returns the cursor of the next file;
 * `null` after the last. Retries 429, 5xx, and connections that fail or break off.
 */
export async function downloadFile(download: Download): Promise<string | null> {
  const { api, signal } = download;
  const connection = new Connection({ ...api, backoff: once });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await downloadOnce(connection, download);
    } catch (thrown) {
      signal.throwIfAborted();
      const waitMs = isPassing(thrown) ? waitAfter(attempt, thrown.retryAfterMs, backoff) : null;
      if (waitMs === null) throw thrown;
      await wait(waitMs, signal);
    }
  }
}

async function downloadOnce(connection: Connection, download: Download): Promise<string | null> {
  const { list, query, path, signal, progress } = download;
  const { rowCount, nextCursor, body, check } = await openListFile(connection, list, {
    query,
    signal,
  });
  progress.begin(path, rowCount, check);
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      progress.add(chunk);
      done(null, chunk);
    },
  });
  const part = `${path}.part`;
  const file = createWriteStream(part, { flush: true });
  // A write error, such as a full disk, is not retried; a body that breaks off is.
  let writeError: Error | null = null;
  file.once("error", (error) => (writeError = error));
  await pipeline(Readable.fromWeb(body), counted, file, { signal }).catch((cause: unknown) => {
    if (cause instanceof OddwireError) throw cause;
    if (writeError === null)
      throw new OddwireError("the connection broke off", { status: 0, code: "UNREACHABLE", cause });
    throw new CommandError(`a file cannot be written: ${writeError.message}`, { cause });
  });
  await rename(part, path);
  progress.end();
  return nextCursor;
}

function isPassing(thrown: unknown): thrown is OddwireError {
  if (!(thrown instanceof OddwireError)) return false;
  return thrown.status === 0 || thrown.status === 429 || thrown.status >= 500;
}
