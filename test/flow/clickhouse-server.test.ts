/**
 * The service on a real ClickHouse server: kills of either, two writers, a server that is full or down, wrong settings.
 * `SERVER_ROUNDS` sets the length: with 200 the service is killed 200 times, the server 50 times, and two writers are
 * paused 200 times. `SERVER_AWAY_SECONDS` is how long the server stays down.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import {
  ClickHouseServer,
  passwordUser,
  readingUser,
} from "../support/clickhouse/clickhouse-server.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { rangeCap } from "../support/faults.ts";
import { LiveChain } from "../support/live-chain.ts";
import { fillUp, mountDisk } from "../support/own-disk.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { runCommand } from "../support/run-command.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Service, type ServiceOptions } from "../support/service.ts";
import { getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

/** The number of kills of the service, and the number of pauses of one of two writers. */
const rounds = Number(process.env["SERVER_ROUNDS"] ?? 3);
/** At least how long the server stays down, in seconds. With 0 only until the service notices. */
const awaySeconds = Number(process.env["SERVER_AWAY_SECONDS"] ?? 0);
const database = "facts";

type Scene = {
  readonly chain: LiveChain;
  readonly server: ClickHouseServer;
  readonly random: SeededRandom;
  /** The options of a service with a folder of its own. */
  readonly options: (name: string) => ServiceOptions;
};

async function openScene(t: TestContext, serverParent?: string): Promise<Scene> {
  t.diagnostic(`seed ${testSeed}`);
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const random = new SeededRandom(testSeed);
  const server = await ClickHouseServer.open(t, serverParent);
  const chain = await LiveChain.open(t, random);
  // Small ranges lead to many appends, so that kills hit different moments.
  chain.node.fault(rangeCap(5, "alchemy"));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
    ODDWIRE_CLICKHOUSE_URL: server.url,
    ODDWIRE_CLICKHOUSE_DATABASE: database,
    // The test polls readiness all the time. As a trusted proxy it is not rate limited.
    ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
  };
  const rpcUrls = [chain.node.url];
  return {
    chain,
    server,
    random,
    options: (name) => ({ rpcUrls, dataDir: join(folder, name), settings }),
  };
}

/** Asserts that every block is served and stored once, and that nothing was ever deleted. */
async function assertWhole({ chain, server, options }: Scene): Promise<void> {
  chain.stop();
  chain.settle();
  const service = await Service.open(options("last"));
  await service.waitFinalized(chain.head);
  await assertTradesServed(service, chain);
  assert.equal(await service.stop(), 0);
  const identity = toIdentity(137, knownContracts());
  const place = {
    url: server.url,
    user: "default",
    password: "",
    database,
    cluster: null,
    identity,
    spoolDir: tmpdir(),
  };
  await assertStoreHolds(options("last").dataDir, getFacts(chain.blocks), () =>
    openDatabase(place),
  );
  assert.equal(await server.ask("SELECT count() FROM system.mutations"), "0");
}

test(`${rounds} kills of the service and of the server lose and repeat nothing`, async (t) => {
  const scene = await openScene(t);
  const { chain, server, random, options } = scene;
  chain.goOn(120);
  for (let round = 0; round < rounds; round += 1) {
    const service = await Service.open(options("one"));
    // This delay waits for nothing. It makes the moment of the kill random.
    await delay(random.next() * 400);
    if (round % 4 === 1) await server.restart();
    await delay(random.next() * 200);
    await service.kill9();
  }
  await assertWhole(scene);
});

