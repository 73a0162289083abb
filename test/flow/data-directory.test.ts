/** `serve` must refuse data directories that are in use by another process, of another chain, or damaged. */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawnSync } from "node:child_process";
import {
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { LocalAccess } from "../../src/access/local/local-access.ts";
import { openLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { AuditLog } from "../../src/feed/audit-log.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { scriptBlocks } from "../support/script-blocks.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { Service, type ServiceOptions } from "../support/service.ts";
import { encode, getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 });
const chain = buildChain(plans);

async function openScene(t: TestContext): Promise<ServiceOptions> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const node = await ScriptedNode.open({ blocks: scriptBlocks(chain.map(({ block }) => block)) });
  cleanUp(t, async () => {
    await node.close();
    await rm(folder, { recursive: true });
  });
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain[0]?.block.number),
  };
  return { rpcUrls: [node.url], dataDir: join(folder, "data"), settings };
}

/** Asserts that the service ends before it listens, with this exit code and these words. */
async function assertRefuses(options: ServiceOptions, code: number, words: RegExp): Promise<void> {
  const starting = Service.open(options).then((service) => service.kill9());
  await assert.rejects(starting, (error: Error) => {
    assert.match(String(error.cause), new RegExp(`exit code ${code}$`), error.message);
    assert.match(error.message, words);
    return true;
  });
}

const isInUse =
  /^oddwire: another process is using the data directory \S+; stop it, or set another/m;

/** Options of a serving node whose ClickHouse and Redis are down. */
function inCluster(options: ServiceOptions): ServiceOptions {
  const settings = {
    ODDWIRE_CLICKHOUSE_URL: "http://127.0.0.1:1",
    ODDWIRE_REDIS_URL: "redis://127.0.0.1:1",
    ODDWIRE_HMAC_PEPPER: "p".repeat(32),
  };
  return { ...options, role: "api", rpcUrls: [], settings: { ...options.settings, ...settings } };
}

test("a second process with the same data directory exits with 75; the first continues", async (t) => {
  const options = await openScene(t);
  const service = await Service.open(options);
  await assertRefuses(options, 75, isInUse);
  await assertRefuses(inCluster(options), 75, isInUse);
  const last = chain.at(-1)?.block.number ?? 0;
  await service.waitFinalized(last);
  assert.equal(await service.stop(), 0);
  await (await IndexedFacts.open(options.dataDir)).close(); // The folder is free now.
});

test("a serving node that waits for facts locks its data directory", async (t) => {
  const options = await openScene(t);
  let child: ChildProcess | null = null;
  const onSpawn = (_kill9: () => void, spawned: ChildProcess) => {
    child = spawned;
  };
  const starting = Service.open({ ...inCluster(options), onSpawn });
  starting.catch(() => {}); // It ends before it listens.
  const lock = join(options.dataDir, "lock");
  await waitFor("a locked folder", () => stat(lock).catch(() => null));
  await assertRefuses(options, 75, isInUse);
  await assertRefuses(inCluster(options), 75, isInUse);
  assert((child as ChildProcess | null)?.kill("SIGTERM"));
  await assert.rejects(starting, (error: Error) => String(error.cause).endsWith("exit code 0"));
});

test("a start with nodes of another chain leaves an empty folder usable for the right chain", async (t) => {
  const options = await openScene(t);
  const settings = { ...options.settings, ODDWIRE_CHAIN_ID: "1" };
  const words = /serves chain 137, not chain 1/;
  await assertRefuses({ ...options, settings }, 1, words);
  const service = await Service.open(options);
  await service.waitFinalized(chain.at(-1)?.block.number ?? 0);
  assert.equal(await service.stop(), 0);
  const holds =
    /holds chain 137, ODDWIRE_CHAIN_ID is 1; set ODDWIRE_CHAIN_ID=137, or use another ODDWIRE_DATA_DIR/;
  await assertRefuses({ ...options, settings }, 2, holds);
});

test("a directory is not continued on another chain of the same id, longer or shorter", async (t) => {
  const options = await openScene(t);
  const first = await Service.open(options);
  await first.waitFinalized(chain.at(-1)?.block.number ?? 0);
  const stored = await first.getAllPages("/v1/fills?order=asc&limit=1000");
  assert.equal(await first.stop(), 0);
  for (const numRuns of [60, 20]) {
    const others = fc.sample(anyBlockPlan(), { seed: testSeed + 1, numRuns });
    const blocks = buildChain(others, { salt: "other" }).map(({ block }) => block);
    const node = await ScriptedNode.open({ blocks: scriptBlocks(blocks) });
    cleanUp(t, async () => node.close());
    const service = await Service.open({ ...options, rpcUrls: [node.url] });
    await service.waitUnready("chain");
    assert.deepEqual(await service.getAllPages("/v1/fills?order=asc&limit=1000"), stored);
    assert.equal(await service.stop(), 0);
  }
});

