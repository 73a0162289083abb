/**
 * The whole service with a single node that has every known fault, one after the other, while its chain
 * grows and has reorgs. In the end the store and the responses equal the chain.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { passingFaults, times } from "../support/faults.ts";
import { LiveChain } from "../support/live-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Service, type ServiceOptions } from "../support/service.ts";
import { getFacts } from "../support/store-chain.ts";

async function openChain(t: TestContext): Promise<LiveChain> {
  t.diagnostic(`seed ${testSeed}`);
  const chain = await LiveChain.open(t, new SeededRandom(testSeed));
  chain.grow(20);
  return chain;
}

async function openService(
  t: TestContext,
  chain: LiveChain,
  url: string,
): Promise<{ service: Service; options: ServiceOptions }> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
  };
  const options = { rpcUrls: [url], dataDir: join(folder, "data"), settings };
  const service = await Service.open(options);
  cleanUp(t, async () => {
    await service.kill9();
    await rm(folder, { recursive: true, force: true });
  });
  await service.waitIndexed(chain.head);
  return { service, options };
}

/** Makes every block final and asserts that the service serves and stores exactly these blocks. */
async function assertServes(
  chain: LiveChain,
  { service, options }: { service: Service; options: ServiceOptions },
): Promise<void> {
  chain.settle();
  await service.waitFinalized(chain.head);
  assert((await assertTradesServed(service, chain)) > 0);
  assert.equal(await service.stop(), 0);
  await assertStoreHolds(options.dataDir, getFacts(chain.blocks));
}

test("R4, R6, R9: the service equals the chain after every fault of a node over HTTP, with reorgs of every depth", async (t) => {
  const chain = await openChain(t);
  const opened = await openService(t, chain, chain.node.url);
  for (const [index, fault] of Object.values(passingFaults).entries()) {
    const lift = chain.node.fault(times(2, fault));
    chain.fork(index);
    await opened.service.waitIndexed(chain.head);
    lift();
    if (index % 3 === 2) chain.finalizeBut(15);
  }
  chain.node.limitBatches(0, "unclear");
  chain.fork(12);
  await opened.service.waitIndexed(chain.head);
  await assertServes(chain, opened);
});

test("R6, R9: the service equals the chain after every fault of a WebSocket", async (t) => {
  const chain = await openChain(t);
  const opened = await openService(t, chain, chain.node.wsUrl);
  for (const break_ of [
    () => chain.node.silenceHeads(true),
    () => chain.node.freezeSockets(),
    () => chain.node.dropSockets(),
  ]) {
    break_();
    chain.fork(3);
    await opened.service.waitIndexed(chain.head);
    chain.node.silenceHeads(false);
    chain.finalizeBut(5);
  }
  await assertServes(chain, opened);
});

test("R3: readiness fails while the node is below the stored final blocks, also after a restart", async (t) => {
  const chain = await openChain(t);
  const opened = await openService(t, chain, chain.node.url);
  const { head } = chain;
  chain.settle();
  await opened.service.waitFinalized(head);
  chain.node.setHead(head - 5);
  await opened.service.waitUnready("chain");
  assert.equal(await opened.service.stop(), 0);
  opened.service = await Service.open(opened.options);
  await opened.service.waitUnready("chain");
  chain.node.setHead(head);
  await opened.service.waitReady();
  await assertServes(chain, opened);
});

test("R2, R9: the service equals the chain after finality was missing, stuck and going backwards", async (t) => {
  const chain = await openChain(t);
  const opened = await openService(t, chain, chain.node.url);
  const first = chain.blocks[0]?.block.number ?? 0;
  for (const finality of [null, first, first + 5, first + 2]) {
    chain.node.setFinalized(finality);
    chain.fork(3);
    await opened.service.waitIndexed(chain.head);
  }
  await assertServes(chain, opened);
});
