import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row, readFacts } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

/** A recording of an hour, in which wallets have one bucket, slowed down to days. */
const recorded = readFacts("contracts-gen2");
const [{ timestamp: firstTime } = { timestamp: 0 }] = recorded;
const server = await DataServer.open({ facts: slowDown(recorded) });
after(() => server.close());

const trades = await server.getAll("/v1/trades?limit=1000");
const wallets = [...new Set(trades.map((row) => String(row["maker"])))];
const [wallet = ""] = wallets;

function slowDown<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(slowDown) as Value;
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    name === "timestamp" ? firstTime + (Number(field) - firstTime) * 60 : slowDown<unknown>(field),
  ]);
  return Object.fromEntries(fields) as Value;
}

function getPath(address: string): string {
  return `/v1/wallets/${address}/pnl`;
}

test("200: the buckets of every resolution add up to the totals of the wallet", async () => {
  for (const address of wallets.slice(0, 8)) {
    const { data } = (await server.get(`/v1/wallets/${address}`)).body as { readonly data: Row };
    for (const resolution of ["1h", "1d", "1w"]) {
      const rows = await server.getAll(`${getPath(address)}?resolution=${resolution}&limit=1000`);
      const last = rows.at(-1) ?? {};
      assert.equal(last["cumulative_trades"], data["trades"]);
      assert.equal(last["cumulative_volume_usd"], data["volume_usd"]);
      assert.equal(last["cumulative_fees_usd"], data["fees_usd"]);
      assert.equal(last["cumulative_realized_pnl"], data["realized_pnl"]);
      assert(rows.every(({ complete }) => complete === data["complete"]));
      assert(rows.every(({ cost_complete: complete }) => complete === data["cost_complete"]));
      let sum = 0n;
      for (const row of rows) {
        sum += toMicros(row["realized_pnl"]);
        assert.equal(toMicros(row["cumulative_realized_pnl"]), sum);
      }
    }
  }
});

test("200: weeks begin on Monday", async () => {
  const rows = await server.getAll(`${getPath(wallet)}?resolution=1w`);
  assert(rows.length > 0);
  for (const row of rows) assert.equal(new Date(String(row["timestamp"])).getUTCDay(), 1);
});

test("200: pages, files and times select among the same buckets", async () => {
  const path = `${getPath(wallet)}?resolution=1h`;
  const all = await server.getAll(`${path}&limit=1000`);
  assert(all.length > 2);
  assert.deepEqual(await server.getAll(`${path}&limit=1`), all);
  assert.deepEqual(await server.getAll(`${path}&order=desc&limit=1`), all.toReversed());
  const answer = await server.get(`${path}&format=ndjson`);
  assertEveryHeader(answer.headers);
  assert.deepEqual(
    answer.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row),
    all,
  );
  const last = all.at(-1) ?? {};
  const newest = await server.getAll(`${path}&start=${String(last["timestamp"])}`);
  assert.deepEqual(newest, [last]);
});

test("400: a resolution that does not exist", async () => {
  assertError(await server.get(`${getPath(wallet)}?resolution=1m`), "VALIDATION_ERROR");
});

test("404: an address that never had a token", async () => {
  assertError(await server.get(getPath(`0x${"ee".repeat(20)}`)), "NOT_FOUND");
});