test("a service that started at the latest block loses nothing if it is killed before any block is final", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const node = await ScriptedNode.open({ blocks: scriptBlocks(chain.map(({ block }) => block)) });
  const numbers = chain.map(({ block }) => block.number);
  const at = (index: number) => numbers[index] ?? 0;
  node.setFinalized(at(0));
  node.setHead(at(5));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: "latest",
  };
  const options = { rpcUrls: [node.url], dataDir: join(folder, "data"), settings };
  cleanUp(t, async () => {
    await node.close();
    await rm(folder, { recursive: true });
  });
  const ids = async (service: Service) => {
    const rows = await service.getAllPages("/v1/fills?order=asc&limit=1000");
    return rows.map((row) => row["id"]);
  };
  const first = await Service.open(options);
  await first.waitIndexed(at(5));
  node.setHead(at(20));
  await first.waitIndexed(at(20));
  const served = await ids(first);
  assert(served.length > 0);
  await first.kill9();
  node.setHead(at(25));
  // The folder knows where indexing started, both after a stop and after a kill.
  for (const end of ["stop", "kill9"] as const) {
    const service = await Service.open(options);
    await service.waitIndexed(at(25));
    assert.deepEqual((await ids(service)).slice(0, served.length), served);
    await service[end]();
  }
});

test("a folder with facts is refused without its oddwire.json or start block, and stays as it is", async (t) => {
  const options = await openScene(t);
  const service = await Service.open(options);
  await service.waitFinalized(chain.at(-1)?.block.number ?? 0);
  assert.equal(await service.stop(), 0);
  const path = join(options.dataDir, "oddwire.json");
  const { start_block: _, ...incomplete } = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify(incomplete));
  const words = /^oddwire: .*oddwire\.json is missing or incomplete, .*; restore a backup/m;
  await assertRefuses(options, 1, words);
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), incomplete);
  await rm(path);
  const otherChain = { ...options.settings, ODDWIRE_CHAIN_ID: "1" };
  for (const settings of [{ ...options.settings }, otherChain]) {
    await assertRefuses({ ...options, settings }, 1, words);
    assert(!(await readdir(options.dataDir)).includes("oddwire.json"));
  }
});

/** Whether a process has the file open. */
async function hasOpen(child: ChildProcess | null, path: string): Promise<boolean> {
  const fds = `/proc/${child?.pid}/fd`;
  const open = (await readdir(fds).catch(() => [])).map(async (fd) =>
    readlink(join(fds, fd)).catch(() => ""),
  );
  return (await Promise.all(open)).includes(path);
}

test("a service that is stopped during its start ends with 0 and leaves an empty folder usable for any chain", async (t) => {
  const options = await openScene(t);
  const pipe = join(options.dataDir, "..", "pepper");
  execFileSync("mkfifo", [pipe]);
  const settings = { ...options.settings, ODDWIRE_HMAC_PEPPER_FILE: pipe };
  let child: ChildProcess | null = null;
  const ended = Promise.withResolvers<number | null>();
  const starting = Service.open({
    ...options,
    rpcUrls: ["http://127.0.0.1:1"],
    settings,
    onSpawn: (_kill9, spawned) => {
      child = spawned;
      spawned.once("exit", (code) => ended.resolve(code));
    },
  });
  starting.catch(() => {}); // It can end before it listens.
  // The pipe is read twice: before the modules are loaded, and by the command.
  for (const isLast of [false, true]) {
    const writer = await open(pipe, "w");
    if (isLast) assert((child as ChildProcess | null)?.kill("SIGTERM"));
    await writer.write("p".repeat(32));
    await writer.close();
    // A previous reader that is still there would read the text meant for the next.
    await waitFor("a closed pipe", async () => ((await hasOpen(child, pipe)) ? null : true));
  }
  assert.equal(await ended.promise, 0);
  assert(!(await readdir(options.dataDir)).includes("oddwire.json"));
});

/** Patterns of engine files below `data/facts`, and the damage that is done to each of these files. */
const damages: readonly (readonly [string, RegExp, (path: string) => Promise<void>])[] = [
  ["rows of fills cut off", /^store\/.*\/data\.bin$/, halve],
  ["mark files cut off", /^store\/.*\/data\.cmrk\d$/, halve],
  ["lists of columns cut off", /^store\/.*\/columns\.txt$/, halve],
  ["definitions of tables cut off", /^store\/[^/]+\/[^/]+\/\w+\.sql$/, halve],
  ["definitions of databases cut off", /^metadata\/\w+\.sql$/, halve],
  ["a flipped bit", /^store\/.*\/data\.bin$/, flip],
];

async function halve(path: string): Promise<void> {
  await truncate(path, Math.floor((await stat(path)).size / 2));
}

async function flip(path: string): Promise<void> {
  const file = await open(path, "r+");
  const at = Math.floor((await file.stat()).size / 2);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.of(buffer.readUInt8() ^ 1), 0, 1, at);
  await file.close();
}