test("R17: two services that index into one database store everything once", async (t) => {
  const scene = await openScene(t);
  const { chain, random, options } = scene;
  chain.goOn(120);
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

test("while the server is full or down, the service keeps running and loses nothing", async (t) => {
  const scene = await openScene(t);
  const { chain, server, options } = scene;
  // A block is up to 30 s of chain time, and readiness allows a lag of 60 s. That is a second at this pace.
  chain.goOn(500);
  const service = await Service.open(options("one"));
  cleanUp(t, () => service.kill9());
  await waitReadiness(service, 200);
  const setting = "min_free_disk_bytes_to_perform_insert";
  await server.ask(`ALTER TABLE ${database}.fills MODIFY SETTING ${setting} = ${2 ** 60}`);
  await waitReadiness(service, 503, /"appends wait: The database is not available right now"/);
  assert.match(
    service.stderr,
    /appends wait: the ClickHouse server at .* has too little free disk space .* \(243\)/,
  );
  await server.ask(`ALTER TABLE ${database}.fills RESET SETTING ${setting}`);
  await waitReadiness(service, 200);
  await server.kill();
  const awayAtMs = performance.now();
  await waitReadiness(service, 503, /"store":\{"ok":false/);
  do {
    assert.equal((await service.request("/v1/markets")).status, 200);
    const page = await service.request("/v1/fills?order=asc");
    assert.equal(page.status, 503);
    assert(page.headers.has("retry-after"));
    await delay(500);
  } while (performance.now() - awayAtMs < awaySeconds * 1000);
  await waitReadiness(service, 503, /"store":\{"ok":false/);
  await server.restart();
  const backAtMs = performance.now();
  await waitReadiness(service, 200);
  t.diagnostic(`ready ${Math.round(performance.now() - backAtMs)} ms after the server`);
  assert.equal(await service.stop(), 0);
  await assertWhole(scene);
});

test("nothing is lost when the disk of the server is completely full, and appends go on once there is room", async (t) => {
  const disk = await mountDisk(t, 256);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const scene = await openScene(t, disk);
  scene.chain.goOn(500);
  const service = await Service.open(scene.options("one"));
  cleanUp(t, () => service.kill9());
  await waitReadiness(service, 200);
  const ballast = await fillUp(disk);
  await waitReadiness(service, 503, /"appends wait: The database is not available right now"/);
  assert.match(
    service.stderr,
    /appends wait: the ClickHouse server at .* has too little free disk space .* \(\d+\)/,
  );
  await rm(ballast);
  await waitReadiness(service, 200);
  assert.equal(await service.stop(), 0);
  await assertWhole(scene);
});

test("a wrong password, version, chain or user is refused in one sentence", async (t) => {
  const { server, options } = await openScene(t);
  const old = await openOldServer(t);
  const toRefusal = async (name: string, settings: Record<string, string>): Promise<string> => {
    const { settings: own, ...rest } = options(name);
    const opening = Service.open({ ...rest, settings: { ...own, ...settings } });
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === "rejected") return String(opened.reason);
    // A running service would keep this process from ending.
    await opened.value.kill9();
    throw new Error("it has started");
  };
  const { user } = passwordUser;
  const wrong = { ODDWIRE_CLICKHOUSE_USER: user, ODDWIRE_CLICKHOUSE_PASSWORD: "wrong" };
  const service = await Service.open(options("two"));
  assert.equal(await service.stop(), 0);
  const [password, version, chain, reader] = await Promise.all([
    toRefusal("one", wrong),
    toRefusal("three", { ODDWIRE_CLICKHOUSE_URL: old }),
    toRefusal("four", { ODDWIRE_CHAIN_ID: "1" }),
    toRefusal("five", { ODDWIRE_CLICKHOUSE_USER: readingUser }),
  ]);
  assert.match(password, /refuses the user or the password/);
  assert.match(version, /is of version 25\.3\.1\.1; 26\.7 or newer is needed/);
  assert.match(chain, /holds chain 137/);
  assert.match(reader, /does not let the user do what is needed: .*INSERT/);
  await server.ask(`ALTER TABLE ${database}.identity UPDATE schema_version = 99 WHERE 1`);
  assert.match(await toRefusal("six", {}), /has tables of version 99/);
});

test("check needs only the SELECT privilege", async (t) => {
  const scene = await openScene(t);
  const { chain, server, options } = scene;
  chain.settle();
  const service = await Service.open(options("one"));
  await service.waitFinalized(chain.head);
  assert.equal(await service.stop(), 0);
  const { settings, rpcUrls, dataDir } = options("reader");
  const reader = { ...settings, ODDWIRE_CLICKHOUSE_USER: readingUser };
  const own = { ODDWIRE_RPC_URLS: rpcUrls.join(), ODDWIRE_DATA_DIR: dataDir };
  const check = () => runCommand(["check"], { ...reader, ...own });
  const equal = await check();
  assert.equal(equal.code, 0, equal.stderr);
  assert.match(equal.stdout, /match the nodes$/m);
  await server.ask(`TRUNCATE TABLE ${database}.fills`);
  const differs = await check();
  assert.equal(differs.code, 2, differs.stderr);
});

test("check and repair create neither a database nor tables", async (t) => {
  const { server, options } = await openScene(t);
  await server.ask("CREATE DATABASE empty");
  const databases = () => server.ask("SELECT name FROM system.databases ORDER BY name");
  const before = await databases();
  const { settings, rpcUrls, dataDir } = options("one");
  const shared = { ...settings, ODDWIRE_RPC_URLS: rpcUrls.join(), ODDWIRE_DATA_DIR: dataDir };
  for (const command of ["check", "repair"]) {
    const run = (name: string) =>
      runCommand([command], { ...shared, ODDWIRE_CLICKHOUSE_DATABASE: name });
    const [missing, empty] = [await run("mistyped"), await run("empty")];
    assert.equal(missing.code, 75);
    assert.match(
      missing.stderr,
      /Database mistyped does not exist .*; check ODDWIRE_CLICKHOUSE_DATABASE/,
    );
    assert.equal(empty.code, 1);
    assert.match(empty.stderr, /^oddwire: the database empty has no tables yet\n$/);
  }
  assert.equal(await databases(), before);
  assert.equal(await server.ask("SELECT count() FROM system.tables WHERE database = 'empty'"), "0");
});

/**
 * Waits until readiness has this status and a body that matches. A failure shows the
 * newest response.
 */
async function waitReadiness(service: Service, status: number, body = /./): Promise<void> {
  let newest: unknown = null;
  try {
    await waitFor(`readiness ${status}`, async () => {
      const answer = await service.request("/v1/ready");
      newest = answer.body;
      const fits = answer.status === status && body.test(JSON.stringify(answer.body));
      return fits ? true : null;
    });
  } catch (cause) {
    throw new Error(`not ${status}: ${JSON.stringify(newest)}\n${service.stderr}`, { cause });
  }
}

/** A server that reports an older version at the start. */
async function openOldServer(t: TestContext): Promise<string> {
  const old = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end('["25.3.1.1"]\n'));
  });
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  cleanUp(t, () => {
    old.closeAllConnections();
    old.close();
  });
  return `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
}
