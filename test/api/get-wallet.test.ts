import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";
import { amount } from "../support/recorded/exact.ts";

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

function getVolume(rows: readonly Row[]): bigint {
  return rows.reduce((sum, row) => sum + toMicros(row["value_usd"]), 0n);
}

test("200: the totals of a wallet are the sums of its trades, final or not", async () => {
  assert(wallets.length > 4);
  for (const address of wallets) {
    const own = trades.filter((row) => row["maker"] === address || row["taker"] === address);
    const { top_markets, ...wallet } = await read(address);
    const [first, last] = [own[0], own.at(-1)];
    assert.deepEqual(wallet, {
      address,
      trades: own.length,
      maker_trades: own.filter((row) => row["maker"] === address).length,
      taker_trades: own.filter((row) => row["taker"] === address).length,
      volume_usd: amount(getVolume(own)),
      markets: new Set(own.map((row) => row["condition_id"] ?? row["token_id"])).size,
      truncated: false,
      first_trade_at: first?.["timestamp"],
      first_trade_at_ms: first?.["timestamp_ms"],
      last_trade_at: last?.["timestamp"],
      last_trade_at_ms: last?.["timestamp_ms"],
    });
    const top = top_markets as readonly Row[];
    const volumes = top.map((row) => toMicros(row["volume_usd"]));
    assert.deepEqual(
      volumes,
      volumes.toSorted((a, b) => Number(b - a)),
    );
    for (const market of top) {
      const ofMarket = own.filter((row) => row["condition_id"] === market["condition_id"]);
      if (market["condition_id"] === null) continue;
      assert.equal(market["trades"], ofMarket.length);
      assert.equal(toMicros(market["volume_usd"]), getVolume(ofMarket));
    }
  }
});

test("200: an address in upper case is the same wallet", async () => {
  const [address = ""] = wallets;
  assert.deepEqual(await read(`0x${address.slice(2).toUpperCase()}`), await read(address));
});

test("400: a value that is not an address", async () => {
  for (const address of ["x", "0x12", `0x${"zz".repeat(20)}`])
    assertError(await server.get(`/v1/wallets/${address}`), "VALIDATION_ERROR");
});

test("404: an address that never traded", async () => {
  assertError(await server.get(`/v1/wallets/0x${"ee".repeat(20)}`), "NOT_FOUND");
});
