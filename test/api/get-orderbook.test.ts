import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Check } from "typebox/value";
import { withWrongIds } from "../../src/api/lists/wrong-ids.ts";
import { getOrderbook } from "../../src/api/routes/read/get-orderbook.ts";
import { formatTokenId } from "../../src/base/ids.ts";
import { bookRow } from "../../src/rows/book-row.ts";
import { pairPrice } from "../../src/views/prices/token-price.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import {
  assertError,
  assertEveryHeader,
  getData,
  openTestServer,
  testFreshness,
} from "../support/open-test-server.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open();
after(() => server.close());
const { venue } = server;

/** Traded tokens of open markets. */
const tokens = [...new Set(server.fills.map(({ tokenId }) => tokenId))].filter(
  (tokenId) => pairPrice(tokenId, server.state.directory)?.source === "last_trade",
);

/** Returns a different token for each test. */
function takeToken(): string {
  const tokenId = tokens.pop();
  assert(tokenId !== undefined, "there are open tokens");
  return formatTokenId(tokenId);
}

async function getBook(token: string, query = ""): Promise<Row> {
  const answer = await server.get(`/v1/orderbook/${token}${query}`);
  assert.equal(answer.status, 200, answer.text);
  const data = getData(answer);
  assert.ok(Check(bookRow, data), JSON.stringify(data));
  return data;
}

test("200: levels best first, with quote, depth and the fields of the venue", async () => {
  const token = takeToken();
  const book = venue.book(token);
  for (const [price, size] of [
    ["0.4", "10.5"],
    ["0.45", "20"],
    ["0.01", "1000"],
  ] as const)
    book.set("BUY", price, size);
  for (const [price, size] of [
    ["0.99", "100"],
    ["0.46", "3"],
  ] as const)
    book.set("SELL", price, size);
  book.tickSize = "0.01";
  book.lastTradePrice = "0.5";
  const answer = await server.get(`/v1/orderbook/${token}`);
  assertEveryHeader(answer.headers);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=10");
  const { age_ms: age, checksum, ...row } = getData(answer);
  assert.ok(Number.isInteger(age) && Number(age) >= 0 && Number(age) < 5000);
  assert.ok(Number.isInteger(checksum));
  assert.deepEqual(row, {
    token_id: token,
    bids: [
      { price: "0.45", size: "20" },
      { price: "0.4", size: "10.5" },
      { price: "0.01", size: "1000" },
    ],
    asks: [
      { price: "0.46", size: "3" },
      { price: "0.99", size: "100" },
    ],
    best_bid: "0.45",
    best_ask: "0.46",
    mid: "0.455",
    spread: "0.01",
    tick_size: "0.01",
    min_order_size: "5",
    bid_depth_usd: "23.2",
    ask_depth_usd: "100.38",
    last_trade_price: "0.5",
    hash: book.summary.hash,
    timestamp: new Date(book.timestampMs).toISOString(),
    timestamp_ms: book.timestampMs,
    source: row["source"],
    stale: false,
    stale_reason: null,
  });
  const shallow = await getBook(token, "?depth=1");
  assert.deepEqual(shallow["bids"], [{ price: "0.45", size: "20" }]);
  assert.deepEqual(shallow["asks"], [{ price: "0.46", size: "3" }]);
  assert.equal(shallow["bid_depth_usd"], "23.2");
  assert.equal(shallow["checksum"], checksum);
});

test("200: an empty book has no best prices", async () => {
  const book = await getBook(takeToken());
  const { bids, asks, best_bid, best_ask, mid, spread, bid_depth_usd, checksum } = book;
  assert.deepEqual([bids, asks, best_bid, best_ask, mid, spread], [[], [], null, null, null, null]);
  assert.deepEqual([bid_depth_usd, checksum], ["0", 0]);
});

test("200: every response has the newest book, its own request id, and the current age", async () => {
  const token = takeToken();
  await getBook(token);
  for (let round = 1; round <= 5; round += 1) {
    venue.change([{ assetId: token, side: "BUY", price: "0.3", size: String(round) }]);
    await waitFor("the change", async () => {
      const [best] = (await getBook(token))["bids"] as Row[];
      return best?.["size"] === String(round) ? true : null;
    });
  }
  const headers = { "x-request-id": "twice" };
  const key = server.edge.keys.read;
  const path = `/v1/orderbook/${token}`;
  const first = await server.edge.request("GET", path, { key, headers });
  const again = await server.edge.request("GET", path, { key });
  assert.deepEqual({ ...getData(first), age_ms: 0 }, { ...getData(again), age_ms: 0 });
  assert.ok(Number(getData(again)["age_ms"]) >= Number(getData(first)["age_ms"]));
  assert.equal((first.body["meta"] as Row)["request_id"], "twice");
  assert.notEqual((again.body["meta"] as Row)["request_id"], "twice");
});

