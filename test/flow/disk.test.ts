/**
 * A disk that fails: the service stops with a clear message and exit code 75, "try again". Once the
 * disk works again, a restart goes on and nothing is lost.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { LiveChain } from "../support/live-chain.ts";
import { fillUp, mountDisk } from "../support/own-disk.ts";
import { testSeed } from "../support/property-settings.ts";
import { runCommand } from "../support/run-command.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Service, type ServiceOptions } from "../support/service.ts";
import { getFacts } from "../support/store-chain.ts";

const tryAgain = 75;
const saysUnwritable = /^oddwire: serve has stopped: the data directory cannot be written: \w+/m;
const saysFull =
  /^oddwire: serve has stopped: the disk of the data directory is full: .+\. Free space in \/.+, then start it again\.$/m;
const tracer = "strace";
const failingFsync = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync,fdatasync:error=EIO"];

function hasStrace(): boolean {
  return spawnSync(tracer, ["-V"]).status === 0;
}

async function openScene(
  t: TestContext,
  ownDisk: string | null,
): Promise<{ chain: LiveChain; options: ServiceOptions }> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  const dataDir = ownDisk ?? join(folder, "data");
  const chain = await LiveChain.open(t, new SeededRandom(testSeed));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
  };
  return { chain, options: { rpcUrls: [chain.node.url], dataDir, settings } };
}

/** Starts the service on a failing disk. It ends either before it listens or at the first append. */
async function startInVain(options: ServiceOptions): Promise<never> {
  const service = await Service.open(options);
  const code = await service.exited;
  throw new Error(service.stderr, { cause: new Error(`exit code ${code}`) });
}

/** Asserts that a restart on a working disk goes on and has everything. */
async function assertGoesOn(chain: LiveChain, options: ServiceOptions): Promise<void> {
  chain.settle();
  const service = await Service.open(options);
  await service.waitFinalized(chain.head);
  assert.equal(await service.stop(), 0);
  await assertStoreHolds(options.dataDir, getFacts(chain.blocks));
}

test("a command on a full disk ends with 75, and leaves no file behind", async (t) => {
  const disk = await mountDisk(t, 1);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const dataDir = join(disk, "data");
  await mkdir(dataDir);
  const ballast = await fillUp(disk);
  const create = () =>
    runCommand(["keys", "create", "--init", "--name", "a", "--scope", "read"], {
      ODDWIRE_DATA_DIR: dataDir,
    });
  const refused = await create();
  assert.deepEqual(
    [refused.code, refused.stdout, refused.stderr],
    [75, "", "oddwire: ENOSPC: no space left on device, write; free space, then try again\n"],
  );
  assert.deepEqual(await readdir(dataDir), []);
  await rm(ballast);
  const created = await create();
  assert.equal(created.code, 0, created.stderr);
});

test("a full disk stops the service with 75, and a restart with more room goes on", async (t) => {
  const disk = await mountDisk(t, 24);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const { chain, options } = await openScene(t, join(disk, "data"));
  const service = await Service.open(options);
  chain.goOn(60);
  await service.waitFinalized(chain.head);
  await fillUp(disk);
  assert.equal(await service.exited, tryAgain);
  assert.match(service.stderr, saysFull);
  await assert.rejects(startInVain(options), (error: Error) => {
    assert.match(
      `${error.message}${String(error.cause)}`,
      /data directory is full.*; free space, then try again.*exit code 75/s,
    );
    return true;
  });
  chain.stop();

  execFileSync("mount", ["-o", "remount,size=256m", disk]);
  await assertGoesOn(chain, options);
});

test("a read-only disk is reported as such, not as a damaged folder", async (t) => {
  const disk = await mountDisk(t, 64);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const { chain, options } = await openScene(t, join(disk, "data"));
  const service = await Service.open(options);
  assert.equal(await service.stop(), 0);
  execFileSync("mount", ["-o", "remount,ro", disk]);
  await assert.rejects(startInVain(options), (error: Error) => {
    assert.match(error.message, /ODDWIRE_DATA_DIR cannot be used: EROFS/);
    assert.match(String(error.cause), /exit code 2$/);
    return true;
  });
  chain.stop();
});

test("a failing fsync stops the service with 75, and nothing acknowledged is lost", async (t) => {
  if (!hasStrace()) return t.skip("NOT TESTED: there is no strace to make fsync fail with");
  const { chain, options } = await openScene(t, null);
  const service = await Service.open(options);
  chain.goOn(60);
  await service.waitFinalized(chain.head);
  const strace = spawn(tracer, [...failingFsync, "-p", String(service.pid)], { stdio: "ignore" });
  cleanUp(t, () => strace.kill("SIGKILL"));
  assert.equal(await service.exited, tryAgain);
  assert.match(service.stderr, saysUnwritable);
  chain.stop();
  await assertGoesOn(chain, options);
});
