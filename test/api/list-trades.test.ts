import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import { getIds, testList } from "../support/list-cases.ts";
import { toMicros, tradeFilters } from "../support/naive-filters.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

test("200: include=market adds the current question, slug and event of the market", async () => {
  const markets = await server.getAll("/v1/markets?limit=100");
  for (const path of ["/v1/trades", "/v1/fills", "/v1/matches"]) {
    const plain = await server.getAll(`${path}?limit=1000`);
    const named = await server.getAll(`${path}?limit=1000&include=market`);
    const expected = plain.map((row) => {
      const market = markets.find(({ id }) => id === row["condition_id"]) ?? {};
      const { question = null, slug = null, event_id = null } = market;
      return { ...row, question, slug, event_id };
    });
    assert.deepEqual(named, expected, path);
  }
  const [{ token_id, condition_id } = {}] = (await server.getPage("/v1/trades?limit=1")).data;
  const path = `/v1/trades/market/${String(token_id)}?limit=1&include=market`;
  assert.equal((await server.getPage(path)).data[0]?.["slug"], null);
  server.state.applyMetadata(condition_id as ConditionId, { ...noMetadata, slug: "a-slug" });
  assert.equal((await server.getPage(path)).data[0]?.["slug"], "a-slug");
});

test("200: slug, event_id, category and tag choose the trades of their markets, and all must hold", async () => {
  const all = await server.getAll("/v1/trades?limit=1000");
  const ids = [...new Set(all.map((row) => String(row["condition_id"])))].filter(
    (id) => id !== "null",
  );
  const [one = "", two = "", three = ""] = ids;
  const labels = {
    [one]: ["one", "7", "Sports"],
    [two]: ["two", "7", "sports"],
    [three]: ["three", "8", "Art"],
  };
  for (const [id, [slug = "", eventId = "", category = ""]] of Object.entries(labels)) {
    const tags = [`Of ${slug}`, "Any"];
    server.state.applyMetadata(id as ConditionId, { ...noMetadata, slug, eventId, category, tags });
  }
  const markets = await server.getAll("/v1/markets?limit=100");
  const eventId = String(markets.find(({ id }) => id === two)?.["event_id"]);
  const ofEvent = ids.filter((id) =>
    markets.some((row) => row["id"] === id && row["event_id"] === eventId),
  );
  const expected: [string, readonly string[]][] = [
    ["slug=one", [one]],
    ["slug=one,three", [one, three]],
    [`event_id=${eventId}`, ofEvent],
    ["category=SPORTS", [one, two]],
    ["category=sports,art", [one, two, three]],
    ["category=sports&slug=two,three", [two]],
    [`event_id=${eventId}&slug=two`, [two]],
    ["event_id=9&slug=one", []],
    ["slug=unknown", []],
    ["tag=any", [one, two, three]],
    ["tag=of+two,of+three&category=sports", [two]],
    [`category=sports&condition_id=${one}`, [one]],
  ];
  for (const path of ["/v1/trades", "/v1/fills", "/v1/matches"]) {
    const rows = path === "/v1/trades" ? all : await server.getAll(`${path}?limit=1000`);
    for (const [query, conditions] of expected) {
      const served = await server.getAll(`${path}?${query}&limit=1000`);
      const chosen = rows.filter((row) => conditions.includes(String(row["condition_id"])));
      assert.deepEqual(getIds(served), getIds(chosen), `${path} ${query}`);
    }
  }
});

test("200: sort=value orders by value, and its pages have every row once", async () => {
  const [newest] = (await server.getPage("/v1/trades?limit=1")).data;
  const start = Number(newest?.["timestamp_ms"]) - 6 * 86_400_000;
  for (const side of ["", "&side=BUY", "&status=finalized"]) {
    const rows = await server.getAll(`/v1/trades?limit=1000&start=${start}${side}`);
    const sorted = rows.toSorted((a, b) => {
      const [one, other] = [toMicros(a["value_usd"]), toMicros(b["value_usd"])];
      return one === other ? Number(b["seq"]) - Number(a["seq"]) : one < other ? 1 : -1;
    });
    const path = `/v1/trades?sort=value&start=${start}${side}`;
    assert(sorted.length > 50);
    assert.deepEqual(getIds(await server.getAll(`${path}&limit=1000`)), getIds(sorted), side);
    const rising = getIds(await server.getAll(`${path}&limit=97&order=asc`));
    assert.deepEqual(rising, getIds(sorted.toReversed()), side);
    assert.deepEqual(getIds(await server.getAll(`${path}&limit=83`)), getIds(sorted), side);
  }
});

test("200: sort=value with include_complement orders by the inverted values", async () => {
  const [{ token_id } = {}] = (await server.getPage("/v1/trades?limit=1")).data;
  const path = `/v1/trades/market/${String(token_id)}?include_complement=true`;
  const rows = await server.getAll(`${path}&sort=value&limit=7`);
  const values = rows.map((row) => toMicros(row["value_usd"]));
  assert.deepEqual(
    values,
    values.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)),
  );
  const all = await server.getAll(`${path}&limit=1000`);
  assert.deepEqual(new Set(getIds(rows)), new Set(getIds(all)));
});

test("400: sort=value beyond 7 days, with other bounds, and as a whole file", async () => {
  const refusals: [string, string][] = [
    [
      "sort=value&start=0",
      "start must be at most 7 days before end (by default now) with sort=value",
    ],
    [
      "sort=value&start=1000000&end=1604801",
      "start must be at most 7 days before end (by default now) with sort=value",
    ],
    ["sort=value&from_block=1", "from_block cannot be combined with sort=value; use start and end"],
    ["sort=value&after_seq=1", "after_seq cannot be combined with sort=value; use start and end"],
    ["sort=value&format=csv", "limit is required with sort=value in formats other than json"],
    ["min_price=0.6&max_price=0.5", "max_price must not be below min_price"],
    [
      "min_price=-0.1",
      'min_price must be a decimal of at least 0, such as 12.5, with at most 32 digits before the point and 6 after it; got "-0.1"',
    ],
  ];
  for (const [query, message] of refusals) {
    const error = assertError(await server.get(`/v1/trades?${query}`), "VALIDATION_ERROR");
    assert.equal(error.message, message);
  }
  await server.getPage("/v1/trades?sort=value&start=1000000&end=1604800");
});

test("200: prices above 1 are bounds like others, up to the largest amount", async () => {
  const all = await server.getAll("/v1/trades?limit=1000");
  const largest = `${"9".repeat(32)}.999999`;
  for (const [query, expected] of [
    ["min_price=1.02", all.filter(({ price }) => Number(price) >= 1.02)],
    [`max_price=${largest}`, all.filter(({ price }) => price !== null)],
    ["max_price=1.02", all.filter(({ price }) => price !== null && Number(price) <= 1.02)],
    [`min_price=${largest}`, []],
  ] as const)
    assert.deepEqual(await server.getAll(`/v1/trades?limit=1000&${query}`), expected, query);
});

testList({ server, path: "/v1/trades", filters: tradeFilters });
