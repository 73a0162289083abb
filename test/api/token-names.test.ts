/** Tokens named by market and outcome, wherever a path or a filter takes one. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Address, ConditionId } from "../../src/base/ids.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const markets = await server.getAll("/v1/markets?limit=100&sort=volume");
const { byAddress } = server.state.directory.contracts;
const traded =
  markets.find(({ oracle }) => byAddress.get(oracle as Address)?.kind === "uma_adapter") ?? {};
const [token = {}, other = {}] = traded["tokens"] as Row[];
const id = String(token["token_id"]);
const condition = String(traded["id"]);
const outcome = String(token["outcome"]);
server.state.applyMetadata(condition as ConditionId, {
  ...noMetadata,
  slug: "who-wins",
  eventId: "4711",
  eventSlug: "the-race",
});

const [trade = {}] = (await server.getPage(`/v1/trades?limit=1&token_id=${id}`)).data;
const wallet = `/v1/wallets/${String(trade["maker"])}`;

const names = [
  "who-wins:0",
  `${condition}:0`,
  `${condition.toUpperCase().replace("0X", "0x")}:0`,
  ...(token["outcome"] === null
    ? []
    : [`who-wins:${outcome.toUpperCase()}`, `${condition}:${outcome}`]),
];

for (const name of names) {
  test(`200: ${name} is the token of that outcome`, async () => {
    const given = encodeURIComponent(name);
    for (const path of [
      (one: string) => `/v1/price/${one}`,
      (one: string) => `/v1/price?token_ids=${one},${String(other["token_id"])}`,
      (one: string) => `/v1/candles/${one}`,
      (one: string) => `/v1/trades/market/${one}?limit=2`,
      (one: string) => `/v1/trades?limit=2&token_id=${one}`,
      (one: string) => `/v1/fills?limit=2&token_id=${one}`,
      (one: string) => `/v1/markets?token_id=${one}`,
      (one: string) => `/v1/markets/${one}`,
      (one: string) => `/v1/markets/${one}/holders?limit=2`,
      (one: string) => `/v1/markets/${one}/open-interest?limit=2`,
      (one: string) => `/v1/markets/${one}/resolution`,
      (one: string) => `/v1/orderbook/${one}`,
      (one: string) => `${wallet}/positions?limit=2&status=all&token_id=${one}`,
      (one: string) => `${wallet}/activity?limit=2&token_id=${one}`,
    ]) {
      const expected = await server.get(path(id));
      assert.equal(expected.status, 200, path(id));
      for (const spelled of [given, name]) {
        const { status, body } = await server.get(path(spelled));
        assert.equal(status, 200, path(spelled));
        const strip = (data: unknown) =>
          JSON.stringify(data, (key, value: unknown) => (key === "age_ms" ? 0 : value));
        assert.equal(strip(body["data"]), strip(expected.body["data"]), path(spelled));
      }
    }
  });
}

test("200: pages of a named token follow each other", async () => {
  const all = await server.getAll(`/v1/trades/market/${id}?limit=1000`);
  assert(all.length > 3);
  assert.deepEqual(await server.getAll("/v1/trades/market/who-wins:0?limit=3"), all);
});

test("404: an unknown market in a path; 400: in a filter, or an unknown outcome", async () => {
  const { message } = assertError(await server.get("/v1/price/nothing:yes"), "NOT_FOUND");
  assert.equal(message, "No market is named nothing");
  const filter = assertError(
    await server.get("/v1/trades?token_id=nothing:yes"),
    "VALIDATION_ERROR",
  );
  assert.equal(filter.message, "token_id names no market: nothing");
  const none = assertError(await server.get("/v1/price/who-wins:maybe"), "VALIDATION_ERROR");
  assert.match(none.message, /^token_id has an outcome that who-wins has not: it has /);
  const market = assertError(await server.get("/v1/markets/who-wins:maybe"), "VALIDATION_ERROR");
  assert.match(market.message, /^id has an outcome that who-wins has not: it has /);
  assertError(await server.get("/v1/markets/nothing:yes"), "NOT_FOUND");
});

/** What each kind of id is called where another one is expected. */
const tokens = `its tokens are ${id}( \\(.+\\))? and [0-9]+( \\(.+\\))?`;
const inHex = `0x${BigInt(id).toString(16).padStart(64, "0")}`;
const kinds: readonly (readonly [id: string, kind: string])[] = [
  [condition, `the condition id of a market, ${condition}; ${tokens}`],
  [BigInt(condition).toString(), `the condition id of a market, ${condition}; ${tokens}`],
  [id, `a token id; its market is ${condition}`],
  [inHex, `a token id in hex, in decimal ${id}; its market is ${condition}`],
  [String(traded["question_id"]), `the question id of a market, ${condition}; ${tokens}`],
  ["who-wins", `the slug of a market, ${condition}; ${tokens}`],
  [
    "https://polymarket.com/event/an-event/who-wins?tid=1",
    `a page with the slug of a market, ${condition}; ${tokens}`,
  ],
  [`0x${"ab".repeat(20)}`, "an address"],
  [`0x${"cd".repeat(32)}`, "a condition id or another hash"],
  ["ab".repeat(32), "an address or a hash without 0x"],
  ["another-slug", "a slug"],
];

