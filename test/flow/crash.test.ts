/**
 * R10: the service is killed repeatedly, at random moments, while the chain goes on: its trades, and all that wallets
 * did on a model of the contracts.
 * `KILL_ROUNDS` sets how often. By default it is as often as 15 seconds allow, which is a sample.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openFolder as openEngine } from "../../src/storage/embedded/open-folder.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { assertBooks } from "../sim/ledger/assert-books.ts";
import { LedgerChain, type ModelBlock } from "../sim/ledger/ledger-chain.ts";
import { contracts } from "../sim/simulation.ts";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { rangeCap } from "../support/faults.ts";
import { LiveChain } from "../support/live-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type Page, Service, type ServiceOptions } from "../support/service.ts";
import { getFacts } from "../support/store-chain.ts";

const requested = process.env["KILL_ROUNDS"];
const rounds = Number(requested ?? 100);
/** The time for all kills. If a start takes long, there are fewer kills, unless `KILL_ROUNDS` is set. */
const budgetMs = requested === undefined ? 15_000 : Number.POSITIVE_INFINITY;
const roundsMin = 5;
/** The longest delays before a kill, as a share of the time of a start: during a start, and during some appends. */
const startShareMax = 1.2;
const lifeShareMax = 0.3;
const askEveryMs = 10;

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The newest block that the service has acknowledged as stored. */
class Acknowledged {
  block = -1;
  restarts = 0;

  /** Polls until the service is gone. Fails if it has fewer blocks than an earlier process acknowledged. */
  async follow(service: Service): Promise<void> {
    const floor = this.block;
    this.restarts += 1;
    for (;;) {
      const page = await service.get<Page>("/v1/trades?limit=1").catch(() => null);
      if (page === null) return;
      const { finalized_block } = page.meta;
      assert(
        (finalized_block ?? -1) >= floor,
        `${finalized_block} is stored, once it was ${floor}`,
      );
      this.block = Math.max(this.block, finalized_block ?? -1);
      await delay(askEveryMs);
    }
  }
}

/** Measures how long a start takes. It also fills the compile cache for later starts. */
async function measureStartMs(options: ServiceOptions): Promise<number> {
  const startedMs = performance.now();
  const service = await Service.open(options);
  const startMs = performance.now() - startedMs;
  assert.equal(await service.stop(), 0);
  return startMs;
}

/** Everything about wallets, read as a process would that opens the folder. */
async function assertBooksHold(dataDir: string, blocks: readonly ModelBlock[]): Promise<void> {
  const facts = await IndexedFacts.open(dataDir, openEngine);
  try {
    const state = new MarketState(contracts, new MemoryStateStore());
    await facts.loadView(state);
    await assertBooks({ facts, state }, blocks);
  } finally {
    await facts.close();
  }
}

type Lives = {
  readonly options: ServiceOptions;
  readonly random: SeededRandom;
  readonly acknowledged: Acknowledged;
  readonly startMs: number;
};

/** Starts the service and kills it, either during the start or a while after it. */
async function liveAndDie({ options, random, acknowledged, startMs }: Lives): Promise<void> {
  if (random.chance(0.4)) {
    const killAfterMs = random.next() * startShareMax * startMs;
    const onSpawn = (kill9: () => void) => void setTimeout(kill9, killAfterMs);
    const service = await Service.open({ ...options, onSpawn }).catch(() => null);
    if (service !== null) await acknowledged.follow(service);
    return;
  }
  const service = await Service.open(options);
  const following = acknowledged.follow(service);
  // This delay waits for nothing. It makes the moment of the kill random.
  await delay(random.next() * lifeShareMax * startMs);
  await service.kill9();
  await following;
}

test(`R10: up to ${rounds} kills with -9 lose no acknowledged block and repeat none`, async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = new SeededRandom(testSeed);
  const folder = await openFolder(t);
  const ledger = new LedgerChain(testSeed);
  const chain = await LiveChain.open(t, random, ledger.make);
  // Small ranges lead to many appends, so that kills hit different moments.
  chain.node.fault(rangeCap(5, "alchemy"));
  const options: ServiceOptions = {
    rpcUrls: [chain.node.url],
    dataDir: join(folder, "data"),
    settings: {
      ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
      ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
    },
  };
  const acknowledged = new Acknowledged();
  chain.goOn(60);
  const lives = { options, random, acknowledged, startMs: await measureStartMs(options) };
  const endMs = performance.now() + budgetMs;
  let round = 0;
  for (; round < rounds && (round < roundsMin || performance.now() < endMs); round += 1)
    await liveAndDie(lives);
  t.diagnostic(`${round} kills`);
  chain.stop();
  chain.settle();

  const service = await Service.open(options);
  await service.waitFinalized(chain.head);
  const trades = await assertTradesServed(service, chain);
  assert.equal(await service.stop(), 0);
  await assertStoreHolds(options.dataDir, getFacts(chain.blocks));
  await assertBooksHold(options.dataDir, ledger.blocks);
  t.diagnostic(`${acknowledged.restarts} lives answered; ${chain.head} blocks, ${trades} trades`);
});
