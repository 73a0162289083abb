/** The service on a real ClickHouse server: kills of either, two writers, a server that is away, wrong settings. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { identityOf } from "../../src/storage/identity.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, passwordUser } from "../support/clickhouse/clickhouse-server.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { rangeCap } from "../support/faults.ts";
import { LiveChain } from "../support/live-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Service, type ServiceOptions } from "../support/service.ts";
import { factsOf } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

/** How often the service is killed, the server is, and two writers are paused and resumed. */
const rounds = Number(process.env["SERVER_ROUNDS"] ?? 25);
const database = "facts";

type Scene = {
  readonly chain: LiveChain;
  readonly server: ClickHouseServer;
  readonly random: SeededRandom;
  /** The options of a service with a folder of its own. */
  readonly options: (name: string) => ServiceOptions;
};

async function openScene(t: TestContext): Promise<Scene> {
  t.diagnostic(`seed ${testSeed}`);
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const random = new SeededRandom(testSeed);
  const server = await ClickHouseServer.open(t);
  const chain = await LiveChain.open(t, random);
  // Small ranges make many appends, and so many moments to die in.
  chain.node.fault(rangeCap(5, "alchemy"));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
    ODDWIRE_CLICKHOUSE_URL: server.url,
    ODDWIRE_CLICKHOUSE_DATABASE: database,
  };
  const rpcUrls = [chain.node.url];
  return {
    chain,
    server,
    random,
    options: (name) => ({ rpcUrls, dataDir: join(folder, name), settings }),
  };
}

/** All blocks are served once, are stored once, and nothing was ever deleted. */
async function assertWhole({ chain, server, options }: Scene): Promise<void> {
  chain.stop();
  chain.settle();
  const service = await Service.open(options("last"));
  await service.waitFinalized(chain.head);
  await assertTradesServed(service, chain);
  assert.equal(await service.stop(), 0);
  const identity = identityOf(137, knownContracts());
  const place = {
    url: server.url,
    user: "default",
    password: "",
    database,
    cluster: null,
    identity,
  };
  await assertStoreHolds(options("last").dataDir, factsOf(chain.blocks), (dataDir) =>
    openDatabase(place, dataDir),
  );
  assert.equal(await server.ask("SELECT count() FROM system.mutations"), "0");
}

test(`${rounds} kills of the service and of the server lose and repeat nothing`, async (t) => {
  const scene = await openScene(t);
  const { chain, server, random, options } = scene;
  chain.goOn(60);
  for (let round = 0; round < rounds; round += 1) {
    const service = await Service.open(options("one"));
    // Not a wait for anything: the moment of death is what is random here.
    await delay(random.next() * 400);
    if (random.chance(0.3)) await server.restart();
    await delay(random.next() * 200);
    await service.kill9();
  }
  await assertWhole(scene);
});

test("two services that index into one database store everything once", async (t) => {
  const scene = await openScene(t);
  const { chain, random, options } = scene;
  chain.goOn(60);
  const services = [await Service.open(options("one")), await Service.open(options("other"))];
  for (let round = 0; round < rounds; round += 1) {
    const { pid } = random.pick(services);
    process.kill(pid, "SIGSTOP");
    await delay(random.next() * 300);
    process.kill(pid, "SIGCONT");
    await delay(random.next() * 100);
  }
  for (const service of services) await service.kill9();
  await assertWhole(scene);
});

test("while the server is away, what is in memory is answered and nothing ends", async (t) => {
  const scene = await openScene(t);
  const { chain, server, options } = scene;
  chain.goOn(60);
  const service = await Service.open(options("one"));
  await service.waitReady();
  await server.kill();
  await waitFor("no readiness", async () => {
    // Within the limit of an IP, however long it takes.
    await delay(700);
    return (await service.request("/v1/ready")).status === 503 ? true : null;
  });
  assert.equal((await service.request("/v1/markets")).status, 200);
  const page = await service.request("/v1/fills?order=asc");
  assert.equal(page.status, 503);
  assert(page.headers.has("retry-after"));
  await server.restart();
  await service.waitReady();
  assert.equal(await service.stop(), 0);
  await assertWhole(scene);
});

test("what does not fit is refused in one sentence", async (t) => {
  const { server, options } = await openScene(t);
  const refusalOf = async (name: string, settings: Record<string, string>): Promise<string> => {
    const { settings: own, ...rest } = options(name);
    try {
      await Service.open({ ...rest, settings: { ...own, ...settings } });
    } catch (thrown) {
      return String(thrown);
    }
    throw new Error("it has started");
  };
  const { user } = passwordUser;
  const wrong = { ODDWIRE_CLICKHOUSE_USER: user, ODDWIRE_CLICKHOUSE_PASSWORD: "wrong" };
  assert.match(await refusalOf("one", wrong), /refuses the user or the password/);
  const service = await Service.open(options("two"));
  assert.equal(await service.stop(), 0);
  assert.match(await refusalOf("three", { ODDWIRE_CHAIN_ID: "1" }), /holds chain 137/);
  await server.ask(`ALTER TABLE ${database}.identity UPDATE schema_version = 99 WHERE 1`);
  assert.match(await refusalOf("four", {}), /has tables of version 99/);
});
