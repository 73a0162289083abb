/**
 * The far end of `chart-reader.ts`: reads one thing after the other, on its own, since anyone who reads from a disk
 * may wait for it. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { toError } from "../../base/errors.ts";
import { sqliteCodeOf } from "../../storage/sqlite/sqlite-code.ts";
import type { ChartAnswer, ChartQuestion } from "./chart-reader.ts";
import { ChartsReader } from "./read-charts.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const charts = new ChartsReader(workerData as string);

port.on("message", (question: ChartQuestion | null) => {
  if (question === null) {
    charts.close();
    port.close();
  } else if (question === "another file") charts.close();
  else {
    const answer = answerTo(question);
    port.postMessage(
      answer,
      answer.found.map(({ buffer }) => buffer),
    );
  }
});

function answerTo({ id, range }: Exclude<ChartQuestion, string>): ChartAnswer {
  try {
    return { id, found: charts.read(range), failure: null };
  } catch (thrown) {
    charts.close();
    // An error that is sent keeps no code.
    const { message } = toError(thrown);
    return { id, found: [], failure: { message, sqliteCode: sqliteCodeOf(thrown) } };
  }
}
