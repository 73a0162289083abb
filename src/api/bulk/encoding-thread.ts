/**
 * The near end of the thread that encodes files: columns of thousands of rows would delay every other answer. It
 * starts with the first file, and again after a failure.
 */
import { on, once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { toError } from "../../base/errors.ts";
import type { Column } from "./columns.ts";
import type { EncodedFormat } from "./open-encoder.ts";

type File = { readonly format: EncodedFormat; readonly columns: readonly Column[] };

/**
 * Sent to the thread for each file. Its port returns the start of the file, then takes JSON arrays of rows, and at last
 * `null`; each is answered by the next piece, which may be empty, or by an `Error`.
 */
export type FileOrder = File & { readonly port: MessagePort };

/** `ended` rejects with the failure of the thread. */
type Thread = { readonly worker: Worker; readonly ended: Promise<unknown> };

/** Encodes files of any number of lists at the same time. */
export class EncodingThread {
  #thread: Thread | null = null;

  /** The pieces of a file whose rows come as JSON arrays. The next rows are made while these are encoded. */
  async *encode(
    file: File,
    arrays: AsyncIterable<string>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const thread = (this.#thread ??= startThread());
    const { port1: port, port2 } = new MessageChannel();
    const close = () => port.close();
    thread.worker.once("exit", close);
    const answers = on(port, "message", { close: ["close"] });
    try {
      thread.worker.postMessage({ ...file, port: port2 } satisfies FileOrder, [port2]);
      for await (const json of arrays) {
        port.postMessage(json);
        yield* await this.#pieceOf(answers, thread);
      }
      yield* await this.#pieceOf(answers, thread);
      port.postMessage(null);
      yield* await this.#pieceOf(answers, thread);
    } finally {
      thread.worker.off("exit", close);
      close();
    }
  }

  /** The next piece, or none where it is empty. When the thread has ended, the next file starts another one. */
  async #pieceOf(answers: AsyncIterator<unknown[]>, thread: Thread) {
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
  // The files being encoded report the failure.
  ended.catch(() => {});
  // It keeps no process alive; before it is online it would be counted again.
  worker.once("online", () => worker.unref());
  return { worker, ended };
}
