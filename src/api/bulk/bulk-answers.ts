import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { TObject } from "typebox";
import type { VerifiedKey } from "../../access/api-key.ts";
import type { Keys } from "../../access/keys.ts";
import { assert } from "../../base/assert.ts";
import { BoundedCounts } from "../../base/bounded-counts.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { mapYielding, yieldToEventLoop } from "../../base/time/turns.ts";
import type { EncodedRows } from "../../query/row-snapshot.ts";
import { resetConnection } from "../http/pending-responses.ts";
import type { CursorPosition, Cursors } from "../route/cursor.ts";
import { linkToNext } from "../route/list-answer.ts";
import { getBatches } from "./arrow-stream.ts";
import { type FileFormatName, fileFormats } from "./bulk-format.ts";
import { getColumns } from "./columns.ts";
import { EncodingThread } from "./encoding-thread.ts";

/** The rows of a file: those of a list as of now. They and their order stay the same, however long reading takes. */
export type FileRows<Item> = {
  readonly rowCount: number;
  /** The position of the last row if more follow, otherwise `null`. */
  readonly edge: CursorPosition | null;
  /** In an Arrow file, chunks can be encoded already. */
  readonly chunks: AsyncIterable<readonly Item[] | EncodedRows> | Iterable<readonly Item[]>;
};

/** A request for a list as a file. */
export type FileRequest<Item> = {
  readonly format: FileFormatName;
  readonly row: TObject;
  /** The path of the list, such as `/v1/trades`. The file is named for its noun, and cursors are bound to it. */
  readonly path: string;
  /** Rows up to `limit` are a page, which does not count as an export. */
  readonly query: { readonly limit?: number | undefined };
  /** Opens the first `rowsMax` rows, before anything is sent. */
  readonly openFile: (rowsMax: number) => Promise<FileRows<Item>>;
  /** Called for each chunk; returns a function that writes a row as JSON. */
  readonly writer: () => (item: Item) => string;
};

type BulkParts = {
  readonly rowsMax: number;
  readonly cursors: Cursors;
  readonly keys: Pick<Keys, "isLive">;
  readonly log: Log;
  /** The interval at which the throughput of each client is checked. */
  readonly checkEveryMs?: number;
};

/**
 * Sends lists as files, chunk by chunk as the client reads, with one or two chunks in memory. Throws
 * `SERVICE_UNAVAILABLE` when too many exports run. A revoked key gets no further chunk.
 */
export class BulkAnswers {
  readonly #parts: BulkParts;
  readonly #running = new BoundedCounts();
  readonly #encoding = new EncodingThread();

  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /** Sets the headers of the file and returns its body: the rows up to `limit` and the row cap. */
  async answer<Item>(reply: FastifyReply, file: FileRequest<Item>): Promise<Readable> {
    const { request } = reply;
    const { key } = request.caller;
    const { limit } = file.query;
    const { rowsMax, log, checkEveryMs = webLimits.exportBytesMinMs } = this.#parts;
    const release = limit === undefined ? this.#acquire(key?.id ?? "") : () => undefined;
    try {
      const rows = await file.openFile(Math.min(limit ?? Infinity, rowsMax));
      this.#setHeaders(reply, file, rows);
      if (request.method === "HEAD") {
        release();
        // An empty string would send `Content-Length: 0`, which is not the length of the file (RFC 9110, 8.6).
        return Readable.from([]);
      }
      const whole = this.#toPieces(file, this.#whileLive(file, rows, key));
      const onSlow = () => body.destroy(new SlowClientError());
      const pieces = sendPieces(reply, whole, { checkEveryMs, onSlow });
      const body = Readable.from(pieces, { objectMode: false, highWaterMark: 64 * 1024 });
      // `close` also comes when the client disconnects before it reads anything.
      body.once("close", release);
      // After the status is sent, an error can only break the connection.
      body.once("error", (err) => {
        const { headersSent, socket } = reply.raw;
        if (!headersSent) return;
        if (socket !== null) resetConnection(socket);
        if (err instanceof SlowClientError) {
          log.info({ request_id: request.id }, err.message);
          return;
        }
        log.error({ request_id: request.id, err }, "export aborted: reading rows failed");
      });
      return body;
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  #toPieces(
    { format, row }: Pick<FileRequest<unknown>, "format" | "row">,
    chunks: AsyncIterable<readonly string[] | EncodedRows>,
  ): AsyncIterable<string | Uint8Array> {
    if (format !== "ndjson") {
      const parts = mapped(chunks, (rows) =>
        "stream" in rows ? getBatches(rows.stream) : `[${rows.join(",")}]`,
      );
      return this.#encoding.encode({ format, columns: getColumns(row) }, parts);
    }
    return mapped(chunks, (rows) => {
      assert(!("stream" in rows), "only Arrow files have encoded rows");
      return rows.map((line) => `${line}\n`).join("");
    });
  }

  /**
   * Yields the rows of each chunk, as JSON unless they are encoded. Throws `UNAUTHORIZED` when the key has been revoked,
   * and an error when the file does not have the rows that its headers say, such as candles that a reorg removed
   * meanwhile.
   */
  async *#whileLive<Item>(
    { writer }: FileRequest<Item>,
    { chunks, rowCount }: FileRows<Item>,
    key: VerifiedKey | null,
  ): AsyncGenerator<readonly string[] | EncodedRows, void, undefined> {
    let remaining = rowCount;
    for await (const chunk of chunks) {
      // Reading the chunk has used a turn already.
      await yieldToEventLoop();
      const rows = "stream" in chunk ? chunk : await mapYielding(chunk, writer());
      if (key !== null && !this.#parts.keys.isLive(key)) throw new AppError("UNAUTHORIZED");
      remaining -= rows.length;
      yield rows;
    }
    if (remaining !== 0)
      throw new Error(`the rows changed while they were read: ${-remaining} more`);
  }

  #setHeaders<Item>(
    reply: FastifyReply,
    { format, path, query }: FileRequest<Item>,
    { rowCount, edge }: FileRows<Item>,
  ): void {
    const { rowsMax, cursors } = this.#parts;
    const [, , first] = path.split("/");
    // A list of one wallet or market is named by its last part. Ids and names of tokens are no such word.
    const name = /\/([a-z-]+)$/.exec(path)?.[1] ?? first;
    const next = edge === null ? null : cursors.encode(path, query, edge);
    const isCapped = edge !== null && (query.limit ?? Infinity) >= rowsMax;
    reply.headers({
      "content-type": fileFormats[format].contentType,
      "content-disposition": `attachment; filename="${name}.${format}"`,
      "cache-control": "no-store",
      "x-row-cap": rowsMax,
      "x-rows-truncated": String(isCapped),
      "x-row-count": rowCount,
      ...(next === null
        ? {}
        : { "x-next-cursor": next, link: linkToNext(reply.request.raw.url ?? "", next) }),
    });
  }

