/** A shard is down: a list that needs its rows is 503 with the reason, never shorter. All other requests succeed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { makeDatabase } from "../support/clickhouse/make-database.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";
import { knownContracts } from "../support/recorded-chain.ts";

/** Lists over all tokens, oldest first, because the newest rows are in memory. */
const lists = [
  "/v1/trades?order=asc",
  "/v1/fills?order=asc",
  "/v1/cancellations?order=asc",
  "/v1/exchange-events?order=asc",
] as const;
const reason = "A part of the database is down, and this needs all of it";

async function openShards(t: Parameters<typeof ClickHouseServer.openShards>[0]) {
  const servers = await ClickHouseServer.openShards(t, 2);
  const identity = toIdentity(137, knownContracts());
  const place = await makeDatabase(servers, { database: "facts", identity });
  const openStore = (dataDir: string) => IndexedFacts.open(dataDir, () => openDatabase(place));
  const server = await DataServer.open({ openStore });
  cleanUp(t, () => server.close());
  return { servers, server };
}

test("R18: while a shard is down, no list is shorter than before", async (t) => {
  const { servers, server } = await openShards(t);
  const [first, second] = servers;
  assert(first !== undefined && second !== undefined);
  const before = new Map<string, string>();
  for (const path of lists) before.set(path, JSON.stringify((await server.getPage(path)).data));
  const tokens = async (shard: ClickHouseServer) =>
    (
      await shard.ask(
        "SELECT DISTINCT reinterpretAsUInt256(reverse(token_id)) FROM facts_local.fills",
      )
    )
      .split("\n")
      .map((token) => `/v1/trades?token_id=${token}&order=asc&limit=1`);
  const [ofFirst, ofSecond] = [await tokens(first), await tokens(second)];
  assert(ofFirst.length > 0 && ofSecond.length > 0);
  await second.kill();
  for (const path of [...lists, ...ofSecond.slice(0, 3)]) {
    const answer = await server.get(path);
    assert.equal(assertError(answer, "SERVICE_UNAVAILABLE").message, reason, path);
  }
  for (const path of ofFirst.slice(0, 3)) assert.equal((await server.getPage(path)).data.length, 1);
  assert((await server.getPage("/v1/markets")).data.length > 0);
  assert((await server.getPage("/v1/trades")).data.length > 0);
  await second.restart();
  for (const path of lists) {
    assert.equal(JSON.stringify((await server.getPage(path)).data), before.get(path), path);
  }
});
