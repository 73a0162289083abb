import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { ConfigError } from "../../base/config/config.ts";
import { parseContracts } from "../../contracts/contracts.ts";
import { polygonContracts } from "../../contracts/polygon-contracts.ts";
import { DataDirectoryBusyError, StoreDamagedError } from "../engine/store-errors.ts";
import { lockDataDirectory, readStartBlock, tieDataDirectory } from "./data-directory.ts";

const contracts = parseContracts(polygonContracts);
assert(!("mistakes" in contracts));

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  return folder;
}

const getOwner = (dataDir: string, chainId = 137) => ({ config: { dataDir, chainId }, contracts });
const tie = (folder: string) => tieDataDirectory(getOwner(folder), 77);
const open = (folder: string, chainId?: number) => readStartBlock(getOwner(folder, chainId));

test("a folder is locked until it is unlocked, and the error says what to do", async (t) => {
  const folder = join(await openFolder(t), "new");
  const unlock = lockDataDirectory(folder);
  assert.throws(
    () => lockDataDirectory(folder),
    (thrown) => {
      assert(thrown instanceof DataDirectoryBusyError);
      assert.match(
        thrown.message,
        /using the data directory .*new; stop it, or set another ODDWIRE_DATA_DIR$/,
      );
      return true;
    },
  );
  unlock();
  lockDataDirectory(folder)();
});

test("a lock that something else has written to is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  const path = join(folder, "lock");
  await writeFile(path, "something else");
  assert.throws(() => lockDataDirectory(folder), /ODDWIRE_DATA_DIR .*lock is not empty; delete it/);
  await rm(path);
  lockDataDirectory(folder)();
});

test("a folder belongs to no chain until it is tied, and contains nothing", async (t) => {
  const folder = await openFolder(t);
  for (const chainId of [137, 138]) assert.equal(await open(folder, chainId), null);
  assert.deepEqual(await readdir(folder), []);
});

test("a tied folder belongs to its chain, and its start block is stored", async (t) => {
  const folder = await openFolder(t);
  await tie(folder);
  assert.equal(await open(folder), 77);
  assert.deepEqual(await readdir(folder), ["oddwire.json"]);
  await assert.rejects(open(folder, 138), ConfigError);
});

test("a folder for the facts of a server can be tied without a start block", async (t) => {
  const folder = await openFolder(t);
  await tieDataDirectory(getOwner(folder), null);
  assert.equal(await open(folder), null);
  await assert.rejects(open(folder, 138), ConfigError);
});

test("a folder of a version that decodes other events is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  await tie(folder);
  const path = join(folder, "oddwire.json");
  const identity = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...identity, events: `${"0".repeat(64)}-wallets` }));
  await assert.rejects(open(folder), (error: unknown) => {
    assert(error instanceof ConfigError);
    assert.match(error.mistakes.join(), /decodes other events.*empty ODDWIRE_DATA_DIR/);
    return true;
  });
});

test("a folder that was indexed without wallets is refused, and the error says what to set", async (t) => {
  const folder = await openFolder(t);
  const { config } = getOwner(folder);
  await tieDataDirectory({ config, contracts: { ...contracts, wallets: false } }, 77);
  await assert.rejects(open(folder), (error: unknown) => {
    assert(error instanceof ConfigError);
    assert.match(error.mistakes.join(), /indexed with ODDWIRE_WALLETS=off.*set the same/);
    return true;
  });
});

test("a folder of another format is refused, and the error says what to do", async (t) => {
  const folder = await openFolder(t);
  await tie(folder);
  const path = join(folder, "oddwire.json");
  const identity = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...identity, format: 1 }));
  await assert.rejects(open(folder), (error: unknown) => {
    assert(error instanceof ConfigError);
    assert.match(
      error.mistakes.join(),
      /is of format 1, this version reads format \d+; index again/,
    );
    return true;
  });
});

for (const text of [
  "",
  '{"format":2,"start_block":-1}',
  '{"format":2,"start_block":"7"}',
  '{"format":2',
  "null",
  "7",
  "{}",
  '{"chain_id":137,"contracts":"a","events":"b"}',
  '{"format":7,"chain_id":137}',
]) {
  test(`"${text}" in oddwire.json is refused as damage`, async (t) => {
    const folder = await openFolder(t);
    await writeFile(join(folder, "oddwire.json"), text);
    await assert.rejects(open(folder), (error: unknown) => {
      assert(error instanceof StoreDamagedError);
      assert.match(error.message, /oddwire\.json is damaged; restore a backup/);
      return true;
    });
  });
}

test("a path that cannot be a folder is a configuration error", async (t) => {
  const folder = await openFolder(t);
  const file = join(folder, "file");
  await writeFile(file, "");
  for (const path of [file, join(file, "below")]) {
    await assert.rejects(open(path), (error: unknown) => {
      assert(error instanceof ConfigError);
      assert.match(error.mistakes.join(), /cannot be used: E/);
      return true;
    });
  }
});
