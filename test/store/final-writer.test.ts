/** Final blocks are appended in groups: in order, in few appends, and with their rows in files until then. */
import assert from "node:assert/strict";
import { readdir, readlink } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { storeLimits } from "../../src/base/config/limits.ts";
import type { Coverage } from "../../src/chain/raw-log.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { Delta } from "../../src/market/delta.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { FinalWriter } from "../../src/storage/append/final-writer.ts";
import { DataDirectoryUnwritableError } from "../../src/storage/engine/store-errors.ts";
import { anyChain } from "../support/generate-chain.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import {
  encode,
  getBatches,
  getFacts,
  getFills,
  joinedDelta,
  withLedger,
} from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { waitFor } from "../support/wait-for.ts";

/** Longer than any test takes. */
const endlessMs = 3_600_000;

const [facts = []] = fc
  .sample(anyChain({ blocksMin: 40, blocksMax: 40 }), { seed: testSeed, numRuns: 1 })
  .map((chain) => withLedger(getFacts(chain)));

async function openWriter(t: TestContext, waitMs: number) {
  const folder = await StoreFolder.open(t);
  const reported: Delta[] = [];
  const { writer: store } = folder.store;
  assert(store !== null);
  const onAppended = (batch: Coverage, delta: Delta) => {
    store.cover(batch);
    reported.push(delta);
  };
  const writer = new FinalWriter(store, { onAppended, waitMs });
  return { folder, store: folder.store, writer, reported };
}

async function writeAll(writer: FinalWriter, blocks: readonly BlockFacts[], sizes: number[]) {
  for (const batch of getBatches(blocks, sizes)) await writer.write(encode(batch), { more: true });
}

/** The number of deleted spool files that this process still has open. */
async function countRowFiles(): Promise<number> {
  const links = (await readdir("/proc/self/fd")).map(async (fd) =>
    readlink(`/proc/self/fd/${fd}`).catch(() => ""),
  );
  return (await Promise.all(links)).filter((path) => /-rows-[0-9]+ \(deleted\)$/.test(path)).length;
}

/** Waits until all spool files are closed. The engine closes them a little after it has read them. */
async function untilNoRowFiles(): Promise<void> {
  await waitFor("closed files", async () => ((await countRowFiles()) > 0 ? null : true));
}

test("batches of any size are stored and reported in order, with one commit record for the whole group", async (t) => {
  const { store, writer, reported } = await openWriter(t, endlessMs);
  const sizes = [1, 3, 2];
  await writeAll(writer, facts, sizes);
  await writer.drain();
  assert.deepEqual(
    reported,
    getBatches(facts, sizes).map((batch) => joinedDelta(batch)),
  );
  const page = { order: "asc", after: null, limit: 100_000, filter: {} } as const;
  assert.deepEqual(await readFills(store, { ...page, finalizedOnly: true }), getFills(facts));
  assert.deepEqual(await store.engine.query("SELECT count() FROM commits"), [[1]]);
  await untilNoRowFiles();
});

test("a batch that waits for its group is not reported before it is stored, and its rows are not in memory", async (t) => {
  const { writer, reported } = await openWriter(t, endlessMs);
  const batch = encode(facts);
  await writer.write(batch, { more: true });
  assert.deepEqual([batch.rows.fills.length, batch.rows.minuteCandles.length], [0, 0]);
  assert.deepEqual(reported, []);
  assert.notEqual(await countRowFiles(), 0);
  await writer.drain();
  assert.equal(reported.length, 1);
});

test("a batch is appended after the configured wait", async (t) => {
  const { writer, reported, store } = await openWriter(t, 1);
  await writer.write(encode(facts.slice(0, 10)), { more: true });
  await waitFor("an append", async () => reported.length > 0 || null);
  assert.equal(store.coverage?.last.number, facts[9]?.number);
  await writer.drain();
});

test("a batch is appended without waiting if no more batches are known to follow", async (t) => {
  const { writer, reported } = await openWriter(t, endlessMs);
  await writer.write(encode(facts), { more: false });
  await waitFor("an append", async () => reported.length > 0 || null);
  assert.deepEqual(reported, [joinedDelta(facts)]);
  await writer.drain();
});

test("a full group is appended without waiting", async (t) => {
  const { writer, reported } = await openWriter(t, endlessMs);
  const { groupBatchesMax } = storeLimits;
  for (let number = 0; number < groupBatchesMax; number += 1) {
    await writer.write(encode([emptyBlock(number)]), { more: true });
  }
  await waitFor("an append", async () => reported.length >= groupBatchesMax || null);
  await writer.drain();
});

test("the error of a failed append is thrown by the next write, and no file stays open", {
  skip: embeddedOnly,
}, async (t) => {
  const { writer, store, reported } = await openWriter(t, 1);
  await store.engine.command("DROP TABLE fills SYNC");
  const writing = async () => {
    for (const block of facts) await writer.write(encode([block]), { more: true });
    await writer.drain();
  };
  await assert.rejects(writing(), DataDirectoryUnwritableError);
  assert.deepEqual(reported, []);
  await untilNoRowFiles();
});

test("a failed append is reported after the appends in progress have ended", async (t) => {
  const { folder, writer } = await openWriter(t, endlessMs);
  const { writer: store } = folder.store;
  assert(store !== null);
  const steps: string[] = [];
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  store.commit = async () => {
    begun.resolve();
    await released.promise;
    steps.push("the first append is committed");
  };
  await writer.write(encode(facts.slice(0, 10)), { more: false });
  await begun.promise;
  store.writeFacts = async () => {
    throw new Error("the disk is full");
  };
  await writer.write(encode(facts.slice(10)), { more: false });
  await turn();
  const draining = assert.rejects(writer.drain(), /the disk is full/);
  const reported = draining.then(() => steps.push("the second one is reported"));
  await turn();
  released.resolve();
  await reported;
  assert.deepEqual(steps, ["the first append is committed", "the second one is reported"]);
});

function emptyBlock(number: number): BlockFacts {
  const [block] = facts;
  assert(block !== undefined);
  return { ...block, number, fills: [], events: [], quarantined: [], anomalies: [] };
}
