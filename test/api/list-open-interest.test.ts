import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { formatTokenId } from "../../src/base/ids.ts";
import {
  type CollateralPool,
  collateralPools,
  getCollateralId,
  getPoolAccount,
} from "../../src/market/ledger/collateral.ts";
import { zeroAddress } from "../../src/market/ledger/ledger-row.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";
import { knownContracts } from "../support/recorded-chain.ts";

const server = await DataServer.open();
after(() => server.close());

const withdrawn = "0xa5ef39c3d3e10d0b270233af41cac69796b12966";
const changes = server.facts
  .filter(({ number }) => number <= server.newestBlock)
  .flatMap(({ balances }) => balances);
const markets = (await server.getAll("/v1/markets?limit=100")).filter(
  (row) => row["mirror"] === null && getTokens(row).length === 2,
);

function getTokens(row: Row): string[] {
  return (row["tokens"] as readonly Row[]).map((token) => String(token["token_id"]));
}

/** The supply of a token at a time, by adding up every change of the zero address and the burn address. */
function getSupply(token: string, before = Infinity): bigint {
  return changes
    .filter(({ tokenId, timestamp }) => formatTokenId(tokenId) === token && timestamp < before)
    .filter(({ wallet }) => wallet === zeroAddress || wallet === withdrawn)
    .reduce((sum, { shares }) => sum - shares, 0n);
}

function getPath(market: Row): string {
  return `/v1/markets/${String(market["id"])}/open-interest`;
}

test("200: the supply of every bucket is the sum of all changes through its end", async () => {
  let points = 0;
  for (const market of markets) {
    for (const [resolution, seconds] of [
      ["1h", 3600],
      ["1d", 86_400],
    ] as const) {
      const rows = await server.getAll(`${getPath(market)}?resolution=${resolution}&limit=1000`);
      points += rows.length;
      for (const row of rows) {
        const end = Number(row["timestamp_ms"]) / 1000 + seconds;
        const expected = getTokens(market).map((token) => formatMicros(getSupply(token, end)));
        if (row["complete"] === true) assert.deepEqual(row["supply"], expected);
        else assert.equal(row["supply"], null);
      }
    }
  }
  assert(points > 5);
});

test("200: the open interest of a pair is its supply, and that of the newest bucket that of now", async () => {
  for (const market of markets) {
    const [newest] = (await server.getPage(`${getPath(market)}?order=desc&limit=1`)).data;
    const supply = newest?.["supply"] as readonly string[] | null | undefined;
    if (!supply || newest?.["open_interest_usd"] === null || market["status"] !== "open") continue;
    const [yes, no] = supply.map(toMicros);
    assert(yes !== undefined && no !== undefined);
    const interest = toMicros(newest?.["open_interest_usd"]);
    assert(interest >= (yes < no ? yes : no) - 1n && interest <= (yes > no ? yes : no));
    if (newest?.["collateral_usd"] !== null)
      assert.equal(toMicros(newest?.["collateral_usd"]), yes);
  }
});

test("200: pages and files have the same buckets in both orders, and times select among them", async () => {
  const [market = {}] = markets;
  const path = `${getPath(market)}?resolution=1h`;
  const all = await server.getAll(`${path}&start=2000-01-01&limit=1000`);
  const paged = await server.getAll(`${path}&start=2000-01-01&limit=1`);
  assert.deepEqual(paged, all);
  assert.deepEqual(await server.getAll(`${path}&order=desc&limit=1`), all.toReversed());
  const answer = await server.get(`${path}&format=ndjson`);
  assertEveryHeader(answer.headers);
  const lines = answer.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  assert.deepEqual(lines, all);
  const [first] = all;
  const none = await server.getAll(`${path}&end=${String(first?.["timestamp"])}`);
  assert.deepEqual(none, []);
});

test("400: a resolution that does not exist", async () => {
  assertError(await server.get(`${getPath(markets[0] ?? {})}?resolution=1m`), "VALIDATION_ERROR");
});

test("404: an unknown market", async () => {
  assertError(await server.get("/v1/markets/nothing/open-interest"), "NOT_FOUND");
});

describe("of all markets", () => {
  const contracts = knownContracts();
  const collateralId = getCollateralId(contracts);
  const flows = changes.filter(({ tokenId }) => tokenId === collateralId);
  const getSum = (pool: CollateralPool, before: number) =>
    flows
      .filter(({ wallet, timestamp }) => {
        return wallet === getPoolAccount(contracts, pool) && timestamp < before;
      })
      .reduce((sum, { shares }) => sum - shares, 0n);

  test("200: the collateral of every bucket is the sum of all changes through its end", async () => {
    for (const [resolution, seconds] of [
      ["1h", 3600],
      ["4h", 14_400],
      ["1d", 86_400],
    ] as const) {
      const rows = await server.getAll(`/v1/open-interest?resolution=${resolution}&limit=1000`);
      assert(rows.length > 0);
      let total = 0n;
      for (const row of rows) {
        const end = Number(row["timestamp_ms"]) / 1000 + seconds;
        const expected = collateralPools.map((pool) => getSum(pool, end));
        const fields = ["standard_usd", "neg_risk_usd", "protocol_v2_usd"];
        assert.deepEqual(
          fields.map((field) => row[field]),
          expected.map(formatMicros),
        );
        const sum = expected.reduce((one, other) => one + other);
        assert.equal(row["open_interest_usd"], formatMicros(sum));
        total += toMicros(row["minted_usd"]) - toMicros(row["burnt_usd"]);
        assert.equal(total, sum);
      }
    }
  });

  test("200: pages and files have the same buckets in both orders", async () => {
    const path = "/v1/open-interest?resolution=1h";
    const all = await server.getAll(`${path}&start=2000-01-01&limit=1000`);
    assert.deepEqual(await server.getAll(`${path}&order=desc&limit=2`), all.toReversed());
    assert.deepEqual(await server.getAll(`${path}&start=2000-01-01&limit=1`), all);
    const { text } = await server.get(`${path}&format=ndjson`);
    assert.deepEqual(
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Row),
      all,
    );
  });
});

test("200: markets have their newest open interest, and are sorted by it", async () => {
  for (const market of markets) {
    const [newest] = (await server.getPage(`${getPath(market)}?order=desc&limit=1`)).data;
    if (newest !== undefined)
      assert.equal(market["open_interest_usd"], newest["open_interest_usd"]);
  }
  const sorted = await server.getAll("/v1/markets?sort=open_interest&limit=7");
  const values = sorted.map((row) => toMicros(row["open_interest_usd"] ?? "0"));
  assert(values.filter((value) => value > 0n).length > 3);
  assert.deepEqual(
    values,
    values.toSorted((one, other) => Number(other - one)),
  );
});