  #acquire(keyId: string): () => void {
    const { exportsMax, exportsPerKeyMax } = webLimits;
    if (this.#running.total >= exportsMax || !this.#running.acquire(keyId, exportsPerKeyMax)) {
      const publicMessage = "Too many exports are under way";
      throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: 5 });
    }
    return () => this.#running.release(keyId);
  }
}

/** Thrown when a client reads below the minimum rate, to free its slot for others. */
class SlowClientError extends Error {
  override name = "SlowClientError";

  constructor() {
    super("export aborted: client reads too slowly");
  }
}

const pieceBytesMax = 256 * 1024;

/**
 * Yields an export in pieces of at most `pieceBytesMax`: one of 10 MB would be hashed in one turn, and count as read at
 * once. Calls `onSlow` when the client reads below the minimum rate. Sends the SHA-256 and the rows as trailers, where
 * the client can get them: not over HTTP/1.0.
 */
function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<string | Uint8Array>,
  options: { readonly checkEveryMs: number; readonly onSlow: () => void },
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const hasTrailers = reply.request.raw.httpVersion === "1.1";
  if (hasTrailers) reply.header("trailer", "Content-Digest, X-Row-Count");
  const sha256 = createHash("sha256");
  let bytesSinceCheck = 0;
  let isClientsTurn = false;
  const check = () => {
    if (isClientsTurn && bytesSinceCheck < webLimits.exportBytesMin) options.onSlow();
    bytesSinceCheck = 0;
  };
  return (async function* () {
    const timer = setInterval(check, options.checkEveryMs).unref();
    try {
      for await (const whole of pieces)
        for (const piece of typeof whole === "string" ? [whole] : cut(whole)) {
          if (hasTrailers) sha256.update(piece);
          bytesSinceCheck += Buffer.byteLength(piece);
          isClientsTurn = true;
          yield piece;
          isClientsTurn = false;
        }
      if (hasTrailers) {
        const digest = sha256.digest("base64");
        const rows = String(reply.raw.getHeader("x-row-count"));
        reply.raw.addTrailers({ "content-digest": `sha-256=:${digest}:`, "x-row-count": rows });
      }
    } finally {
      clearInterval(timer);
    }
  })();
}

function* cut(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; at += pieceBytesMax)
    yield piece.subarray(at, at + pieceBytesMax);
}

async function* mapped<From, To>(
  from: AsyncIterable<From>,
  map: (one: From) => To,
): AsyncGenerator<To, void, undefined> {
  for await (const one of from) yield map(one);
}
