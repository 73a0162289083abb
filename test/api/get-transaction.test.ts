import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const lists = {
  trades: await toRows("/v1/trades?include=market&limit=1000&order=asc"),
  matches: await toRows("/v1/matches?limit=1000&order=asc"),
  fills: await toRows("/v1/fills?limit=1000&order=asc"),
  resolutions: await toRows("/v1/resolutions?limit=1000&order=asc"),
  exchange_events: await toRows("/v1/exchange-events?limit=1000&order=asc"),
};
const logged = server.facts
  .filter(({ number }) => number <= server.newestBlock)
  .flatMap(({ events }) => events);

async function toRows(path: string): Promise<ReadonlyMap<unknown, readonly Row[]>> {
  return Map.groupBy(await server.getAll(path), (row) => row["tx_hash"]);
}

async function read(hash: string): Promise<Row> {
  const answer = await server.get(`/v1/transactions/${hash}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=1");
  assertEveryHeader(answer.headers);
  return getData(answer);
}

test("200: a transaction has its rows of every list, final or not", async () => {
  const hashes = Object.values(lists).flatMap((list) => {
    const all = [...list.keys()];
    return [...all.slice(0, 5), ...all.slice(-5)].map(String);
  });
  for (const hash of new Set(hashes)) {
    const { other_events: _others, truncated, ...transaction } = await read(hash);
    assert.equal(truncated, false);
    const own = Object.fromEntries(
      Object.entries(lists).map(([name, list]) => [name, list.get(hash) ?? []]),
    );
    const [any] = Object.values(own).flat();
    const { tx_hash, block_number, block_hash, timestamp, timestamp_ms, status } = any ?? {};
    const place = { tx_hash, block_number, block_hash, timestamp, timestamp_ms, status };
    assert.deepEqual(transaction, { ...place, ...own });
  }
});

test("200: other logs have their kind and subject", async () => {
  const prepared = logged.filter(({ event }) => event.kind === "condition_prepared");
  assert(prepared.length > 2);
  for (const { txHash, seq, event } of prepared.slice(0, 3)) {
    const others = (await read(txHash))["other_events"] as readonly Row[];
    const found = others.find((row) => row["seq"] === seq);
    assert.equal(found?.["kind"], "condition_prepared");
    assert.equal(found["subject"], event.kind === "condition_prepared" && event.conditionId);
  }
});

test("400: a value that is not a hash", async () => {
  for (const hash of ["x", "0x12", `0x${"zz".repeat(32)}`])
    assertError(await server.get(`/v1/transactions/${hash}`), "VALIDATION_ERROR");
});

test("404: a transaction without a log of the indexed contracts", async () => {
  assertError(await server.get(`/v1/transactions/0x${"ee".repeat(32)}`), "NOT_FOUND");
});
