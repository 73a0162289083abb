/** What responses are read from a server. What only shapes them runs with the embedded engine alone. */
import { runOnServer } from "../support/run-files.ts";

await runOnServer([
  // Candles and trades are read from two shards.
  "test/api/{bulk,list}-!(candles|trades).test.ts",
  "test/api/get-{market,order,price,transaction,wallet}.test.ts",
  "test/api/{min-seq,reorged-pages}.test.ts",
]);
