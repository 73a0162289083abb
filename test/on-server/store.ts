/** Facts on a server, and streams that begin with what it has stored. */
import { runOnServer } from "../support/run-files.ts";

await runOnServer([
  // Plain reads are tested on two shards.
  "test/store/!(fill-filter|read-*).test.ts",
  "test/stream/{equals-history,subscribe,tail}.test.ts",
]);
