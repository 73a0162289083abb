import { runOnShards } from "../support/run-files.ts";

await runOnShards([
  "test/store/read-*.test.ts",
  "test/store/fill-filter.test.ts",
  "test/api/list-{candles,trades}.test.ts",
  "test/flow/recorded-*.test.ts",
]);
