/** Which source answers a query. The order of the sources is fixed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import { readFills } from "../../src/query/read-fills.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { anyChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const [chain = []] = fc.sample(anyChain({ blocksMin: 40, blocksMax: 40 }), {
  seed: testSeed,
  numRuns: 1,
});
const blocks = getFacts(chain);

/** The number of answers so far, by query and source. */
function getCounts({ reads }: IndexedFacts): Record<string, number> {
  const rows = reads.toRows();
  return Object.fromEntries(
    rows.map(({ query, source, answers }) => [`${query} ${source}`, answers]),
  );
}

test("pages come from the head buffer, then from the engine", async (t) => {
  const { store } = await StoreFolder.open(t);
  await appendFacts(store, encode(blocks.slice(0, 30)));
  for (const block of blocks.slice(30)) store.apply(toUnfinalizedDelta(block));
  const unfinalized = getFills(blocks.slice(30)).length;
  assert(unfinalized > 1 && getFills(blocks).length > unfinalized + 5);
  const getSource = async (limit: number): Promise<string[]> => {
    const before = getCounts(store);
    const filter = { roles: ["maker", "direct"] } as const;
    await readFills(store, { filter, order: "desc", after: null, limit, finalizedOnly: false });
    const after = getCounts(store);
    return Object.keys(after).filter((source) => after[source] !== before[source]);
  };
  assert.deepEqual(await getSource(1), ["trades head"]);
  assert.deepEqual(await getSource(unfinalized + 5), ["trades engine"]);
});
