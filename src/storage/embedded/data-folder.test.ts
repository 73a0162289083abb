import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { ConfigError } from "../../base/config/config.ts";
import { parseContracts } from "../../contracts/contracts.ts";
import { polygonContracts } from "../../contracts/polygon-contracts.ts";
import { DataFolderBusyError } from "../engine/store-errors.ts";
import {
  claimDataFolder,
  lockDataFolder,
  recordStartBlock,
  releaseDataFolder,
  releaseIfRefused,
} from "./data-folder.ts";

const contracts = parseContracts(polygonContracts);
assert(!("mistakes" in contracts));

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  return folder;
}

const claim = (folder: string, chainId = 137) => claimDataFolder(folder, { chainId, contracts });

test("a folder is locked until it is unlocked, and the error says what to do", async (t) => {
  const folder = join(await openFolder(t), "new");
  const unlock = lockDataFolder(folder);
  assert.throws(
    () => lockDataFolder(folder),
    (thrown) => {
      assert(thrown instanceof DataFolderBusyError);
      assert.match(
        thrown.message,
        /using the data folder .*new; stop it, or set another ODDWIRE_DATA_DIR$/,
      );
      return true;
    },
  );
  unlock();
  lockDataFolder(folder)();
});

test("a lock that something else has written to is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  const path = join(folder, "lock");
  await writeFile(path, "something else");
  assert.throws(() => lockDataFolder(folder), /ODDWIRE_DATA_DIR .*lock is not empty; delete it/);
  await rm(path);
  lockDataFolder(folder)();
});

test("a folder belongs to the chain it was first used for, and contains only its identity", async (t) => {
  const folder = await openFolder(t);
  await claim(folder);
  assert.deepEqual(await readdir(folder), ["oddwire.json"]);
  await claim(folder);
  await assert.rejects(claim(folder, 138), ConfigError);
});

test("a folder of a version that decodes other events is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  await claim(folder);
  const path = join(folder, "oddwire.json");
  const identity = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...identity, events: "0".repeat(64) }));
  await assert.rejects(claim(folder), (error: unknown) => {
    assert(error instanceof ConfigError);
    assert.match(error.mistakes.join(), /decodes other events.*empty ODDWIRE_DATA_DIR/);
    return true;
  });
});

test("a folder of another format is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  await claim(folder);
  const path = join(folder, "oddwire.json");
  const identity = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...identity, format: 1 }));
  await assert.rejects(claim(folder), (error: unknown) => {
    assert(error instanceof ConfigError);
    assert.match(
      error.mistakes.join(),
      /is of format 1, this version reads format \d+; index again/,
    );
    return true;
  });
});

test("the start block is stored, and the folder still belongs to its chain after a release", async (t) => {
  const folder = await openFolder(t);
  assert.equal(await claim(folder), null);
  assert.equal(await claim(folder), null);
  await recordStartBlock(folder, 77);
  await releaseDataFolder(folder);
  assert.equal(await claim(folder), 77);
  assert.deepEqual(await readdir(folder), ["oddwire.json"]);
  await assert.rejects(claim(folder, 138), ConfigError);
});

for (const text of [
  "",
  '{"format":2,"start_block":-1}',
  '{"format":2,"start_block":"7"}',
  '{"format":2',
  "null",
  "7",
]) {
  test(`"${text}" in oddwire.json is refused as damage`, async (t) => {
    const folder = await openFolder(t);
    await writeFile(join(folder, "oddwire.json"), text);
    await assert.rejects(claim(folder), (error: unknown) => {
      assert(error instanceof ConfigError);
      assert.match(error.mistakes.join(), /is damaged; restore it/);
      return true;
    });
  });
}

test("a path that cannot be a folder is a configuration error", async (t) => {
  const folder = await openFolder(t);
  const file = join(folder, "file");
  await writeFile(file, "");
  for (const path of [file, join(file, "below")]) {
    await assert.rejects(claim(path), (error: unknown) => {
      assert(error instanceof ConfigError);
      assert.match(error.mistakes.join(), /cannot be used: E/);
      return true;
    });
  }
});

test("a start that its settings do not fit leaves the folder to the right ones", async (t) => {
  const folder = await openFolder(t);
  await claim(folder, 5);
  await assert.rejects(releaseIfRefused(folder, Promise.reject(new Error("away"))), /away/);
  await assert.rejects(claim(folder, 137), ConfigError);
  const refused = Promise.reject(new ConfigError(["of another chain"]));
  await assert.rejects(releaseIfRefused(folder, refused), ConfigError);
  await claim(folder, 137);
});
