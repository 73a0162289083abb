import assert from "node:assert/strict";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { readEvents } from "../../src/query/read-events.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { openFolder } from "../../src/storage/embedded/open-folder.ts";
import type { OpenEngine } from "../../src/storage/engine/engine.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { assertLedgerHolds, assertTokenRowsHold } from "./assert-tables-hold.ts";
import { describeState } from "./describe-state.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { knownContracts } from "./recorded-chain.ts";
import { getFills } from "./store-chain.ts";

/** Opens the folder, or the server, as a process would, and asserts that it contains exactly these blocks. */
export async function assertStoreHolds(
  dataDir: string,
  blocks: readonly BlockFacts[],
  openEngine: OpenEngine = openFolder,
): Promise<void> {
  const store = await IndexedFacts.open(dataDir, openEngine);
  try {
    await store.writer?.pendingTrim;
    const last = blocks.at(-1);
    assert.equal(store.coverage?.last.hash, last?.hash);
    assert.equal(store.coverage?.fromBlock, blocks[0]?.number);
    const page = { order: "asc", after: null, limit: 10_000_000, finalizedOnly: true } as const;
    assert.deepEqual(await readFills(store, { ...page, filter: {} }), getFills(blocks));
    await assertTokenRowsHold(store);
    await assertLedgerHolds(store, blocks);
    const events = blocks.flatMap((block) => block.events);
    const kinds = [...new Set(["trading_paused" as const, ...events.map((e) => e.event.kind)])];
    assert.deepEqual(await readEvents(store, { ...page, kinds }), events);
    const [loaded, applied] = [knownState(), knownState()];
    await store.loadView(loaded);
    for (const block of blocks) applied.apply(toFinalDelta(block));
    assert.deepEqual(describeState(loaded), describeState(applied));
  } finally {
    await store.close();
  }
}

function knownState(): MarketState {
  return new MarketState(knownContracts(), new MemoryStateStore());
}
