import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testList } from "../support/list-cases.ts";
import { toMicros, tradeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";
import { amount } from "../support/recorded/exact.ts";

const server = await DataServer.open();
after(() => server.close());

const {
  match_type: _type,
  min_price: _min,
  max_price: _max,
  maker: _maker,
  wallet: _wallet,
  ...filters
} = tradeFilters;

test("200: each match is the sum of its legs", async () => {
  const matches = await server.getAll("/v1/matches?limit=1000&order=asc");
  const trades = await server.getAll("/v1/trades?limit=1000&order=asc");
  const legs = Map.groupBy(trades, (row) => row["match_seq"]);
  legs.delete(null);
  assert.equal(matches.length, legs.size);
  for (const match of matches) {
    const own = legs.get(match["seq"]) ?? [];
    const sum = (field: string) => amount(own.reduce((all, row) => all + toMicros(row[field]), 0n));
    const { size, value_usd, legs: count, taker: party, token_id: token } = match;
    assert.deepEqual(
      { size, value_usd, count, party, token },
      {
        size: sum("size"),
        value_usd: sum("value_usd"),
        count: own.length,
        party: own[0]?.["taker"],
        token: own[0]?.["token_id"],
      },
    );
  }
});

test("400: a maker or wallet, because a match can have several makers", async () => {
  for (const name of ["maker", "wallet"]) {
    const answer = await server.get(`/v1/matches?${name}=0x${"ab".repeat(20)}`);
    assert.match(assertError(answer, "VALIDATION_ERROR").message, /^\w+ is not known here/);
  }
});

testList({ server, path: "/v1/matches", filters });
