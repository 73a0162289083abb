import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { toBlockNumber } from "../../src/base/ids.ts";
import { groupActivity } from "../../src/market/ledger/activity.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open({ recording: "contracts-gen2" });
after(() => server.close());

const ledger = server.facts
  .filter(({ number }) => number <= server.newestBlock)
  .flatMap((block) => block.ledger);
const causes = Map.groupBy(groupActivity(ledger), ({ wallet }) => wallet);
/** The wallet with the most kinds of activity. */
const [wallet = "0x", own = []] = [...causes].toSorted(
  ([, one], [, other]) => countKinds(other) - countKinds(one) || other.length - one.length,
)[0] ?? ["0x", []];
const path = `/v1/wallets/${wallet}/activity`;
const all = await server.getAll(`${path}?limit=1000`);

function countKinds(rows: ReturnType<typeof groupActivity>): number {
  return new Set(rows.map(({ rows: [first] }) => first?.kind)).size;
}

function getIds(rows: readonly Row[]): unknown[] {
  return rows.map((row) => row["id"]);
}

function getTokens(row: Row): readonly Row[] {
  return row["tokens"] as readonly Row[];
}

test("200: each operation is one row with all of its tokens, newest first, final or not", async () => {
  assert(countKinds(own) >= 3);
  assert.equal(new Set(getIds(all)).size, all.length);
  const expected = own
    .toSorted((a, b) => b.seq - a.seq || b.sub - a.sub)
    .map(({ seq, txHash, rows }) => ({
      seq,
      tx_hash: txHash,
      kind: rows[0]?.kind,
      cash_usd: formatMicros(rows[0]?.cash ?? 0n),
      sizes: rows.map(({ shares }) => formatMicros(shares)),
      status: toBlockNumber(seq) <= server.finalBlock ? "finalized" : "confirmed",
    }));
  const found = all.map(({ seq, tx_hash, kind, cash_usd, status, ...row }) => {
    return { seq, tx_hash, kind, cash_usd, sizes: getTokens(row).map(({ size }) => size), status };
  });
  assert.deepEqual(found, expected);
  assert.equal(new Set(all.map(({ status }) => status)).size, 2);
});

test("200: pages of any size give the same rows in both orders", async () => {
  for (const order of ["desc", "asc"]) {
    const paged = await server.getAll(`${path}?order=${order}&limit=3`);
    assert.deepEqual(getIds(paged), getIds(order === "desc" ? all : all.toReversed()));
  }
});

test("200: filters select among all rows", async () => {
  const trade = all.find(({ kind }) => kind === "trade") ?? {};
  const [token = {}] = getTokens(trade);
  const middle = all[Math.floor(all.length / 2)] ?? {};
  const hasToken = (row: Row) =>
    getTokens(row).some((one) => one["token_id"] === token["token_id"]);
  const cash = (row: Row) => {
    const micros = toMicros(row["cash_usd"]);
    return micros < 0n ? -micros : micros;
  };
  const filters: readonly (readonly [string, (row: Row) => boolean])[] = [
    ["kind=trade", ({ kind }) => kind === "trade"],
    ["kind=split,transfer_in", ({ kind }) => kind === "split" || kind === "transfer_in"],
    ["side=BUY", ({ side }) => side === "BUY"],
    ["side=SELL", ({ side }) => side === "SELL"],
    ["role=maker", ({ role }) => role === "maker"],
    [`token_id=${String(token["token_id"])}`, hasToken],
    [
      `condition_id=${String(token["condition_id"])}`,
      (row) => getTokens(row).some((one) => one["condition_id"] === token["condition_id"]),
    ],
    ["min_value=10", (row) => cash(row) >= 10_000_000n],
    ["status=finalized", ({ status }) => status === "finalized"],
    [`after_seq=${String(middle["seq"])}`, ({ seq }) => Number(seq) > Number(middle["seq"])],
    [
      `end=${String(middle["timestamp"])}`,
      (row) => Number(row["timestamp_ms"]) < Number(middle["timestamp_ms"]),
    ],
    [`tx_hash=${String(middle["tx_hash"])}`, (row) => row["tx_hash"] === middle["tx_hash"]],
  ];
  for (const [query, matches] of filters) {
    const found = await server.getAll(`${path}?${query}&limit=7`);
    assert.deepEqual(getIds(found), getIds(all.filter(matches)), query);
  }
});

test("200: a file has the rows of all pages, cut at any row", async () => {
  const answer = await server.get(`${path}?format=ndjson`);
  assertEveryHeader(answer.headers);
  const lines = answer.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  assert.deepEqual(getIds(lines), getIds(all));
  for (const format of ["csv", "parquet", "arrow"]) {
    assert.equal((await server.get(`${path}?format=${format}`)).status, 200);
  }
});

test("400: a kind that does not exist, and a cursor of other filters", async () => {
  assertError(await server.get(`${path}?kind=gift`), "VALIDATION_ERROR");
  const { pagination } = await server.getPage(`${path}?limit=1`);
  const cursor = encodeURIComponent(String(pagination.next_cursor));
  assertError(await server.get(`${path}?kind=trade&limit=1&cursor=${cursor}`), "INVALID_CURSOR");
});

test("404: an address that never had a token", async () => {
  assertError(await server.get(`/v1/wallets/0x${"ee".repeat(20)}/activity`), "NOT_FOUND");
});
