/** The thread of `WalCheckpoints`: makes one checkpoint of the database at the path in `workerData`. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/assert.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const sql = new DatabaseSync(String(workerData));
// A passive checkpoint copies what it can, without waiting for readers or writers and without blocking them.
const row = sql.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
port.postMessage({ pages: Number(row?.["log"]), copied: Number(row?.["checkpointed"]) });
sql.close();
