/** The scripts `backup` and `restore`, with a data directory that a service has filled. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { lockDataDirectory } from "../../src/storage/directory/data-directory.ts";
import { cleanUp } from "../support/clean-up.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import type { Service } from "../support/service.ts";

const recording = readRecording("contracts-gen3");

type Ended = { readonly code: number; readonly reported: string };

/** Runs a script of `deploy/` and returns its exit code and output. */
async function run(script: string, words: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(new URL(`../../deploy/${script}`, import.meta.url));
  return new Promise((resolve) => {
    execFile("sh", [path, ...words], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), reported: stdout + stderr });
    });
  });
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-backup-"));
  cleanUp(t, async () => rm(folder, { recursive: true }));
  return folder;
}

async function readAll(service: Service): Promise<unknown> {
  const lists = ["/v1/trades", "/v1/markets", "/v1/resolutions", "/v1/cancellations"];
  return Promise.all(lists.map(async (path) => service.getAllPages(path)));
}

test("a service with a restored folder returns the same rows and accepts the same keys", async (t) => {
  const folder = await makeFolder(t);
  const archive = join(folder, "kept.tar.gz");
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);

  const early = await run("backup", [stage.dataDir, archive]);
  assert.equal(early.code, 75, early.reported);
  assert.match(early.reported, /the service or a command is running/);
  assert.deepEqual(await readdir(folder), []);

  const before = await readAll(service);
  assert.equal(await service.stop(), 0);
  const packed = await run("backup", [stage.dataDir, archive]);
  assert.equal(packed.code, 0, packed.reported);
  assert.deepEqual((await readdir(folder)).toSorted(), ["kept.tar.gz", "kept.tar.gz.sha256"]);

  await rm(stage.dataDir, { recursive: true });
  const unpacked = await run("restore", [archive, stage.dataDir]);
  assert.equal(unpacked.code, 0, unpacked.reported);
  const restored = await stage.startService();
  assert.deepEqual(await readAll(restored), before);
  assert.equal(await restored.stop(), 0);
});

test("backup refuses a folder that is not a data directory, and never overwrites a file", async (t) => {
  const folder = await makeFolder(t);
  const archive = join(folder, "kept.tar.gz");
  assert.match((await run("backup", [folder, archive])).reported, /is not a data directory/);
  await writeFile(archive, "someone's");
  await writeFile(join(folder, "oddwire.json"), "{}");
  const { code, reported } = await run("backup", [folder, archive]);
  assert.equal(code, 1);
  assert.match(reported, /exists/);
});

test("a second backup to the same archive leaves the file of the first alone", async (t) => {
  const folder = await makeFolder(t);
  await writeFile(join(folder, "oddwire.json"), "{}");
  const archive = join(folder, "kept.tar.gz");
  const unlock = lockDataDirectory(folder);
  await writeFile(`${archive}.part`, "half an archive");
  const { code, reported } = await run("backup", [folder, archive]);
  unlock();
  assert.equal(code, 75, reported);
  assert.equal(await readFile(`${archive}.part`, "utf8"), "half an archive");
});

test("restore refuses a damaged archive and a folder that is not empty, and leaves nothing behind", async (t) => {
  const folder = await makeFolder(t);
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  // A service that stops without having stored anything leaves no data directory to back up.
  await service.waitFinalized(stage.head);
  assert.equal(await service.stop(), 0);
  const archive = join(folder, "kept.tar.gz");
  const packed = await run("backup", [stage.dataDir, archive]);
  assert.equal(packed.code, 0, packed.reported);

  assert.match((await run("restore", [archive, stage.dataDir])).reported, /is not empty/);
  const file = await open(archive, "r+");
  await file.write(Buffer.from("oddwire"), 0, 7, 100);
  await file.close();
  const target = join(folder, "restored");
  const { code, reported } = await run("restore", [archive, target]);
  assert.equal(code, 1);
  assert.match(reported, /is damaged/);
  assert.ok(!(await readdir(folder)).includes("restored"));
});
