/**
 * R17: two writers of one database, each with its own moments and cuts. Every row of the ledger and every change of a
 * balance is stored once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { StartAgainError } from "../../src/base/errors.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "../support/append-facts.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { isOnServer, openFacts } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { encode } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { assertBooks } from "./ledger/assert-books.ts";
import { LedgerChain } from "./ledger/ledger-chain.ts";
import { contracts, decoder } from "./simulation.ts";

/** Appends from where the writer is, to the end of an open claim if there is one. */
async function append(
  writer: IndexedFacts,
  { facts, count }: { readonly facts: readonly BlockFacts[]; readonly count: number },
): Promise<void> {
  const from = (writer.coverage?.last.number ?? (facts[0]?.number ?? 0) - 1) + 1;
  const rest = facts.filter(({ number }) => number >= from);
  const claimed = writer.writer?.claims?.getEnd(from) ?? null;
  const batch =
    claimed === null ? rest.slice(0, count) : rest.filter(({ number }) => number <= claimed);
  if (batch.length > 0) await appendFacts(writer, encode(batch));
}

test("R17: two writers store the ledger once", {
  skip: !isOnServer && "of a server",
}, async (t) => {
  const folder = await StoreFolder.open(t);
  const random = new SeededRandom(testSeed);
  const chain = new LedgerChain(testSeed);
  chain.grow(30);
  const facts = chain.blocks.map(({ block }) => deriveBlockFacts(block, decoder));
  const last = facts.at(-1)?.number;
  let other = await openFacts(folder.path);
  let refusals = 0;
  const restart = async () => {
    await other.close();
    other = await openFacts(folder.path);
    await folder.reopen();
  };
  try {
    for (let turn = 0; turn < 30 && folder.store.coverage?.last.number !== last; turn += 1) {
      // Both begin at the same block, sometimes at the same time and with different ends.
      const count = random.integer(1, 12);
      const writing = [folder.store, other].map((writer) =>
        append(writer, { facts, count: random.pick([count, random.integer(1, 12)]) }),
      );
      for (const { status, ...outcome } of await Promise.allSettled(writing)) {
        if (status !== "rejected" || !("reason" in outcome)) continue;
        assert(outcome.reason instanceof StartAgainError, String(outcome.reason));
        refusals += 1;
      }
      await restart();
    }
  } finally {
    await other.close();
  }
  assert(refusals > 0, "one writer adopts the ends of the other");
  await assertTablesHold(folder.store, facts);
  const state = new MarketState(contracts, new MemoryStateStore());
  await folder.store.loadView(state);
  await assertBooks({ facts: folder.store, state }, chain.blocks);
});
