/** Facts on a server, and streams that begin with what it has stored. */
import { runOnServer } from "../support/run-files.ts";

await runOnServer([
  // Plain reads are tested on two shards. The others compare, check or keep in files what the reads have returned.
  "test/store/!(auditor|fill-filter|lake-attacks|markets-file|mirrored-questions|pipeline|read-*).test.ts",
  "test/sim/ledger-{store,writers}.test.ts",
  "test/stream/{equals-history,subscribe,tail}.test.ts",
]);
