import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const [trade] = await server.getAll("/v1/trades?limit=1000");
const path = `/v1/wallets/${String(trade?.["maker"])}/positions`;
const all = await server.getAll(`${path}?status=all&limit=500`);

function getTokens(rows: readonly Row[]): unknown[] {
  return rows.map((row) => row["token_id"]);
}

test("200: every position once, the most valuable first, on pages of any size", async () => {
  assert(all.length > 2);
  assert.equal(new Set(getTokens(all)).size, all.length);
  const values = all.map((row) => toMicros(row["value_usd"] ?? "0"));
  assert.deepEqual(
    values,
    values.toSorted((a, b) => Number(b - a)),
  );
  for (const [sort, field] of [
    ["value", "value_usd"],
    ["size", "size"],
    ["realized_pnl", "realized_pnl"],
    ["unrealized_pnl", "unrealized_pnl"],
    ["total_pnl", "total_pnl"],
    ["last_active", "last_seq"],
  ] as const) {
    const sorted = await server.getAll(`${path}?status=all&sort=${sort}&order=asc&limit=500`);
    const keys = sorted.map((row) => toMicros(row[field] ?? "0"));
    assert.deepEqual(
      keys,
      keys.toSorted((a, b) => Number(a - b)),
      sort,
    );
  }
  for (const order of ["desc", "asc"]) {
    const query = `status=all&sort=size&order=${order}`;
    const paged = await server.getAll(`${path}?${query}&limit=1`);
    assert.deepEqual(
      getTokens(paged),
      getTokens(await server.getAll(`${path}?${query}&limit=500`)),
    );
    assert.equal(paged.length, all.length);
  }
});

test("200: filters select among all positions", async () => {
  const [first] = all;
  assert(first !== undefined);
  const filters: readonly (readonly [string, (row: Row) => boolean])[] = [
    ["status=open", ({ status }) => status === "open"],
    ["status=closed", ({ status }) => status === "closed"],
    ["status=all&min_size=1000", ({ size }) => toMicros(size) >= 1_000_000_000n],
    [
      `status=all&token_id=${String(first["token_id"])}`,
      (row) => row["token_id"] === first["token_id"],
    ],
    [
      `status=all&condition_id=${String(first["condition_id"])}`,
      (row) => row["condition_id"] === first["condition_id"],
    ],
  ];
  for (const [query, matches] of filters) {
    const found = await server.getAll(`${path}?${query}&limit=500`);
    assert.deepEqual(getTokens(found), getTokens(all.filter(matches)), query);
  }
});

test("200: a repeated request does not compute the positions again", async () => {
  const countReads = () =>
    server.store.reads.toRows().find(({ query }) => query === "wallet")?.answers;
  // A long response is kept from the second request on.
  for (let round = 0; round < 2; round += 1) await server.get(`${path}?sort=size`);
  const reads = countReads();
  assert.equal((await server.get(`${path}?sort=size`)).status, 200);
  assert.equal(countReads(), reads);
});

test("200: a file has the rows of all pages", async () => {
  const answer = await server.get(`${path}?status=all&format=ndjson`);
  assertEveryHeader(answer.headers);
  const lines = answer.text.trim().split("\n");
  assert.equal(lines.length, all.length);
});

test("400: a sort that does not exist, and a cursor of other filters", async () => {
  assertError(await server.get(`${path}?sort=age`), "VALIDATION_ERROR");
  const page = await server.get(`${path}?status=all&limit=1`);
  const { pagination } = page.body as { readonly pagination: { readonly next_cursor: string } };
  const cursor = encodeURIComponent(pagination.next_cursor);
  assertError(await server.get(`${path}?status=closed&limit=1&cursor=${cursor}`), "INVALID_CURSOR");
});

test("404: an address that never had a token", async () => {
  assertError(await server.get(`/v1/wallets/0x${"ee".repeat(20)}/positions`), "NOT_FOUND");
});
