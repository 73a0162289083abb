/**
 * Run as a process: one of several writers of a database, which appends a chain of the model in cuts of its own. It
 * prints a line before each append, and ends when it has to start again, or with "done" when the chain is stored.
 */
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StartAgainError } from "../../../src/base/errors.ts";
import { type BlockFacts, deriveBlockFacts } from "../../../src/market/block-facts.ts";
import { openDatabase, type ServerDatabase } from "../../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../../src/views/indexed-facts.ts";
import { appendFacts } from "../../support/append-facts.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { encode } from "../../support/store-chain.ts";
import { decoder } from "../simulation.ts";
import { LedgerChain } from "./ledger-chain.ts";

export const appendLedgerPath = fileURLToPath(import.meta.url);

/** The argument of the process, as JSON. */
export type LedgerWriter = {
  readonly folder: string;
  readonly database: ServerDatabase;
  /** Of the chain, and of the cuts. */
  readonly chainSeed: number;
  readonly seed: number;
};

/** Returns a chain of the model, and its facts. */
export function growLedgerChain(seed: number) {
  const chain = new LedgerChain(seed);
  chain.grow(30);
  return { chain, facts: chain.blocks.map(({ block }) => deriveBlockFacts(block, decoder)) };
}

/** Appends `count` blocks from where the writer is, or those to the end of an open claim. Returns whether there were any. */
export async function appendNext(
  writer: IndexedFacts,
  { facts, count }: { readonly facts: readonly BlockFacts[]; readonly count: number },
): Promise<boolean> {
  const from = (writer.coverage?.last.number ?? (facts[0]?.number ?? 0) - 1) + 1;
  const rest = facts.filter(({ number }) => number >= from);
  const claimed = writer.writer?.claims?.getEnd(from) ?? null;
  const batch =
    claimed === null ? rest.slice(0, count) : rest.filter(({ number }) => number <= claimed);
  if (batch.length > 0) await appendFacts(writer, encode(batch));
  return batch.length > 0;
}

if (import.meta.main) {
  const { folder, database, chainSeed, seed } = JSON.parse(process.argv[2] ?? "") as LedgerWriter;
  const random = new SeededRandom(seed);
  const { facts } = growLedgerChain(chainSeed);
  const store = await IndexedFacts.open(folder, () => openDatabase(database));
  await store.writer?.pendingTrim;
  try {
    do {
      process.stdout.write("append\n");
      // The other writer gets the chance to overtake.
      await pause(random.integer(0, 20));
    } while (await appendNext(store, { facts, count: random.integer(1, 4) }));
    process.stdout.write("done\n");
  } catch (thrown) {
    if (!(thrown instanceof StartAgainError)) throw thrown;
  }
  await store.close();
}
