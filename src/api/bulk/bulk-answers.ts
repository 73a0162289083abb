import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { TObject } from "typebox";
import type { Keys, VerifiedKey } from "../../access/api-key.ts";
import { BoundedCounts } from "../../base/bounded-counts.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { mapInTurns, nextTurn } from "../../base/time/turns.ts";
import type { Exchange } from "../http/exchange.ts";
import { type FileFormatName, fileFormats } from "./bulk-format.ts";
import { columnsOf } from "./columns.ts";
import { EncodingThread } from "./encoding-thread.ts";

/** The rows of a file, and what its headers say before the first row. */
export type BulkRows<Item> = {
  /** How many there are in this answer; `null` where that is not known before. */
  readonly rowCount: number | null;
  /** Whether the row cap left rows out. */
  readonly isCut: boolean;
  /** Where to go on when rows are left out, by the cap or by `limit`. */
  readonly nextCursor: string | null;
  readonly chunks: AsyncIterable<readonly Item[]>;
  /** Called for each chunk; what it returns writes a row as JSON. */
  readonly writer: () => (item: Item) => string;
};

/** A list as a file. */
export type BulkRequest<Item> = {
  readonly format: FileFormatName;
  readonly row: TObject;
  /** Of the file, without its ending. */
  readonly name: string;
  /** Rows asked for; no more than a page has do not count as an export. */
  readonly limit: number | undefined;
  /** Finds out what there is, before anything is sent. */
  readonly open: () => Promise<BulkRows<Item>>;
};

/**
 * Sends lists as files, chunk by chunk as the client reads; memory holds one or two chunks. Over the bound on exports
 * it throws `SERVICE_UNAVAILABLE`. A revoked key gets no further chunk.
 */
export class BulkAnswers {
  readonly rowsMax: number;
  readonly #keys: Pick<Keys, "isLive">;
  readonly #log: Log;
  readonly #lookEveryMs: number;
  /** Exports under way by the id of their key. */
  readonly #running = new BoundedCounts();
  readonly #encoding = new EncodingThread();

  /** `lookEveryMs` is how often a client that takes too little is looked for. */
  constructor(options: {
    rowsMax: number;
    keys: Pick<Keys, "isLive">;
    log: Log;
    lookEveryMs?: number;
  }) {
    this.rowsMax = options.rowsMax;
    this.#keys = options.keys;
    this.#log = options.log;
    this.#lookEveryMs = options.lookEveryMs ?? webLimits.exportBytesMinMs;
  }

  /** What the handler answers, with its headers set. */
  async answer<Item>({ request, reply }: Exchange, bulk: BulkRequest<Item>): Promise<Readable> {
    const { key } = request.caller;
    const isPage = bulk.limit !== undefined && bulk.limit <= webLimits.pageRowsMax;
    const release = isPage ? () => undefined : this.#take(key?.id ?? "");
    try {
      const rows = await bulk.open();
      setHeaders(reply, { bulk, rows, rowsMax: this.rowsMax });
      if (request.method === "HEAD") {
        release();
        // Not an empty text: its length would be sent for that of the file (RFC 9110, 8.6).
        return Readable.from([]);
      }
      const taken = { bytes: 0, isItsTurn: false };
      const pieces = metered(this.#piecesOf(bulk, this.#whileLive(rows, key)), taken);
      const body = Readable.from(pieces, { objectMode: false, highWaterMark: 64 * 1024 });
      const watch = watchThroughput(body, { taken, everyMs: this.#lookEveryMs });
      // Also when the client goes away before it has taken anything.
      body.once("close", () => {
        clearInterval(watch);
        release();
      });
      // Once the status is sent, all that can be done is to cut the connection, which clients see.
      body.once("error", (err) => {
        if (!reply.raw.headersSent) return;
        if (err instanceof SlowClientError) {
          this.#log.info({ request_id: request.id }, err.message);
          return;
        }
        this.#log.error({ request_id: request.id, err }, "an export broke off");
      });
      return body;
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  #piecesOf(
    { format, row }: Pick<BulkRequest<unknown>, "format" | "row">,
    chunks: AsyncIterable<readonly string[]>,
  ): AsyncIterable<string | Uint8Array> {
    return format === "ndjson"
      ? mapped(chunks, (lines) => lines.map((line) => `${line}\n`).join(""))
      : this.#encoding.encode(
          { format, columns: columnsOf(row) },
          mapped(chunks, (lines) => `[${lines.join(",")}]`),
        );
  }

  /** The rows of each chunk as JSON. */
  async *#whileLive<Item>(
    { chunks, writer }: BulkRows<Item>,
    key: VerifiedKey | null,
  ): AsyncGenerator<readonly string[], void, undefined> {
    for await (const chunk of chunks) {
      // What read the chunk was a turn of its own.
      await nextTurn();
      const lines = await mapInTurns(chunk, writer());
      if (key !== null && !this.#keys.isLive(key)) throw new AppError("UNAUTHORIZED");
      yield lines;
    }
  }

  #take(keyId: string): () => void {
    const { exportsMax, exportsPerKeyMax } = webLimits;
    if (this.#running.total >= exportsMax || !this.#running.take(keyId, exportsPerKeyMax)) {
      const publicMessage = "Too many exports are under way";
      throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: 5 });
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#running.release(keyId);
    };
  }
}

/** The client took less than it must; its slot is needed by others. */
class SlowClientError extends Error {
  override name = "SlowClientError";

  constructor() {
    super("an export was cut: its client takes too little");
  }
}

/** What a client has taken of an export since it was looked at last, and whether it is its turn to take more. */
type Taken = { bytes: number; isItsTurn: boolean };

async function* metered(
  pieces: AsyncIterable<string | Uint8Array>,
  taken: Taken,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    taken.bytes += Buffer.byteLength(piece);
    taken.isItsTurn = true;
    yield piece;
    taken.isItsTurn = false;
  }
}

/** Cuts an export whose client takes too little; the timer ends with `clearInterval`. */
function watchThroughput(
  body: Readable,
  { taken, everyMs }: { readonly taken: Taken; readonly everyMs: number },
): NodeJS.Timeout {
  const { exportBytesMin } = webLimits;
  const look = () => {
    if (taken.isItsTurn && taken.bytes < exportBytesMin) body.destroy(new SlowClientError());
    taken.bytes = 0;
  };
  return setInterval(look, everyMs).unref();
}

async function* mapped<From, To>(
  from: AsyncIterable<From>,
  map: (one: From) => To,
): AsyncGenerator<To, void, undefined> {
  for await (const one of from) yield map(one);
}

function setHeaders<Item>(
  reply: FastifyReply,
  { bulk, rows, rowsMax }: { bulk: BulkRequest<Item>; rows: BulkRows<Item>; rowsMax: number },
): void {
  const { format, name } = bulk;
  reply.headers({
    "content-type": fileFormats[format].contentType,
    "content-disposition": `attachment; filename="${name}.${format}"`,
    "cache-control": "no-store",
    "x-row-cap": rowsMax,
    "x-rows-truncated": String(rows.isCut),
    ...(rows.rowCount === null ? {} : { "x-row-count": rows.rowCount }),
    ...(rows.nextCursor === null ? {} : { "x-next-cursor": rows.nextCursor }),
  });
}