test("200: an unreliable book is marked stale, with the reason", async () => {
  const token = takeToken();
  await getBook(token);
  venue.change([{ assetId: token, side: "BUY", price: "0.6", size: "1" }]);
  venue.change([{ assetId: token, side: "SELL", price: "0.5", size: "1" }]);
  await waitFor("the mismatch", async () =>
    (await getBook(token))["stale_reason"] === "crossed" ? true : null,
  );
  assert.equal((await getBook(token))["stale"], true);
  const price = getData(await server.get(`/v1/price/${token}`));
  assert.equal(price["best_bid"], null, "a price has no quote of a book that is stale");
});

test("200: the first price of a token has the quote of its live book", async () => {
  const token = takeToken();
  venue.book(token).set("BUY", "0.4", "1");
  venue.book(token).set("SELL", "0.44", "1");
  const path = `/v1/price/${token}`;
  // The request makes the service follow the book, and waits for it.
  const price = getData(await server.get(path));
  const { best_bid, best_ask, mid, spread } = price;
  assert.deepEqual([best_bid, best_ask, mid, spread], ["0.4", "0.44", "0.42", "0.04"]);
  venue.change([{ assetId: token, side: "BUY", price: "0.41", size: "2" }]);
  await waitFor("the change", async () => {
    const [listed] = (await server.getPage(`/v1/price?token_ids=${token}`)).data;
    const row = getData(await server.get(path));
    return row["best_bid"] === "0.41" && listed?.["best_bid"] === "0.41" ? true : null;
  });
});

test("200: a price of a token without a book has no quote", async () => {
  const price = getData(await server.get(`/v1/price/${takeToken()}`));
  assert.deepEqual([price["best_bid"], price["mid"]], [null, null]);
});

test("400: a depth out of range", async () => {
  const token = takeToken();
  for (const query of ["depth=0", "depth=1001", "depth=x", "levels=5"])
    assertError(await server.get(`/v1/orderbook/${token}?${query}`), "VALIDATION_ERROR");
});

test("404: an unknown token, without a request to the venue", async () => {
  assertError(await server.get("/v1/orderbook/4711"), "NOT_FOUND");
  // Books of other tokens can be read again in the meantime.
  assert.deepEqual(
    venue.requests.filter((request) => /["=]4711\b/.test(request)),
    [],
  );
});

test("404: the venue has no book of a known token", async () => {
  const backend = {
    state: server.state,
    freshness: () => testFreshness,
    books: { read: async () => "absent" },
  } as never;
  const edge = await openTestServer({ routes: [withWrongIds(getOrderbook(backend), backend)] });
  const answer = await edge.request("GET", `/v1/orderbook/${takeToken()}`, {
    key: edge.keys.read,
  });
  await edge.close();
  const { message } = assertError(answer, "NOT_FOUND");
  assert.equal(message, "The venue has no order book of this token");
});

test("503: the source is not configured or is unavailable; the message says which", async () => {
  const token = takeToken();
  const { store, state } = server;
  const backend = { store, state, freshness: () => testFreshness, books: null };
  const edge = await openTestServer({ routes: [getOrderbook(backend as never)] });
  const path = `/v1/orderbook/${token}`;
  const none = await edge.request("GET", path, { key: edge.keys.read });
  assert.equal(none.status, 503);
  assert.match(none.text, /"SERVICE_UNAVAILABLE".*configured/);
  assert.equal(none.headers.get("retry-after"), null, "a retry does not help");
  await edge.close();
  venue.httpFault = () => ({ status: 502, body: "<html>" });
  venue.isSilent = true;
  venue.dropSockets();
  const away = await server.get(path);
  const { message } = assertError(away, "SERVICE_UNAVAILABLE");
  assert.match(message, /polymarket\) is unavailable/);
  assert.equal(away.headers.get("retry-after"), "5");
});
