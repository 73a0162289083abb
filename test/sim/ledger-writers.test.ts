/**
 * R17: two writers of one database, each with its own moments and cuts. Every row of the ledger and every change of a
 * balance is stored once.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { StartAgainError } from "../../src/base/errors.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { cleanUp } from "../support/clean-up.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { databaseOfFolder, isOnServer, openFacts } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { StoreFolder } from "../support/store-folder.ts";
import {
  appendLedgerPath,
  appendNext,
  growLedgerChain,
  type LedgerWriter,
} from "./ledger/append-ledger.ts";
import { assertBooks } from "./ledger/assert-books.ts";
import { contracts } from "./simulation.ts";

const skip = !isOnServer && "of a server";
const livesMax = 60;

test("R17: two writers store the ledger once", { skip }, async (t) => {
  const folder = await StoreFolder.open(t);
  const random = new SeededRandom(testSeed);
  const { chain, facts } = growLedgerChain(testSeed);
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
        appendNext(writer, { facts, count: random.pick([count, random.integer(1, 12)]) }),
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
  await assertHolds(folder.store, { chain, facts });
});

/** Starts a writer, and kills it after some appends unless it ends before. Returns its last line, or that it was killed. */
async function runWriter(t: TestContext, writer: LedgerWriter, random: SeededRandom) {
  const child = spawn(process.execPath, [appendLedgerPath, JSON.stringify(writer)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanUp(t, () => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let left = random.integer(1, 6);
  let last = "";
  for await (const line of createInterface(child.stdout)) {
    last = line;
    left -= 1;
    // The moment within an append is random.
    if (left === 0) setTimeout(() => child.kill("SIGKILL"), random.integer(0, 40));
  }
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  assert(code === 0 || signal === "SIGKILL", `exit code ${code}`);
  return signal === "SIGKILL" ? "killed" : last;
}

test("R10, R17: two processes that are killed store the ledger once", { skip }, async (t) => {
  const folder = await StoreFolder.open(t);
  const random = new SeededRandom(testSeed);
  const { chain, facts } = growLedgerChain(testSeed);
  const database = await databaseOfFolder(folder.path, toIdentity(137, knownContracts()));
  assert(database !== null);
  let kills = 0;
  const write = async (name: string) => {
    const own = join(folder.path, name);
    await mkdir(own);
    for (let lives = 0; lives < livesMax; lives += 1) {
      const seed = random.integer(0, 1_000_000);
      const writer = { folder: own, database, chainSeed: testSeed, seed };
      const end = await runWriter(t, writer, random);
      if (end === "done") return;
      if (end === "killed") kills += 1;
    }
  };
  await Promise.all(["one", "other"].map(write));
  t.diagnostic(`${kills} kills`);
  assert(kills > 0);
  const store = await folder.reopen();
  // A last writer stores what the killed ones have left.
  for (let isBehind = true; isBehind; ) isBehind = await appendNext(store, { facts, count: 30 });
  await assertHolds(store, { chain, facts });
});

async function assertHolds(
  store: IndexedFacts,
  { chain, facts }: ReturnType<typeof growLedgerChain>,
): Promise<void> {
  await assertTablesHold(store, facts);
  const state = new MarketState(contracts, new MemoryStateStore());
  await store.loadView(state);
  await assertBooks({ facts: store, state }, chain.blocks);
}
