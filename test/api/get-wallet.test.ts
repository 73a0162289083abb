import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import type { LedgerRow } from "../../src/market/ledger/ledger-row.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const trades = await server.getAll("/v1/trades?limit=1000&order=asc");
const wallets = [...new Set(trades.flatMap((row) => [String(row["maker"]), String(row["taker"])]))];

async function read(address: string): Promise<Row> {
  const answer = await server.get(`/v1/wallets/${address}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=10");
  assertEveryHeader(answer.headers);
  return getData(answer);
}

const ledger = server.facts
  .filter(({ number }) => number <= server.newestBlock)
  .flatMap((block) => block.ledger);

function sum(rows: readonly LedgerRow[], getAmount: (row: LedgerRow) => bigint): string {
  return formatMicros(rows.reduce((total, row) => total + getAmount(row), 0n));
}

test("200: the totals of a wallet are the sums of its ledger, final or not", async () => {
  assert(wallets.length > 4);
  for (const address of wallets) {
    const all = ledger.filter(({ wallet }) => wallet === address);
    const own = all.filter(({ kind }) => kind === "trade");
    const [makers, takers] = [
      own.filter(({ role }) => role === "maker"),
      own.filter(({ role }) => role !== "maker"),
    ];
    const volume = ({ cash }: LedgerRow) => (cash < 0n ? -cash : cash);
    const times = all.map(({ timestamp }) => timestamp * 1000);
    const tradeTimes = own.map(({ timestamp }) => timestamp * 1000);
    const wallet = await read(address);
    const expected = {
      address,
      positions_total: new Set(all.map(({ tokenId }) => tokenId)).size,
      trades: own.length,
      maker_trades: makers.length,
      taker_trades: takers.length,
      volume_usd: sum(own, volume),
      volume_maker_usd: sum(makers, volume),
      volume_taker_usd: sum(takers, volume),
      fees_usd: sum(own, ({ fee }) => fee),
      first_seen_ms: Math.min(...times),
      last_active_ms: Math.max(...times),
      first_trade_at_ms: Math.min(...tradeTimes),
      last_trade_at_ms: Math.max(...tradeTimes),
    };
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, wallet[name]]));
    assert.deepEqual(found, expected);
    const count = async (list: string) => (await server.getAll(`/v1/${list}&limit=1000`)).length;
    const operated = takers.filter(({ role }) => role === "operator").length;
    assert.equal((await count(`matches?taker=${address}`)) + operated, takers.length);
    assert.equal(await count(`trades?maker=${address}`), makers.length);
    const top = wallet["top_markets"] as readonly Row[];
    assert.equal(
      top.reduce((total, row) => total + Number(row["trades"]), 0),
      own.length,
    );
    const volumes = top.map((row) => toMicros(row["volume_usd"]));
    assert.deepEqual(
      volumes,
      volumes.toSorted((a, b) => Number(b - a)),
    );
  }
});

test("200: values and profits are the sums of the positions", async () => {
  for (const address of wallets.slice(0, 20)) {
    const wallet = await read(address);
    const path = `/v1/wallets/${address}/positions?status=all&limit=500`;
    const positions = await server.getAll(path);
    const isComplete = positions.every((row) => row["complete"] === true);
    assert.equal(wallet["complete"], isComplete);
    for (const name of ["value_usd", "realized_pnl", "unrealized_pnl", "unknown_proceeds_usd"]) {
      const total = positions.reduce((all, row) => all + toMicros(row[name] ?? "0"), 0n);
      assert.equal(wallet[name], isComplete ? formatMicros(total) : null, name);
    }
  }
});

test("200: a contract that only forwards tokens has a label, no positions and no sums", async () => {
  const exchange = await read(String(trades[0]?.["exchange_address"]));
  assert.deepEqual(
    [exchange["kind"], exchange["label"], exchange["positions_total"]],
    ["contract", "exchange", 0],
  );
  // It can hold tokens that somebody has sent to it.
  const sums = ["value_usd", "realized_pnl", "total_pnl", "unknown_proceeds_usd"];
  assert.deepEqual(
    ["complete", "cost_complete", ...sums].map((name) => exchange[name]),
    [false, false, null, null, null, null],
  );
});

test("200: an address in upper case is the same wallet", async () => {
  const [address = ""] = wallets;
  assert.deepEqual(await read(`0x${address.slice(2).toUpperCase()}`), await read(address));
});

test("400: a value that is not an address", async () => {
  for (const address of ["x", "0x12", `0x${"zz".repeat(20)}`])
    assertError(await server.get(`/v1/wallets/${address}`), "VALIDATION_ERROR");
});

test("404: an address that never had a token", async () => {
  assertError(await server.get(`/v1/wallets/0x${"ee".repeat(20)}`), "NOT_FOUND");
});
