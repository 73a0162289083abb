import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testList } from "../support/list-cases.ts";
import { optional, rangeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const path = "/v1/cancellations";
const rows = await server.getAll(`${path}?limit=1000&order=asc`);

test("200: canceled orders, invalidated preapprovals and paused users", () => {
  const facts = server.facts.slice(0, server.newestBlock + 1).flatMap((block) => block.events);
  const kinds = ["order_cancelled", "order_preapproval_invalidated", "user_paused"];
  const expected = facts.filter(({ event }) => kinds.includes(event.kind));
  assert.deepEqual(
    rows.map((row) => [row["seq"], row["kind"]]),
    expected.map(({ seq, event }) => [seq, event.kind]),
  );
  assert.deepEqual(new Set(rows.map((row) => row["kind"])), new Set(kinds));
});

test("200: an order and a user together match nothing, because no cancellation has both", async () => {
  const order = rows.find((row) => row["order_hash"] !== null)?.["order_hash"];
  const user = rows.find((row) => row["user"] !== null)?.["user"];
  for (const query of [
    `order_hash=${String(order)}&user=${String(user)}`,
    `kind=user_paused&order_hash=${String(order)}`,
    `kind=order_cancelled&user=${String(user)}`,
  ])
    assert.deepEqual((await server.getPage(`${path}?${query}`)).data, []);
});

test("200: an order hash with the digits of a user's address does not match that user", async () => {
  const user = String(rows.find((row) => row["user"] !== null)?.["user"]);
  const spelt = `0x${user.slice(2).padStart(64, "0")}`;
  assert.deepEqual((await server.getPage(`${path}?order_hash=${spelt}`)).data, []);
  assertError(await server.get(`/v1/orders/${spelt}`), "NOT_FOUND");
});

test("400: an unknown kind", async () => {
  const { message } = assertError(await server.get(`${path}?kind=filled`), "VALIDATION_ERROR");
  assert.match(message, /^kind must be one of order_cancelled, /);
});

test("400: an unknown exchange", async () => {
  const { message } = assertError(await server.get(`${path}?exchange=x`), "VALIDATION_ERROR");
  assert.equal(message, 'exchange must be one of standard, neg_risk; got "x"');
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
