/** The worker of `EncodingThread`. It encodes the rows that it receives. */
import { parentPort } from "node:worker_threads";
import { toError } from "../../base/errors.ts";
import type { Row } from "./columns.ts";
import type { FileOrder } from "./encoding-thread.ts";
import { openEncoder } from "./open-encoder.ts";

parentPort?.on("message", ({ format, columns, port }: FileOrder) => {
  const encoder = openEncoder(format, columns);
  port.on("message", (json: string | null) => {
    try {
      const rows = json === null ? null : (JSON.parse(json) as readonly Row[]);
      port.postMessage(rows === null ? encoder.end() : encoder.add(rows));
    } catch (thrown) {
      port.postMessage(toError(thrown));
    }
  });
  port.postMessage(encoder.begin());
});
