/** Reads from two shards: the tables of one server and the requests to it are the same. */
import { runOnShards } from "../support/run-files.ts";

await runOnShards([
  "test/store/read-*.test.ts",
  "test/store/fill-filter.test.ts",
  "test/api/list-{candles,trades}.test.ts",
  "test/flow/recorded-*.test.ts",
]);
