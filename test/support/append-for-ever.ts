/**
 * Run as a process: appends a generated chain to a data directory, starting where the directory ends, and prints the
 * number of each acknowledged block.
 */

import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "./append-facts.ts";
import { anyBlockPlan, buildChain } from "./generate-chain.ts";
import { testSeed } from "./property-settings.ts";
import { encode, getBatches, getFacts } from "./store-chain.ts";

export const appendForEverPath = fileURLToPath(import.meta.url);

/** The blocks that every such process appends; there are more than any process can append before it is killed. */
export function endlessBlocks(): BlockFacts[] {
  const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 200 });
  return getFacts(buildChain(plans));
}

if (import.meta.main) {
  const store = await IndexedFacts.open(process.argv[2] ?? "");
  const next = (store.coverage?.last.number ?? -1) + 1;
  const blocks = endlessBlocks().filter((block) => block.number >= next);
  process.stdout.write("open\n");
  for (const batch of getBatches(blocks, [2, 1, 3])) {
    await appendFacts(store, encode(batch));
    process.stdout.write(`${batch.at(-1)?.number}\n`);
  }
}
