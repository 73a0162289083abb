/**
 * The near end of the thread that encodes files: columns of thousands of rows would delay every other answer. It
 * starts with the first file, and again after a failure.
 */
import { Worker } from "node:worker_threads";
import type { Column } from "./columns.ts";
import type { EncodedFormat } from "./open-encoder.ts";

/** What the thread is sent; `rows` are a JSON array. All but `drop` are answered, in order. */
export type ToEncodingThread =
  | {
      readonly kind: "begin";
      readonly file: number;
      readonly format: EncodedFormat;
      readonly columns: readonly Column[];
    }
  | { readonly kind: "rows"; readonly file: number; readonly json: string }
  | { readonly kind: "end"; readonly file: number }
  | { readonly kind: "drop"; readonly file: number };

/** What it answers: the next piece of the file, which may be empty, or why there is none. */
export type FromEncodingThread =
  | { readonly file: number; readonly bytes: Uint8Array; readonly error: null }
  | { readonly file: number; readonly bytes: null; readonly error: string };

type Waiting = {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
};

/** Encodes files of any number of lists at the same time. */
export class EncodingThread {
  #worker: Worker | null = null;
  #files = 0;
  /** Who waits for a piece of a file, in the order of asking. */
  readonly #waiting = new Map<number, Waiting[]>();

  /** The pieces of a file whose rows come as JSON arrays. The next rows are made while these are encoded. */
  async *encode(
    { format, columns }: { readonly format: EncodedFormat; readonly columns: readonly Column[] },
    arrays: AsyncIterable<string>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    this.#files += 1;
    const file = this.#files;
    this.#waiting.set(file, []);
    try {
      let piece = this.#ask({ kind: "begin", file, format, columns });
      for await (const json of arrays) {
        const next = this.#ask({ kind: "rows", file, json });
        yield* filled(await piece);
        piece = next;
      }
      yield* filled(await piece);
      yield* filled(await this.#ask({ kind: "end", file }));
    } finally {
      this.#waiting.delete(file);
      this.#worker?.postMessage({ kind: "drop", file } satisfies ToEncodingThread);
    }
  }

  async #ask(message: ToEncodingThread): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    // Who stops half-way awaits nothing any more.
    promise.catch(() => undefined);
    this.#waiting.get(message.file)?.push({ resolve, reject });
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
    return promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./encoding-worker.ts", import.meta.url));
    // Before that it is counted again.
    worker.once("online", () => worker.unref());
    worker.on("message", ({ file, bytes, error }: FromEncodingThread) => {
      const waiting = this.#waiting.get(file)?.shift();
      if (error === null) waiting?.resolve(bytes);
      else waiting?.reject(new Error(error));
    });
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", (code) => {
      this.#fail(worker, new Error(`the encoding thread ended with ${code}`));
    });
    return worker;
  }

  /** All files under way broke off. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    for (const waiting of this.#waiting.values())
      for (const { reject } of waiting.splice(0)) reject(error);
  }
}

function* filled(piece: Uint8Array): Generator<Uint8Array> {
  if (piece.byteLength > 0) yield piece;
}
