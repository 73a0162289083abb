/** Exports and imports on a disk that becomes full, and that are killed: the same command finishes them, and nothing is lost. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { readManifest } from "../../src/lake/import-lake.ts";
import { emptyBlock } from "../../src/market/block-facts.ts";
import { openFolder } from "../../src/storage/embedded/open-folder.ts";
import { DataDirectoryUnwritableError } from "../../src/storage/engine/store-errors.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { assertStoreHolds } from "../support/assert-store-holds.ts";
import { cleanUp } from "../support/clean-up.ts";
import { cli } from "../support/cli.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { fillUp, mountDisk } from "../support/own-disk.ts";
import { testSeed } from "../support/property-settings.ts";
import { type Finished, runCommand } from "../support/run-command.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { encode } from "../support/store-chain.ts";
import { systemSettings } from "../support/system-settings.ts";
import {
  assertComplete,
  exported,
  finalDays,
  openFilled,
  readVerified,
  toContents,
} from "../support/test-lake.ts";
import { waitFor } from "../support/wait-for.ts";

const kills = 3;
/** Parts have few rows, so that there are many. */
const parts = { partRows: 30 };

/** A lake, and the settings of commands that import it into a data directory. */
async function openLake(t: TestContext, salt: number) {
  const filled = await openFilled(t, salt);
  const manifest = await exported(filled, parts);
  await filled.source.close();
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  const settings = { ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder) };
  return { folder, lake: filled.folder, expected: finalDays(filled.blocks, manifest), settings };
}

async function listDrafts(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(".draft"));
}

test("an export to a full disk leaves the lake as it was, and is finished when there is room", {
  skip: embeddedOnly,
}, async (t) => {
  const disk = await mountDisk(t, 8);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const filled = await openFilled(t, 40);
  const all = await exported(filled, parts);
  const [first] = all.slices;
  const target = { ...filled, folder: join(disk, "lake") };
  const before = await exported(target, { ...parts, to: first?.date });
  const ballast = await fillUp(disk);
  let failures = 0;
  for (let free = 0; ; free += 256 * 1024) {
    await fillUp(disk);
    await truncate(ballast, Math.max(0, 8 * 1024 * 1024 - free));
    const written = await exported(target, parts).catch((thrown: unknown) => {
      assert(thrown instanceof DataDirectoryUnwritableError, String(thrown));
      assert.match(thrown.message, /^the disk of the lake is full: \S/);
      return null;
    });
    if (written !== null) break;
    failures += 1;
    assert.deepEqual(await listDrafts(target.folder), []);
    const manifest = await readManifest(openFolderLake(target.folder), null);
    const { length } = manifest.slices;
    assert(length >= before.slices.length);
    assert.deepEqual(manifest.slices, all.slices.slice(0, length));
  }
  assert(failures > 2);
  assert.deepEqual(await readManifest(openFolderLake(target.folder), null), all);
});

test("an import to a full disk and an export from it say so, and are finished when there is room", {
  skip: embeddedOnly,
}, async (t) => {
  const disk = await mountDisk(t, 32);
  if (disk === null) return t.skip("NOT TESTED: no file system can be mounted here");
  const { lake, expected, settings } = await openLake(t, 41);
  const dataDir = join(disk, "data");
  const run = (...words: string[]) => runCommand([...words, "--data-dir", dataDir], settings);
  const imports = await untilDone(disk, 3, () => run("import", "--lake", lake));
  await assertStoreHolds(dataDir, expected);
  // An export copies the ledger beside it.
  const copy = `${lake}-copy`;
  const exports = await untilDone(disk, 1, () => run("export", "--lake", copy));
  t.diagnostic(`${imports} and ${exports} failures`);
  assert(imports > 1 && exports > 0);
  await assertComplete(copy);
});

