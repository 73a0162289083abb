import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { testList } from "../support/list-cases.ts";
import {
  type NaiveFilter,
  rangeFilters,
  toMicros,
  tradeFilters,
} from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

const server = await DataServer.open();
after(() => server.close());

const { side, maker, taker, wallet, token_id, condition_id, exchange } = tradeFilters;

test("200: every OrderFilled event, of legs and of takers", async () => {
  const rows = await server.getAll("/v1/fills?limit=1000&order=asc");
  const facts = server.facts.slice(0, server.newestBlock + 1).flatMap((block) => block.fills);
  assert.deepEqual(
    rows.map(({ seq, role, order_hash, maker_amount_raw, taker_amount_raw }) => [
      seq,
      role,
      order_hash,
      maker_amount_raw,
      taker_amount_raw,
    ]),
    facts.map((fill) => [
      fill.seq,
      fill.role,
      fill.orderHash,
      String(fill.makerAmount),
      String(fill.takerAmount),
    ]),
  );
});

/** Filters by what the order itself paid or received, in dollars. */
const min_value: NaiveFilter = {
  sample: (row) => formatMicros(getCash(row)),
  holds: (row, value) => getCash(row) >= toMicros(value),
};

function getCash({ side: own, maker_amount_raw, taker_amount_raw }: Row): bigint {
  return BigInt(String(own === "BUY" ? maker_amount_raw : taker_amount_raw));
}

testList({
  server,
  path: "/v1/fills",
  filters: {
    ...rangeFilters,
    side,
    min_value,
    maker,
    taker,
    wallet,
    token_id,
    condition_id,
    exchange,
  },
});
