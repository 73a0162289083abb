import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testList } from "../support/list-cases.ts";
import { optional, rangeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";

const server = await DataServer.open();
after(() => server.close());

const path = "/v1/exchange-events";
const rows = await server.getAll(`${path}?limit=1000&order=asc`);

test("200: every log of the exchanges except fills and token registrations", () => {
  const facts = server.facts.slice(0, server.newestBlock + 1).flatMap((block) => block.events);
  const addresses = new Set(rows.map((row) => row["exchange_address"]));
  const expected = facts.filter(({ address }) => addresses.has(address));
  const notMarkets = expected.filter(({ event }) => event.kind !== "token_registered");
  assert.deepEqual(
    rows.map((row) => [row["seq"], row["kind"]]),
    notMarkets.map(({ seq, event }) => [seq, event.kind]),
  );
});

test("200: the filter by user does not match the account of a role change", async () => {
  const { account } = rows.find((row) => row["kind"] === "role_changed") ?? {};
  const { data } = await server.getPage(`${path}?user=${String(account)}`);
  assert(data.every((row) => row["user"] === account));
});

testList({
  server,
  path,
  filters: {
    ...rangeFilters,
    kind: optional("kind", ""),
    order_hash: optional("order_hash", `0x${"ee".repeat(32)}`),
    user: optional("user", `0x${"ee".repeat(20)}`),
    exchange: optional("exchange", "standard"),
  },
});
