/** Tokens named by market and outcome, wherever a path or a filter takes one. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const markets = await server.getAll("/v1/markets?limit=100&sort=volume");
const traded = markets.find(({ tokens }) => (tokens as Row[]).length === 2) ?? {};
const [token = {}, other = {}] = traded["tokens"] as Row[];
const id = String(token["token_id"]);
const condition = String(traded["id"]);
const outcome = String(token["outcome"]);
server.state.applyMetadata(condition as ConditionId, {
  slug: "who-wins",
  category: null,
  tags: [],
  eventId: null,
  eventSlug: null,
  eventTitle: null,
  outcomeLabel: null,
  startMs: null,
  endMs: null,
  image: null,
  question: null,
  description: null,
  outcomes: null,
});

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
      (one: string) => `/v1/orderbook/${one}`,
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

test("404: a path names an unknown market; 400: a filter does, or an outcome that is none", async () => {
  const { message } = assertError(await server.get("/v1/price/nothing:yes"), "NOT_FOUND");
  assert.equal(message, "No market is named nothing");
  const filter = assertError(
    await server.get("/v1/trades?token_id=nothing:yes"),
    "VALIDATION_ERROR",
  );
  assert.equal(filter.message, "token_id names no market: nothing");
  const none = assertError(await server.get("/v1/price/who-wins:maybe"), "VALIDATION_ERROR");
  assert.match(none.message, /^token_id has an outcome that who-wins has not: it has /);
});

test("400: a wrong kind of id is recognized", async () => {
  for (const [path, kind] of [
    [`/v1/price/${condition}`, "a condition id or another hash"],
    [`/v1/price/0x${"ab".repeat(20)}`, "an address"],
    [`/v1/trades?condition_id=${id}`, "a token id"],
    [`/v1/trades?wallet=${condition}`, "a condition id or another hash"],
  ] as const) {
    const { message } = assertError(await server.get(path), "VALIDATION_ERROR");
    assert.match(message, new RegExp(`; this is ${kind}$`), path);
  }
  assertError(await server.get("/v1/price/who-wins"), "VALIDATION_ERROR");
});
