/**
 * What reads stored facts with SQL of its own, on two shards: the tables of one server and the requests to it are the
 * same. Lists that only shape these rows, filter them alike, or come from the views run with the embedded engine alone.
 */
import { runOnShards } from "../support/run-files.ts";

await runOnShards([
  "test/store/read-*.test.ts",
  "test/store/fill-filter.test.ts",
  "test/api/list-{activity,candles,exchange-events,holders,open-interest,pnl,positions,stats}.test.ts",
  "test/api/get-{order,past-price,transaction,wallet}.test.ts",
  "test/flow/recorded-{gen3,wallets}.test.ts",
  "test/sim/ledger-{store,writers}.test.ts",
]);
