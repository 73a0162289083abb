/** A process that only reads what another one writes: it waits, verifies, and reads no rows before they are complete. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { ConfigError } from "../../src/base/config/config.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { FactReader } from "../../src/storage/server/fact-reader.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, readingUser } from "../support/clickhouse/clickhouse-server.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getFacts, withLedger } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

/** Batches share minutes and hours at their ends, and contain whole ones. */
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 120 }).map((plan, index) => ({
  ...plan,
  secondsLater: index % 10 === 5 ? 3600 : plan.secondsLater % 60,
}));
const blocks = withLedger(getFacts(buildChain(plans)));
const batches = [blocks.slice(0, 40), blocks.slice(40, 80), blocks.slice(80)];

type Scene = {
  readonly place: ServerDatabase;
  readonly write: () => Promise<IndexedFacts>;
  readonly read: (
    from?: ServerDatabase,
    onWaiting?: (reason: string) => void,
  ) => Promise<FactReader>;
};

async function openScene(t: TestContext, server: ClickHouseServer, name: string): Promise<Scene> {
  const dataDir = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
  const identity = toIdentity(137, knownContracts());
  const of = { database: name, cluster: null, identity };
  const place = { url: server.url, user: "default", password: "", spoolDir: dataDir, ...of };
  const closedAfter = <One extends { close(): Promise<void> }>(one: One): One => {
    cleanUp(t, () => one.close());
    return one;
  };
  const { signal } = new AbortController();
  return {
    place,
    write: async () => closedAfter(await IndexedFacts.open(dataDir, () => openDatabase(place))),
    read: async (from = place, onWaiting = () => {}) =>
      closedAfter(await FactReader.open(from, { signal, onWaiting })),
  };
}

test("a reader waits for the server and for the tables, and reports the reason", async (t) => {
  const server = await ClickHouseServer.open(t);
  const { place, read, write } = await openScene(t, server, "waiting");
  await server.kill();
  const reasons: string[] = [];
  const opening = read(place, (reason) => reasons.push(reason));
  const reported = (reason: RegExp) =>
    waitFor(`the reason ${reason}`, async () => (reason.test(reasons.at(-1) ?? "") ? true : null));
  await reported(/cannot be reached/);
  await server.restart();
  await reported(/database `?waiting`? does not exist/i);
  await server.ask("CREATE DATABASE waiting");
  await reported(/^the database waiting has no tables yet$/);
  await write();
  assert.equal((await opening).coverage, null);
});

test("a reader refuses a database of another chain", async (t) => {
  const { place, write } = await openScene(t, await ClickHouseServer.open(t), "others");
  await write();
  const identity = { ...place.identity, chain_id: 1 };
  const options = { signal: new AbortController().signal, onWaiting: () => {} };
  await assert.rejects(FactReader.open({ ...place, identity }, options), ConfigError);
});

test("a reader covers a range once every table has all of its rows, in whatever order they arrive", async (t) => {
  const server = await ClickHouseServer.open(t);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...tables], { minLength: tables.length }),
      async (order) => {
        runs += 1;
        const { write, read } = await openScene(t, server, `run_${runs}`);
        const [first, second] = batches;
        assert(first !== undefined && second !== undefined);
        const writer = await write();
        await appendFacts(writer, encode(first));
        const reader = await IndexedFacts.load(await read());
        const store = reader.store;
        assert(store instanceof FactReader);
        assert.deepEqual(reader.coverage, writer.coverage);
        const batch = encode(second);
        const needed = order.filter(
          (table) => table !== "quarantine" || batch.rows.quarantine.length > 0,
        );
        for (const table of needed) {
          assert.equal(await store.verifyNext(), null, `without ${table}`);
          await appendPart(writer, batch, [table]);
        }
        const range = await store.verifyNext();
        assert(range !== null);
        reader.cover(range);
        assert.equal(reader.coverage?.last.number, second.at(-1)?.number);
        assert.equal(await store.verifyNext(), null);
        const late = await read();
        assert.deepEqual(late.coverage, reader.coverage);
      },
    ),
    propertySettings(8),
  );
});

test("a reader needs only the SELECT privilege, and follows several commits in one step", async (t) => {
  const server = await ClickHouseServer.open(t);
  const { place, write, read } = await openScene(t, server, "followed");
  const writer = await write();
  const reader = await read({ ...place, user: readingUser });
  for (const batch of batches) await appendFacts(writer, encode(batch));
  const range = await reader.verifyNext();
  assert(range !== null);
  reader.cover(range);
  assert.deepEqual(reader.coverage, writer.coverage);
});
