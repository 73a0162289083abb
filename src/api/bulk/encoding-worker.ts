/** The far end of `EncodingThread`: makes files of the rows it is sent. */
import { parentPort } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { toError } from "../../base/errors.ts";
import type { Row } from "./columns.ts";
import type { FromEncodingThread, ToEncodingThread } from "./encoding-thread.ts";
import type { FileEncoder } from "./file-encoder.ts";
import { openEncoder } from "./open-encoder.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const files = new Map<number, FileEncoder>();

port.on("message", (message: ToEncodingThread) => {
  const { file } = message;
  if (message.kind === "drop") {
    files.delete(file);
    return;
  }
  try {
    const bytes = pieceOf(message);
    const answer: FromEncodingThread = { file, bytes, error: null };
    port.postMessage(answer);
  } catch (thrown) {
    files.delete(file);
    const answer: FromEncodingThread = { file, bytes: null, error: toError(thrown).message };
    port.postMessage(answer);
  }
});

function pieceOf(message: Exclude<ToEncodingThread, { kind: "drop" }>): Uint8Array {
  if (message.kind === "begin") {
    const encoder = openEncoder(message.format, message.columns);
    files.set(message.file, encoder);
    return encoder.begin();
  }
  const encoder = files.get(message.file);
  assert(encoder !== undefined, "a file is begun first");
  if (message.kind === "rows") return encoder.add(JSON.parse(message.json) as readonly Row[]);
  files.delete(message.file);
  return encoder.end();
}
