/**
 * The main thread's side of the thread that encodes files. On the main thread, columns of thousands of rows would
 * delay every other response. The thread starts with the first file, and again after a failure.
 */
import { on, once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { toError } from "../../base/errors.ts";
import type { FileFormatName } from "./bulk-format.ts";
import type { Column } from "./columns.ts";

/** The formats that need an encoder. NDJSON does not: its file is the rows, one after the other. */
export type EncodedFormat = Exclude<FileFormatName, "ndjson">;

type File = { readonly format: EncodedFormat; readonly columns: readonly Column[] };

/**
 * The message that starts a file. The thread sends the start of the file to `port`. The port then takes JSON arrays of
 * rows, `flush` before pieces that are encoded already, and `end`. The reply to each is the next piece, which can be
 * empty, or an `Error`.
 */
export type FileOrder = File & { readonly port: MessagePort };

/** `ended` rejects with the error that ended the thread. */
type Thread = { readonly worker: Worker; readonly ended: Promise<unknown> };

/** Encodes any number of files at the same time. */
export class EncodingThread {
  #thread: Thread | null = null;

  /**
   * Yields the pieces of a file whose rows come as JSON arrays, or as pieces that are encoded already. The next array is
   * made while one is encoded.
   */
  async *encode(
    file: File,
    parts: AsyncIterable<string | Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const thread = (this.#thread ??= startThread());
    const { port1: port, port2 } = new MessageChannel();
    const close = () => port.close();
    thread.worker.once("exit", close);
    // At first the start of the file.
    let pending = 1;
    const answers = on(port, "message", { close: ["close"] });
    try {
      thread.worker.postMessage({ ...file, port: port2 } satisfies FileOrder, [port2]);
      for await (const part of parts) {
        const isEncoded = typeof part !== "string";
        pending += 1;
        port.postMessage(isEncoded ? "flush" : part);
        for (; pending > (isEncoded ? 0 : 1); pending -= 1)
          yield* await this.#getPiece(answers, thread);
        if (isEncoded) yield part;
      }
      port.postMessage("end");
      for (; pending >= 0; pending -= 1) yield* await this.#getPiece(answers, thread);
    } finally {
      thread.worker.off("exit", close);
      close();
    }
  }

  /** Returns the next piece, or no piece when it is empty. If the thread has ended, the next file starts a new one. */
  async #getPiece(answers: AsyncIterator<unknown[]>, thread: Thread) {
    const { done, value } = await answers.next();
    if (done === true) {
      if (this.#thread === thread) this.#thread = null;
      await thread.ended;
      throw new Error("the encoding thread ended");
    }
    const [answer] = value;
    if (!(answer instanceof Uint8Array)) throw toError(answer);
    return answer.byteLength === 0 ? [] : [answer];
  }
}

function startThread(): Thread {
  const worker = new Worker(new URL("./encoding-worker.ts", import.meta.url));
  const ended = once(worker, "exit");
  // The error is reported by each file that is being encoded, so it is not unhandled.
  ended.catch(() => {});
  // Once it runs, the thread must not keep the process alive.
  worker.once("online", () => worker.unref());
  return { worker, ended };
}
