/** The far end of `WalCheckpoints`: one checkpoint of the database it is given the path of. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/assert.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const sql = new DatabaseSync(String(workerData));
// Passive: it takes what it can, and neither waits for anybody nor keeps anybody waiting.
const row = sql.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
port.postMessage({ pages: Number(row?.["log"]), copied: Number(row?.["checkpointed"]) });
sql.close();
