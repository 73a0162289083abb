/** R7: readiness reports blocks without a commit record. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { readConfig } from "../../src/base/config/config.ts";
import { openLog } from "../../src/base/log.ts";
import { Indexer } from "../../src/feed/indexer.ts";
import { Lifetime } from "../../src/roles/lifetime.ts";
import { openChain } from "../../src/roles/open-parts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { cleanUp } from "../support/clean-up.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, factsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const blocks = factsOf(buildChain(fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 5 })));
const ignore = (): void => {};

test("the coverage check passes only without a gap", async (t) => {
  const { store, path } = await StoreFolder.open(t);
  const contracts = knownContracts();
  const log = openLog({ level: "fatal" });
  const config = readConfig("serve", {
    ODDWIRE_RPC_URLS: "http://127.0.0.1:1",
    ODDWIRE_DATA_DIR: path,
    ODDWIRE_START_BLOCK: "latest",
  });
  const start = { config, contracts, startedAt: null, log };
  const indexer = new Indexer({
    ...start,
    chain: openChain({ ...start, role: "serve", life: new Lifetime(), stop: t.signal }),
    store,
    state: new MarketState(contracts, new MemoryStateStore()),
    subscribers: { unfinalized: ignore, reverting: ignore, appended: ignore, finalized: ignore },
  });
  cleanUp(t, () => indexer.close());
  assert.deepEqual(indexer.checks(0)["coverage"], { ok: true, detail: "nothing finalized yet" });
  await store.append(encode(blocks));
  const stored = `blocks ${blocks[0]?.number} to ${blocks.at(-1)?.number}`;
  for (const [missing, ok, detail] of [
    [0, true, `${stored} without a gap`],
    [3, false, `${stored}, of which 3 are missing`],
    [null, false, `${stored}, gaps not known`],
  ] as const) {
    assert.deepEqual(indexer.checks(missing)["coverage"], { ok, detail });
  }
});
