/** R16, R18: replicas get the rows of each table at different times, and no list ever loses a row that it has shown. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import { zeroAddress } from "../../src/market/ledger/ledger-row.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { readEvents } from "../../src/query/read-events.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { readActivity } from "../../src/query/wallets/read-activity.ts";
import { readHolders } from "../../src/query/wallets/read-holders.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { FactReader } from "../../src/storage/server/fact-reader.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { tables } from "../support/append-part.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { LaggingProxy } from "../support/clickhouse/lagging-proxy.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { encode, getBatches, getFacts, getFills, withLedger } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

/** The times are such that minutes and hours end both within batches and between them. */
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 120 }).map((plan, index) => ({
  ...plan,
  secondsLater: index % 15 === 7 ? 3600 : plan.secondsLater % 60,
}));
const blocks = withLedger(getFacts(buildChain(plans)));
const tokenIds = [...new Set(getFills(blocks).map(({ tokenId }) => tokenId))].slice(0, 3);
const kinds = [...new Set(blocks.flatMap(({ events }) => events.map(({ event }) => event.kind)))];
const wallets = [
  ...new Set(blocks.flatMap(({ ledger }) => ledger.map(({ wallet }) => wallet))),
].slice(0, 3);
const place = { order: "asc", after: null, limit: 100_000, finalizedOnly: false } as const;

/** Asserts that every list has exactly the rows of these blocks. */
async function assertListsHold(facts: IndexedFacts, visible: readonly BlockFacts[]): Promise<void> {
  const fills = getFills(visible);
  assert.deepEqual(await readFills(facts, { ...place, filter: {} }), fills);
  const events = visible.flatMap((block) => block.events);
  assert.deepEqual(await readEvents(facts, { ...place, kinds }), events);
  const rows = visible.flatMap(({ ledger }) => ledger);
  const activity = await readActivity(facts, { ...place, wallets, filter: {} });
  assert.deepEqual(
    activity.flatMap((one) => one.rows),
    rows.filter(({ wallet }) => wallets.includes(wallet)),
  );
  for (const tokenId of tokenIds) {
    const changes = visible.flatMap(({ balances }) => balances);
    const held = new Map<string, bigint>();
    for (const { wallet, shares } of changes.filter((change) => change.tokenId === tokenId))
      held.set(wallet, shares + (held.get(wallet) ?? 0n));
    const list = { tokenIds: [tokenId], contracts: [], hasContracts: true, sizeMin: 1n };
    const { holders } = await readHolders(facts, list, { limit: 1000, after: null });
    assert.deepEqual(
      new Map(holders.map(({ wallet, size }) => [wallet, size])),
      new Map([...held].filter(([wallet, size]) => size > 0n && wallet !== zeroAddress)),
    );
    const own = fills.filter((fill) => fill.tokenId === tokenId);
    assert.deepEqual(await readFills(facts, { ...place, filter: { tokenIds: [tokenId] } }), own);
    for (const bucketSeconds of [60, 3600]) {
      const of = { same: [tokenId], inverted: [], bucketSeconds, order: "asc" } as const;
      const all = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1000 };
      const candles = await readCandles(facts, { ...of, ...all });
      assert.deepEqual(
        new Map(candles.map(({ bucket, candle }) => [bucket, candle])),
        naiveCandles(own, of),
      );
    }
  }
}

async function openScene(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
  const server = await ClickHouseServer.open(t);
  const of = { database: "facts", cluster: null, identity: toIdentity(137, knownContracts()) };
  const direct: ServerDatabase = {
    url: server.url,
    user: "default",
    password: "",
    spoolDir: dataDir,
    ...of,
  };
  const proxy = await LaggingProxy.open(t, server, of.database);
  const writer = await IndexedFacts.open(dataDir, () => openDatabase(direct));
  cleanUp(t, () => writer.close());
  return { dataDir, proxy, writer, lagging: { ...direct, url: proxy.url } };
}

test("R16, R18: a node serves every row while tables are behind", async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = new SeededRandom(testSeed);
  const { proxy, writer, lagging } = await openScene(t);
  const [first = [], ...batches] = getBatches(blocks, [30, 25, 35]);
  await appendFacts(writer, encode(first));
  const waiting = { signal: new AbortController().signal, onWaiting: () => {} };
  const store = await FactReader.open(lagging, waiting);
  const node = await IndexedFacts.load(store);
  cleanUp(t, () => node.close());
  let visible = first;
  let waits = 0;
  for (const batch of batches) {
    for (const block of batch) node.apply(toUnfinalizedDelta(block));
    visible = [...visible, ...batch];
    for (const table of tables) await proxy.hold(table);
    await appendFacts(writer, encode(batch));
    const late = tables.toSorted(() => random.next() - 0.5);
    for (const table of late) {
      assert(store.coverage !== null);
      if (store.coverage.last.number < (batch.at(-1)?.number ?? 0)) {
        const range = await store.verifyNext();
        if (range !== null) node.cover(range);
        else waits += 1;
      }
      await assertListsHold(node, visible);
      proxy.release(table);
    }
    const range = await store.verifyNext();
    if (range !== null) node.cover(range);
    assert.equal(node.coverage?.last.number, batch.at(-1)?.number);
    await assertListsHold(node, visible);
  }
  assert(waits > 0);
});

test("a writer waits at its start for replicas that are behind, and reports the reason", async (t) => {
  const { dataDir, proxy, writer, lagging } = await openScene(t);
  const [first = [], second = []] = getBatches(blocks, [60]);
  await appendFacts(writer, encode(first));
  for (const table of tables) await proxy.hold(table);
  await appendFacts(writer, encode(second));
  proxy.release("commits");
  const reasons: string[] = [];
  const opening = IndexedFacts.open(
    dataDir,
    async () => Object.assign(await openDatabase(lagging), { kind: "cluster" }),
    { onWaiting: (reason) => reasons.push(reason) },
  );
  const reason =
    /^table (fills|fills_by_token|events) holds [0-9]+ rows for blocks .*: replicas may/;
  await waitFor("a reason", async () => (reason.test(reasons.at(-1) ?? "") ? true : null));
  const facts = tables.filter((table) => !/candles/.test(table));
  for (const table of facts) proxy.release(table);
  const candles = /^the newest commit records count other trades than the candles: replicas may/;
  await waitFor("a reason", async () => (candles.test(reasons.at(-1) ?? "") ? true : null));
  for (const table of tables) proxy.release(table);
  const opened = await opening;
  cleanUp(t, () => opened.close());
  await assertListsHold(opened, blocks);
});

test("a writer that waits at its start for replicas ends when it is asked to stop", async (t) => {
  const { dataDir, proxy, writer, lagging } = await openScene(t);
  const stop = new AbortController();
  for (const table of tables) await proxy.hold(table);
  await appendFacts(writer, encode(blocks));
  proxy.release("commits");
  const opening = IndexedFacts.open(
    dataDir,
    async () => Object.assign(await openDatabase(lagging), { kind: "cluster" }),
    { onWaiting: () => stop.abort(), signal: stop.signal },
  );
  await assert.rejects(opening, { name: "AbortError" });
});
