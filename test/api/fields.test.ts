/** `fields` on every list: only these fields of each row, in this order, in every format. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
const token = String(trade["token_id"]);

const lists: readonly (readonly [path: string, fields: string])[] = [
  ["/v1/trades?limit=3", "price,size"],
  [`/v1/trades/market/${token}?limit=3`, "seq,side"],
  ["/v1/fills?limit=3", "order_hash,id"],
  ["/v1/matches?limit=3", "id,taker"],
  ["/v1/markets?limit=3", "question,id,tokens"],
  ["/v1/events?limit=2", "title,markets"],
  ["/v1/resolutions?limit=2", "payouts,seq"],
  ["/v1/exchange-events?limit=2", "kind,seq"],
  [`/v1/candles/${token}?limit=4`, "close,timestamp"],
  [`/v1/price?token_ids=${token}`, "token_id,price"],
];

for (const [path, fields] of lists) {
  test(`200: ${path.replace(token, "TOKEN")} sends only the fields ${fields}`, async () => {
    const whole = (await server.getPage(path)).data;
    const { data } = await server.getPage(`${path}&fields=${fields}`);
    const expected = whole.map((row) => fields.split(",").map((name) => [name, row[name]]));
    assert(data.length > 0);
    assert.deepEqual(data.map(Object.entries), expected);
  });
}

test("200: files have the columns that fields name", async () => {
  const path = "/v1/trades?limit=5";
  const rows = (await server.getPage(`${path}&fields=side,price`)).data;
  const csv = await server.get(`${path}&fields=side,price&format=csv`);
  const lines = rows.map(({ side, price }) => `${String(side)},${String(price)}`);
  assert.deepEqual(csv.text.trim().split(/\r?\n/), ["side,price", ...lines]);
  const ndjson = await server.get(`${path}&fields=side,price&format=ndjson`);
  const parsed = ndjson.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  assert.deepEqual(parsed.map(Object.entries), rows.map(Object.entries));
  for (const format of ["parquet", "arrow"])
    assert.equal((await server.get(`${path}&fields=side,price&format=${format}`)).status, 200);
});

test("200: a cursor works with other fields, and a repeated field is sent once", async () => {
  const first = await server.getPage("/v1/trades?limit=2&fields=id,id");
  assert.deepEqual(Object.keys(first.data[0] ?? {}), ["id"]);
  const cursor = String(first.pagination.next_cursor);
  const next = await server.getPage(`/v1/trades?limit=2&cursor=${cursor}&fields=seq`);
  const plain = await server.getPage(`/v1/trades?limit=2&cursor=${cursor}`);
  assert.deepEqual(
    next.data,
    plain.data.map(({ seq }) => ({ seq })),
  );
});

test("200: fields of include need it", async () => {
  const { data } = await server.getPage("/v1/trades?limit=1&fields=question,id&include=market");
  assert.deepEqual(Object.keys(data[0] ?? {}), ["question", "id"]);
  const { message } = assertError(await server.get("/v1/trades?fields=slug"), "VALIDATION_ERROR");
  assert.equal(message, "fields slug needs include=market");
  const holders = `/v1/markets/${String(trade["condition_id"])}/holders?limit=2&fields=avg_price,size`;
  for (const format of ["json", "csv"]) {
    const refused = assertError(
      await server.get(`${holders}&format=${format}`),
      "VALIDATION_ERROR",
    );
    assert.equal(refused.message, "fields avg_price needs include_pnl=true");
  }
  const { text } = await server.get(`${holders}&format=csv&include_pnl=true`);
  assert.match(text, /^avg_price,size\r\n[0-9.]+,[0-9.]+\r\n/);
});

test("400: an unknown field is named, with the one that was probably meant", async () => {
  const { message } = assertError(
    await server.get("/v1/trades?fields=id,pricee"),
    "VALIDATION_ERROR",
  );
  assert.match(
    message,
    /^fields must be a list of 1 to \d+, each one of id, seq, .*; got "pricee"; did you mean price\?$/,
  );
  for (const fields of ["", ",", "id,"]) {
    assertError(await server.get(`/v1/trades?fields=${fields}`), "VALIDATION_ERROR");
  }
});
