import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const fills = Map.groupBy(await server.getAll("/v1/fills?limit=1000&order=asc"), getOrder);
const cancellations = Map.groupBy(
  await server.getAll("/v1/cancellations?limit=1000&order=asc"),
  getOrder,
);

function getOrder(row: Row): string {
  return String(row["order_hash"]);
}

async function read(hash: string): Promise<Row> {
  const answer = await server.get(`/v1/orders/${hash}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=1");
  assertEveryHeader(answer.headers);
  return getData(answer);
}

test("200: all fills and cancellations of an order, oldest first", async () => {
  const busiest = [...fills.keys()].toSorted(
    (a, b) => (fills.get(b)?.length ?? 0) - (fills.get(a)?.length ?? 0),
  );
  const cancelled = [...cancellations.keys()].filter((hash) => hash !== "null");
  assert((fills.get(busiest[0] ?? "")?.length ?? 0) > 1 && cancelled.length > 3);
  for (const order_hash of [...busiest.slice(0, 5), ...cancelled]) {
    assert.deepEqual(await read(order_hash), {
      order_hash,
      truncated: false,
      fills: fills.get(order_hash) ?? [],
      cancellations: cancellations.get(order_hash) ?? [],
    });
  }
});

test("200: a hash in upper case is the same order", async () => {
  const [hash = ""] = fills.keys();
  assert.deepEqual(await read(`0x${hash.slice(2).toUpperCase()}`), await read(hash));
});

test("400: a value that is not a hash", async () => {
  for (const hash of ["x", "0x12", "ab".repeat(32), `0x${"zz".repeat(32)}`]) {
    const { message } = assertError(await server.get(`/v1/orders/${hash}`), "VALIDATION_ERROR");
    assert.match(message, /^order_hash must be a hash, 0x and 64 hex digits; got "/);
  }
});

test("404: an order without a fill or cancellation", async () => {
  assertError(await server.get(`/v1/orders/0x${"ee".repeat(32)}`), "NOT_FOUND");
});