/** Runs a command with 1 MiB free on its disk, then with `step` MiB more, until it is done. Returns how often it failed. */
async function untilDone(disk: string, step: number, run: () => Promise<Finished>) {
  for (let failures = 0; ; failures += 1) {
    const ballast = await fillUp(disk);
    const { size } = await stat(ballast);
    await truncate(ballast, Math.max(0, size - (1 + failures * step) * 1024 * 1024));
    const { code, stderr } = await run();
    await rm(ballast);
    if (code === 0) return failures;
    assert.equal(code, 75, stderr);
    assert.match(stderr, /^oddwire: .*(?:full|free|space)[^\n]*\n$/);
  }
}

test("an import and an export that are killed are finished by the same command", {
  skip: embeddedOnly,
}, async (t) => {
  const { folder, lake, expected, settings } = await openLake(t, 42);
  const random = new SeededRandom(testSeed);
  const dataDir = join(folder, "data");
  const words = ["import", "--lake", lake, "--data-dir", dataDir];
  for (let round = 0; round < kills; round += 1) {
    const child = startCommand(words, settings);
    // This delay waits for nothing. It makes the moment of the kill random.
    await delay(500 + random.next() * 2500);
    await kill(child);
  }
  const { code, stderr } = await runCommand(words, settings);
  assert.equal(code, 0, stderr);
  await assertStoreHolds(dataDir, expected);

  const copy = join(folder, "copy");
  const [first] = (await readManifest(openFolderLake(lake), null)).slices;
  const write = ["export", "--data-dir", dataDir, "--lake"];
  const began = await runCommand([...write, copy, "--to", first?.date ?? ""], settings);
  assert.equal(began.code, 0, began.stderr);
  // Blocks of the first day are repaired: an export writes this day again, and then the days that are missing.
  const emptied = expected
    .slice(1, 8)
    .map(({ number, hash, timestamp }) => ({ ...emptyBlock, number, hash, timestamp }));
  const engine = await openFolder(dataDir);
  await orderRepair(engine, encode(emptied));
  await finishRepair(engine, () => {});
  await engine.close();
  let killed = 0;
  for (let changes = 1; ; changes = 2 * changes + 3) {
    const child = startCommand([...write, copy], settings);
    await untilChanged(copy, changes, child);
    await kill(child);
    if (child.exitCode === 0) break;
    assert.equal(child.signalCode, "SIGKILL");
    killed += 1;
    assert((await readVerified(copy)).slices.length > 0);
  }
  assert(killed > 3, String(killed));
  const fresh = join(folder, "fresh");
  const other = join(folder, "other");
  await cp(dataDir, other, { recursive: true });
  const running = startCommand([...write, fresh], settings);
  cleanUp(t, () => kill(running));
  // What is written first besides the lock is written with it.
  await waitFor("the first table", async () => {
    const names = await readdir(fresh).catch(() => []);
    return names.some((name) => !name.startsWith("lock")) ? true : null;
  });
  running.kill("SIGSTOP");
  const refused = await runCommand(["export", "--data-dir", other, "--lake", fresh], settings);
  assert.equal(refused.code, 75);
  assert.equal(
    refused.stderr,
    `oddwire: another process exports to ${fresh}; wait until it has finished\n`,
  );
  running.kill("SIGCONT");
  const [ended] = await once(running, "exit");
  assert.equal(ended, 0);
  const [written, all] = await Promise.all([copy, fresh].map(assertComplete));
  assert(written !== undefined && all !== undefined);
  assert.deepEqual(toContents(written), toContents(all));
});

function startCommand(words: readonly string[], settings: Record<string, string>): ChildProcess {
  const env = { ...systemSettings(), ...settings };
  return spawn(process.execPath, [cli, ...words], { env, stdio: "ignore" });
}

/** Resolves after so many changes of files, or when the process has ended. */
async function untilChanged(folder: string, changes: number, child: ChildProcess): Promise<void> {
  let left = changes;
  await mkdir(folder, { recursive: true });
  const watcher = watch(folder, { recursive: true });
  await new Promise<void>((resolve) => {
    watcher.on("change", () => {
      left -= 1;
      if (left === 0) resolve();
    });
    child.once("exit", () => resolve());
  });
  watcher.close();
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
