import assert from "node:assert/strict";
import { after, test } from "node:test";
import { getIds, getPath, testFilters, testList } from "../support/list-cases.ts";
import { toMicros, tradeFilters } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";
import { amount } from "../support/recorded/exact.ts";

const server = await DataServer.open();
after(() => server.close());

const all = await server.getAll("/v1/trades?limit=1000&order=asc");
const { token_id: _, ...filters } = tradeFilters;

/** The rows of the pair that was traded most. */
const [busiest] = [...Map.groupBy(all, (row) => String(row["condition_id"])).values()].toSorted(
  (a, b) => b.length - a.length,
);
const tokenId = String(busiest?.[0]?.["token_id"]);
const path = `/v1/trades/market/${tokenId}`;

/** Inverts a trade to the other token of its pair. */
function invert(row: Row, outcome: unknown): Row {
  const { token_id, complement_token_id, outcome_index, side, size, value_usd, price } = row;
  return {
    ...row,
    token_id: complement_token_id,
    complement_token_id: token_id,
    outcome,
    outcome_index: 1 - Number(outcome_index),
    side: side === "BUY" ? "SELL" : "BUY",
    price: price === null ? null : amount(1_000_000n - toMicros(price)),
    value_usd: amount(toMicros(size) - toMicros(value_usd)),
  };
}

test("200: the trades of the token, as in the list of all trades", async () => {
  const own = all.filter((row) => row["token_id"] === tokenId);
  assert.deepEqual(await server.getAll(`${path}?order=asc&limit=1000`), own);
  assert.deepEqual(await server.getAll(`${path}?order=asc&include_complement=false`), own);
});

test("200: include_complement adds the trades of the other token, inverted", async () => {
  const outcome = all.find((row) => row["token_id"] === tokenId)?.["outcome"];
  const expected = all.flatMap((row) => {
    if (row["token_id"] === tokenId) return [row];
    return row["complement_token_id"] === tokenId ? [invert(row, outcome)] : [];
  });
  const served = await server.getAll(`${path}?order=asc&include_complement=true&limit=1000`);
  assert.deepEqual(served, expected);
  const inverted = served.filter((row) => row["maker_token_id"] !== tokenId);
  assert(inverted.length > 20 && inverted.length < served.length - 20);
});

test("200: the condition id of another market matches none of the trades", async () => {
  const other = all.find(
    (row) => row["token_id"] !== tokenId && row["complement_token_id"] !== tokenId,
  );
  const query = { condition_id: String(other?.["condition_id"]) };
  assert.deepEqual(getIds(await server.getAll(getPath(path, query))), []);
  assert.deepEqual(
    getIds(await server.getAll(getPath(`${path}?include_complement=true`, query))),
    [],
  );
});

test("400: an invalid token id, and the token_id parameter of the list of all trades", async () => {
  for (const id of ["x", "0x1", "-1", "1.0", "9".repeat(79), `${2n ** 256n}`]) {
    const { message } = assertError(
      await server.get(`/v1/trades/market/${id}`),
      "VALIDATION_ERROR",
    );
    assert.match(message, /^token_id must be a decimal token id below 2\^256, or a slug .*; got "/);
  }
  const { message } = assertError(await server.get(`${path}?token_id=1`), "VALIDATION_ERROR");
  assert.match(message, /^token_id is not known here; valid names: .*\blimit, /);
});

test("404: a token never seen on the chain", async () => {
  for (const id of ["0", "1", `${2n ** 256n - 1n}`])
    assertError(await server.get(`/v1/trades/market/${id}`), "NOT_FOUND");
});

testFilters({ server, path: `${path}?include_complement=true`, filters });
testList({ server, path, filters });
