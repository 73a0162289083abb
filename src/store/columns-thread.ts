/** The far end of `columns-ahead.ts`: reads all columns of the file it is given the path of. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { storeLimits } from "../base/limits.ts";
import { readSavedColumns } from "./saved-columns.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
// Only for reading: it must not bring the log into the file when it closes, which takes seconds.
const sql = new DatabaseSync(String(workerData), {
  readOnly: true,
  timeout: storeLimits.marketsLockedMs,
});
sql.exec("BEGIN");
const saved = readSavedColumns(sql);
sql.close();
port.postMessage(saved, [...(saved?.blocks.values() ?? [])]);