test("a damaged file that cannot be rebuilt is refused by name, with exit code 1", async (t) => {
  const options = await openScene(t);
  const { dataDir } = options;
  assert.equal(await (await Service.open(options)).stop(), 0);
  const cutOff = halve;
  const ofSomethingElse = (path: string) => writeFile(path, Buffer.alloc(8192, "else"));
  const ofOtherTables = async (path: string) => {
    await rm(path);
    const sql = new DatabaseSync(path);
    sql.exec("CREATE TABLE keys (id INTEGER)");
    sql.close();
  };
  const log = openLog({ level: "silent" });
  const access = { dataDir, pepper: null, clock: systemClock, log };
  for (const [name, open, damages] of [
    ["audit.json", () => AuditLog.open(dataDir), [cutOff, ofSomethingElse]],
    [
      "access.sqlite",
      async () => LocalAccess.open(access),
      [ofOtherTables, ofSomethingElse, cutOff],
    ],
  ] as const) {
    const path = join(dataDir, name);
    const whole = await readFile(path);
    for (const damage of damages) {
      await writeFile(path, whole);
      await damage(path);
      const wayOut = new RegExp(`/${name} is damaged; restore a backup, or delete it`);
      await assert.rejects(open(), wayOut);
    }
    const words = new RegExp(`^oddwire: .*/${name} is damaged; restore a backup`, "m");
    await assertRefuses(options, 1, words);
    await writeFile(path, whole);
  }
});

/** Overwrites the first page of a table with zeros, as a failing disk can. */
async function zeroTable(path: string, table: string): Promise<void> {
  const sql = new DatabaseSync(path);
  const row = sql.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table);
  const size = Number(sql.prepare("PRAGMA page_size").get()?.["page_size"]);
  sql.close();
  const file = await open(path, "r+");
  await file.write(Buffer.alloc(size), 0, size, (Number(row?.["rootpage"]) - 1) * size);
  await file.close();
}

test("a damaged page of the copy of the markets is rebuilt, whether a start reads it or a request", async (t) => {
  const options = await openScene(t);
  const last = chain.at(-1)?.block.number ?? 0;
  const first = await Service.open(options);
  await first.waitFinalized(last);
  const path = "/v1/trades?limit=1000&order=asc";
  const served = await first.getAllPages(path);
  assert.equal(await first.stop(), 0);
  for (const table of ["pages", "table_places", "table_totals"]) {
    await zeroTable(join(options.dataDir, "markets.sqlite"), table);
    const service = await Service.open(options);
    // The service restarts on the same port when a request has found the damage.
    await waitFor("the same trades", async () =>
      (await service.request(path).catch(() => null))?.status === 200 ? true : null,
    );
    assert.deepEqual(await service.getAllPages(path), served, table);
    assert.equal(await service.stop(), 0);
  }
});

test("a limit of open files that is too low is reported as such, with exit code 2", async (t) => {
  const { dataDir, settings } = await openScene(t);
  const own = { ODDWIRE_DATA_DIR: dataDir, ODDWIRE_RPC_URLS: "http://127.0.0.1:1" };
  const args = ["-c", 'ulimit -n 64 && exec "$0" bin/oddwire.js serve', process.execPath];
  const { status, stderr } = spawnSync("sh", args, { env: { ...settings, ...own } });
  assert.match(String(stderr), /the limit of open files is too low/);
  assert.equal(status, 2);
});

test("damage of what is only read when a key is added is refused with exit code 1", async (t) => {
  const options = await openScene(t);
  assert.equal(await (await Service.open(options)).stop(), 0);
  const path = join(options.dataDir, "access.sqlite");
  const whole = await readFile(path);
  // The index is that of the MACs.
  for (const name of ["issued_values", "sqlite_autoindex_keys_2"]) {
    await writeFile(path, whole);
    await zeroTable(path, name);
    await assertRefuses(options, 1, /^oddwire: .*\/access\.sqlite is damaged; restore a backup/m);
  }
});

describe("a damaged folder is refused, and the message says what to do", () => {
  const wayOut = /.+; restore a backup, or start with an empty data directory( or database)?$/m;
  for (const [index, [what, pattern, damage]] of damages.entries()) {
    test(what, async (t) => {
      const options = await openScene(t);
      const store = await IndexedFacts.open(options.dataDir);
      const facts = getFacts(chain);
      for (const from of [0, 10, 20, 30])
        await appendFacts(store, encode(facts.slice(from, from + 10)));
      await store.close();
      const root = join(options.dataDir, "facts");
      const files = (await readdir(root, { recursive: true })).filter((path) => pattern.test(path));
      assert(files.length > 0, "there is something to damage");
      for (const file of files) await damage(join(root, file));
      for (const _ of ["the first start", "every later one"]) {
        await assert.rejects(IndexedFacts.open(options.dataDir), { message: wayOut });
      }
      // The service reports the same, with its exit code.
      const refused = new RegExp(`^oddwire: ${wayOut.source}`, "m");
      if (index === 0) await assertRefuses(options, 1, refused);
    });
  }
});
