/** R17: what a serving node makes of the feed. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { toTimedBlock } from "../../src/chain/raw-log.ts";
import type { Change } from "../../src/feed/change.ts";
import { FeedFollower } from "../../src/feed/cluster/feed-follower.ts";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { FactReader } from "../../src/storage/server/fact-reader.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { buildChain } from "../support/generate-chain.ts";
import { MemoryFeed } from "../support/memory-feed.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getFacts, withLedger } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

const plan = { secondsLater: 2, reports: true, transactions: [] };
const [first, second, third] = withLedger(getFacts(buildChain([plan, plan, plan])));
assert(first !== undefined && second !== undefined && third !== undefined);

test("R17: a block waits for the announced commit of its parent, which is no gap in the feed", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
  const { url } = await ClickHouseServer.open(t);
  const of = { database: "facts", cluster: null, identity: toIdentity(137, knownContracts()) };
  const place: ServerDatabase = { url, user: "default", password: "", spoolDir: dataDir, ...of };
  const writer = await IndexedFacts.open(dataDir, () => openDatabase(place));
  cleanUp(t, () => writer.close());
  await appendFacts(writer, encode([first]));

  const waiting = { signal: new AbortController().signal, onWaiting: () => {} };
  const reader = await FactReader.open(place, waiting);
  const facts = await IndexedFacts.load(reader);
  cleanUp(t, () => facts.close());
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  const feed = new MemoryFeed();
  const follower = new FeedFollower({ feed, reader, facts, log });
  cleanUp(t, () => follower.close());
  const taken: Change["kind"][] = [];
  const following = (async () => {
    for await (const change of follower.changes()) {
      if (change.kind === "committed") facts.cover(change.range);
      if (change.kind === "block") facts.apply(toUnfinalizedDelta(change.block));
      taken.push(change.kind);
    }
  })();

  const term = await feed.beginTerm("indexer");
  await feed.append(term, { kind: "committed", last: toTimedBlock(first) });
  const status = { node: "indexer", head: null, checks: {} };
  await feed.append(term, { kind: "status", status });
  await waitFor("the head of the feed", async () => !follower.status.hasGap || null);
  await feed.append(term, { kind: "committed", last: toTimedBlock(second) });
  await feed.append(term, { kind: "block", parentHash: second.hash, block: third });
  await appendFacts(writer, encode([second]));
  await waitFor("both", async () => taken.length === 2 || null);
  assert.deepEqual(taken, ["committed", "block"]);
  assert.deepEqual(warnings, []);
  follower.close();
  await following;
});
