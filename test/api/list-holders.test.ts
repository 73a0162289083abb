import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { formatTokenId } from "../../src/base/ids.ts";
import { zeroAddress } from "../../src/market/ledger/ledger-row.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";
import { knownContracts } from "../support/recorded-chain.ts";

const server = await DataServer.open();
after(() => server.close());

/** The balances of all tokens at the newest block, by adding up every change. */
const balances = new Map<string, Map<string, bigint>>();
for (const block of server.facts) {
  if (block.number > server.newestBlock) break;
  for (const { tokenId, wallet, shares } of block.balances) {
    const own = balances.get(formatTokenId(tokenId)) ?? new Map<string, bigint>();
    balances.set(formatTokenId(tokenId), own);
    own.set(wallet, (own.get(wallet) ?? 0n) + shares);
  }
}
const contracts = new Set<string>(knownContracts().byAddress.keys());
const markets = await server.getAll("/v1/markets?limit=100");
const market = markets.toSorted((a, b) => countHolders(b) - countHolders(a))[0] ?? {};
const path = `/v1/markets/${String(market["id"])}/holders`;

function getTokens(row: Row): string[] {
  return (row["tokens"] as readonly Row[]).map((token) => String(token["token_id"]));
}

function getHolders(token: string, hasContracts = false): (readonly [string, bigint])[] {
  const all = [...(balances.get(token) ?? [])].filter(
    ([wallet, size]) =>
      wallet !== zeroAddress && size > 0n && (hasContracts || !contracts.has(wallet)),
  );
  return all.toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? 1 : -1));
}

function countHolders(row: Row): number {
  return getTokens(row).reduce((sum, token) => sum + getHolders(token).length, 0);
}

function toPlain({ token_id, address, rank, size }: Row) {
  return { token_id, address, rank, size };
}

test("200: the holders of each outcome are the sums of all changes, final or not", async () => {
  assert(countHolders(market) > 4);
  for (const row of markets) {
    for (const [index, token] of getTokens(row).entries()) {
      for (const hasContracts of [false, true]) {
        const query = `outcome_index=${index}&include_contracts=${hasContracts}&limit=1000`;
        const page = await server.getPage(`/v1/markets/${String(row["id"])}/holders?${query}`);
        const expected = getHolders(token, hasContracts).map(([address, size], at) => {
          return { token_id: token, address, rank: at + 1, size: formatMicros(size) };
        });
        assert.deepEqual(page.data.map(toPlain), expected);
        const [outcome = {}] = page.meta["outcomes"] as readonly Row[];
        assert.equal(outcome["holders"], getHolders(token).length);
        assert.equal(outcome["holders_with_contracts"], getHolders(token, true).length);
      }
    }
  }
});

test("200: all balances of a token add up to its supply", async () => {
  const page = await server.getPage(`${path}?include_contracts=true&limit=1000`);
  for (const outcome of page.meta["outcomes"] as readonly Row[]) {
    const own = page.data.filter((row) => row["token_id"] === outcome["token_id"]);
    const sum = own.reduce((total, row) => total + toMicros(row["size"]), 0n);
    assert.equal(sum, toMicros(outcome["supply"]));
  }
});

test("200: pages of any size give the same rows, and a minimum cuts the list", async () => {
  const all = await server.getAll(`${path}?limit=1000`);
  assert.deepEqual((await server.getAll(`${path}?limit=2`)).map(toPlain), all.map(toPlain));
  const size = String(all[2]?.["size"]);
  const large = await server.getAll(`${path}?min_size=${size}&limit=3`);
  assert.deepEqual(
    large.map(toPlain),
    all.filter((row) => toMicros(row["size"]) >= toMicros(size)).map(toPlain),
  );
});

test("200: later pages need no new read until the next block", async (t) => {
  const all = await server.getAll(`${path}?limit=1000`);
  assert(all.length > 12);
  const query = t.mock.method(server.store.engine, "queryBinary");
  const countReads = () =>
    query.mock.calls.filter(({ arguments: [sql] }) => sql.includes("balance_changes")).length;
  // Two clients read the same list side by side.
  const pages = await Promise.all([
    server.getAll(`${path}?limit=2`),
    server.getAll(`${path}?limit=3&min_size=0.000001`),
  ]);
  for (const rows of pages) assert.deepEqual(rows.map(toPlain), all.map(toPlain));
  assert(countReads() <= 4, String(countReads()));
  query.mock.resetCalls();
  // Balances move from the head buffer to the store.
  const reads = await server.getAll(`${path}?limit=5`, () =>
    server.advance({ final: server.finalBlock + 1 }),
  );
  assert(countReads() > 2);
  assert.deepEqual(reads.map(toPlain), all.map(toPlain));
});

test("200: the counts of every outcome are on every page, also on one without a row", async () => {
  const { meta } = await server.getPage(path);
  for (const query of ["limit=1", "min_size=1000000000", "limit=1&min_size=0.000001"]) {
    const page = await server.getPage(`${path}?${query}`);
    assert.deepEqual(page.meta["outcomes"], meta["outcomes"], query);
  }
});

test("200: with include_pnl, each row has the profit of its position", async () => {
  const page = await server.getPage(`${path}?include_pnl=true&limit=5`);
  for (const row of page.data) {
    const query = `status=all&token_id=${String(row["token_id"])}`;
    const positions = await server.getPage(
      `/v1/wallets/${String(row["address"])}/positions?${query}`,
    );
    const [position = {}] = positions.data;
    for (const name of ["avg_price", "realized_pnl", "unrealized_pnl", "cost_complete"])
      assert.equal(row[name], position[name], name);
    assert.equal(row["value_usd"], position["value_usd"]);
  }
});

test("200: a file has the rows of all pages", async () => {
  const answer = await server.get(`${path}?format=ndjson`);
  assertEveryHeader(answer.headers);
  const lines = answer.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  assert.deepEqual(lines.map(toPlain), (await server.getAll(`${path}?limit=7`)).map(toPlain));
});

test("400: an outcome that the market has not; the message says which it has", async () => {
  const { message } = assertError(await server.get(`${path}?outcome_index=7`), "VALIDATION_ERROR");
  assert.match(message, /^outcome_index is of no outcome of this market: it has 0\b.*, 1\b/);
});

test("400: too many profits", async () => {
  assertError(await server.get(`${path}?include_pnl=true&limit=101`), "VALIDATION_ERROR");
  assertError(await server.get(`${path}?include_pnl=true&format=csv`), "VALIDATION_ERROR");
});

test("404: an unknown market", async () => {
  assertError(await server.get("/v1/markets/nothing/holders"), "NOT_FOUND");
});
