/**
 * Failures of replicas and Keepers, which only a real cluster has. The tests run only with the settings that
 * docs/clickhouse.md lists. The commands in them stop and start parts of the cluster.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { readFills } from "../../src/query/read-fills.ts";
import { FactReader } from "../../src/storage/server/fact-reader.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { cleanUp } from "../support/clean-up.ts";
import { clusterOnly, realCluster, realPlace } from "../support/clickhouse/real-cluster.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getBatches, getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

const blocks = getFacts(buildChain(fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 200 })));
const batches = getBatches(blocks, [10]);
const page = { filter: {}, order: "asc", after: null, limit: 10, finalizedOnly: true } as const;

/** The reason to skip a test that needs this command, or `false`. */
function withoutCommand(name: string): string | false {
  return clusterOnly || (process.env[name] === undefined && `${name} is not set`);
}

async function run(name: string): Promise<void> {
  await promisify(execFile)("sh", ["-c", process.env[name] ?? "false"]);
}

async function openWriter(
  t: TestContext,
): Promise<{ writer: IndexedFacts; place: ServerDatabase }> {
  const dataDir = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
  const place = realPlace(`oddwire_test_${randomUUID().replaceAll("-", "")}`);
  const writer = await IndexedFacts.open(dataDir, () => openDatabase(place));
  cleanUp(t, () => writer.close());
  return { writer, place };
}

const replicaUrl = realCluster?.replicaUrl ?? null;
const replicaSkip = clusterOnly || (replicaUrl === null && "no REPLICA_URL is set");
test("a replica that cannot fetch rows does not cover them until it has fetched them", {
  skip: replicaSkip,
}, async (t) => {
  const { writer, place } = await openWriter(t);
  const [first, second] = batches;
  assert(first !== undefined && second !== undefined);
  await appendFacts(writer, encode(first));
  const replica = { ...place, url: replicaUrl ?? place.url };
  const options = { signal: new AbortController().signal, onWaiting: () => {} };
  const reader = await FactReader.open(replica, options);
  cleanUp(t, () => reader.close());
  await reader.engine.command("SYSTEM STOP FETCHES");
  cleanUp(t, () => reader.engine.command("SYSTEM START FETCHES"));
  await appendFacts(writer, encode(second));
  assert.equal(await reader.verifyNext(), null);
  await reader.engine.command("SYSTEM START FETCHES");
  const range = await waitFor("the rows", () => reader.verifyNext());
  assert.equal(range.last.number, second.at(-1)?.number);
});

const replicaCommands = ["ODDWIRE_TEST_KILL_REPLICA", "ODDWIRE_TEST_START_REPLICA"] as const;
const killSkip = withoutCommand(replicaCommands[0]) || withoutCommand(replicaCommands[1]);
test("R10: nothing is lost or repeated if a replica is killed during inserts", {
  skip: killSkip,
}, async (t) => {
  const { writer } = await openWriter(t);
  const killed = run(replicaCommands[0]);
  for (const batch of batches) await appendFacts(writer, encode(batch));
  await killed;
  await run(replicaCommands[1]);
  await assertTablesHold(writer, blocks);
});

const keeperCommands = ["ODDWIRE_TEST_STOP_KEEPERS", "ODDWIRE_TEST_START_KEEPERS"] as const;
const keeperSkip = withoutCommand(keeperCommands[0]) || withoutCommand(keeperCommands[1]);
test("without a majority of Keepers, reads continue and appends wait", {
  skip: keeperSkip,
}, async (t) => {
  const { writer } = await openWriter(t);
  const [first, ...others] = batches;
  assert(first !== undefined);
  await appendFacts(writer, encode(first));
  await run(keeperCommands[0]);
  const appending = (async () => {
    for (const batch of others) await appendFacts(writer, encode(batch));
  })();
  assert.equal((await readFills(writer, page)).length, page.limit);
  await run(keeperCommands[1]);
  await appending;
  await assertTablesHold(writer, blocks);
});