/** Paths and filters by the form of id that they take, and which of `kinds` they take themselves. */
const places: readonly (readonly [at: (id: string) => string, own: readonly number[]])[] = [
  [(one) => `/v1/price/${one}`, [2]],
  [(one) => `/v1/price?token_ids=${one}`, [2]],
  [(one) => `/v1/candles/${one}`, [2]],
  [(one) => `/v1/orderbook/${one}`, [2]],
  [(one) => `/v1/trades/market/${one}`, [2]],
  [(one) => `/v1/trades?token_id=${one}`, [2]],
  [(one) => `/v1/trades?condition_id=${one}`, [0, 8]],
  [(one) => `/v1/markets?condition_id=${one}`, [0, 8]],
  [(one) => `/v1/resolutions?condition_id=${one}`, [0, 8]],
  [(one) => `/v1/trades?tx_hash=${one}`, [8]],
  [(one) => `/v1/trades?neg_risk_market_id=${one}`, [8]],
  [(one) => `/v1/trades?wallet=${one}`, [7]],
  [(one) => `/v1/wallets/${one}`, [7]],
  [(one) => `/v1/transactions/${one}`, [8]],
  [(one) => `/v1/orders/${one}`, [8]],
];

for (const [at, own] of places)
  test(`400 or 404: ${at("{id}")} says what kind of id it got instead`, async () => {
    for (const [index, [given, kind]] of kinds.entries()) {
      if (own.includes(index)) continue;
      const { status, body } = await server.get(at(encodeURIComponent(given)));
      const { message } = body["error"] as { message: string };
      assert([400, 404].includes(status), message);
      assert.match(message, new RegExp(`(; this)? is ${kind}$`), given);
    }
  });

test("404: a market or an event says what kind of id it got instead", async () => {
  const question = String(traded["question_id"]);
  for (const path of [`/v1/markets/${question}`, `/v1/events/${condition}`, "/v1/events/who-wins"])
    assert.match(assertError(await server.get(path), "NOT_FOUND").message, /; this is the /);
});

test("404 or 400: the id of an event, also when a question has it, and where its markets are", async () => {
  const event = markets.map((row) => row["neg_risk_market_id"]).find((one) => one !== null);
  assert(typeof event === "string");
  const expected = `is the id of an event; its markets are in /v1/markets?event_id=${event}`;
  for (const path of [
    `/v1/markets/${event}`,
    `/v1/markets/${event}/resolution`,
    `/v1/trades?condition_id=${event}`,
  ]) {
    const { message } = (await server.get(path)).body["error"] as { message: string };
    assert(message.endsWith(expected), message);
  }
  assert.equal((await server.get(`/v1/markets?event_id=${event}`)).status, 200);
});

test("404: a wallet instead of a market; 400: a number of 2^256 or more instead of a token", async () => {
  for (const path of ["", "/resolution"]) {
    const answer = await server.get(`/v1/markets/0x${"ab".repeat(20)}${path}`);
    assert.match(assertError(answer, "NOT_FOUND").message, /; this is an address$/);
  }
  for (const path of ["/v1/price/", "/v1/price?token_ids="]) {
    const answer = await server.get(path + 2n ** 256n);
    assert.match(assertError(answer, "VALIDATION_ERROR").message, /got "[0-9]+[^;]*$/);
  }
});

test("400: event_id says which event has a slug", async () => {
  const { message } = assertError(
    await server.get("/v1/markets?event_id=the-race"),
    "VALIDATION_ERROR",
  );
  assert.match(message, /is the slug of an event, 4711$/);
});
