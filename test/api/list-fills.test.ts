import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { testList } from "../support/list-cases.ts";
import { type NaiveFilter, toMicros, tradeFilters } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

const server = await DataServer.open();
after(() => server.close());

const { match_type: _type, min_price: _min, max_price: _max, ...filters } = tradeFilters;

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

/** The shares that were settled: of a taker's order before generation 3 that is not what its event says. */
const sizes = new Map(
  server.facts.flatMap(({ fills }) => fills.map(({ seq, size }) => [Number(seq), size])),
);
const getSize = ({ seq }: Row) => sizes.get(Number(seq)) ?? 0n;
const getCash = ({ side, maker_amount_raw, taker_amount_raw }: Row) =>
  BigInt(String(side === "BUY" ? maker_amount_raw : taker_amount_raw));

function bound(
  getAmount: (row: Row) => bigint,
  holds: (amount: bigint, value: bigint) => boolean,
): NaiveFilter {
  return {
    sample: (row) => formatMicros(getAmount(row)),
    holds: (row, value) => holds(getAmount(row), toMicros(value)),
  };
}

testList({
  server,
  path: "/v1/fills",
  filters: {
    ...filters,
    min_size: bound(getSize, (size, min) => size >= min),
    max_size: bound(getSize, (size, max) => size <= max),
    min_value: bound(getCash, (cash, min) => cash >= min),
  },
});
