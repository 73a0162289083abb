import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import type { VenueMetadata } from "../../src/market/venue-metadata.ts";
import { getIds, getPath } from "../support/list-cases.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 800, unfinalizedBlocks: 200 });
after(() => server.close());

const path = "/v1/events";
const markets = await server.getAll("/v1/markets?limit=100");
const plain = markets.filter((row) => row["neg_risk"] === false && row["event_id"] === null);

/** Market metadata of a market that is part of an event of the venue. */
const ofEvent: VenueMetadata = {
  slug: null,
  category: "Sports",
  tags: ["Cup"],
  eventId: "4711",
  eventSlug: "the-cup",
  eventTitle: "The Cup",
  outcomeLabel: "Home",
  startMs: null,
  endMs: Date.parse("2027-01-31T12:00:00Z"),
  image: null,
  question: null,
  description: null,
  outcomes: null,
};

async function all(query: Record<string, string> = {}): Promise<readonly Row[]> {
  return server.getAll(getPath(path, { limit: "50", ...query }));
}

function getMarkets(event: Row | undefined): readonly Row[] {
  return (event?.["markets"] ?? []) as readonly Row[];
}

function sumAll(rows: readonly Row[], field: string): bigint {
  return rows.reduce((sum, row) => sum + toMicros(row[field]), 0n);
}

function byVolume(one: Row, other: Row): number {
  return Number(toMicros(one["volume_usd"]) - toMicros(other["volume_usd"]));
}

describe("events of the chain and of the venue", () => {
  let events: readonly Row[] = [];
  before(async () => {
    for (const row of plain.slice(0, 3))
      server.state.applyMetadata(row["id"] as ConditionId, ofEvent);
    events = await all();
  });

  test("200: each neg-risk event has its markets and their totals", () => {
    const byEvent = Map.groupBy(
      markets.filter((row) => row["neg_risk_market_id"] !== null),
      (row) => String(row["neg_risk_market_id"]),
    );
    const negRisk = events.filter((event) => event["neg_risk"] === true);
    assert(byEvent.size > 1);
    assert.deepEqual(new Set(getIds(negRisk)), new Set(byEvent.keys()));
    for (const event of negRisk) {
      const own = byEvent.get(String(event["id"])) ?? [];
      assert.equal(event["neg_risk_market_id"], event["id"]);
      assert.deepEqual(new Set(getIds(getMarkets(event))), new Set(getIds(own)));
      assert.equal(event["market_count"], own.length);
      for (const field of ["volume_usd", "volume_24h_usd"])
        assert.equal(toMicros(event[field]), sumAll(own, field), field);
      const trades = own.reduce((sum, row) => sum + Number(row["trades"]), 0);
      assert.equal(event["trades"], trades);
      const isResolved = own.every((row) => row["status"] === "resolved");
      assert.equal(event["status"], isResolved ? "resolved" : "open");
      const prices = own.flatMap((row) => (row["tokens"] as Row[])[0]?.["price"] ?? []);
      const sum = prices.reduce((before: bigint, price) => before + toMicros(price), 0n);
      assert.equal(event["price_sum"] === null ? 0n : toMicros(event["price_sum"]), sum);
      assert.equal(typeof event["title"], "string");
    }
  });

  test("200: an event of the venue has its id, title, slug and labels", () => {
    const [event, ...others] = events.filter((one) => one["id"] === "4711");
    assert.deepEqual(others, []);
    const { title, slug, category, tags, neg_risk, price_sum, end_date } = event ?? {};
    assert.deepEqual(
      { title, slug, category, tags, neg_risk, price_sum, end_date },
      {
        title: "The Cup",
        slug: "the-cup",
        category: "Sports",
        tags: ["Cup"],
        neg_risk: false,
        price_sum: null,
        end_date: "2027-01-31T12:00:00Z",
      },
    );
    assert.deepEqual(new Set(getIds(getMarkets(event))), new Set(getIds(plain.slice(0, 3))));
    assert(getMarkets(event).every((market) => market["outcome_label"] === "Home"));
  });

  test("200: sorted by each field, pages have every event once", async () => {
    const keys = {
      volume_24h: (row: Row) => Number(toMicros(row["volume_24h_usd"])),
      volume: (row: Row) => Number(toMicros(row["volume_usd"])),
      created_at: (row: Row) => Number(row["created_at_ms"]),
      // An event without an end comes last in both orders.
      end_date: ({ end_date }: Row, sign: number) =>
        typeof end_date === "string" ? Date.parse(end_date) : sign * Number.MAX_VALUE,
    };
    for (const [sort, getKey] of Object.entries(keys)) {
      for (const [order, sign] of [
        ["asc", 1],
        ["desc", -1],
      ] as const) {
        const rows = await server.getAll(getPath(path, { sort, order, limit: "2" }));
        assert.equal(rows.length, events.length);
        assert.equal(new Set(getIds(rows)).size, rows.length);
        const values = rows.map((row) => getKey(row, sign));
        assert.deepEqual(
          values,
          values.toSorted((a, b) => sign * (a - b)),
          `${sort} ${order}`,
        );
      }
    }
  });

  test("200: an event matches by any of its markets, and is returned with all of them", async () => {
    const [event] = events.filter((one) => one["neg_risk"] === true && getMarkets(one).length > 1);
    const id = String(event?.["id"]);
    const [, second] = getMarkets(event);
    assert.deepEqual(await all({ condition_id: String(second?.["id"]) }), [event]);
    assert.deepEqual(await all({ neg_risk_market_id: id }), [event]);
    assert.deepEqual(getIds(await all({ event_id: "4711" })), ["4711"]);
    assert.deepEqual(getIds(await all({ category: "sports" })), ["4711"]);
    assert.deepEqual(getIds(await all({ tag: "cup,other" })), ["4711"]);
    for (const status of ["open", "resolved"]) {
      const requested = events.filter((one) => one["status"] === status);
      assert.deepEqual(getIds(await all({ status })), getIds(requested));
    }
    const requested = events.filter((one) => one["neg_risk"] === true);
    assert.deepEqual(getIds(await all({ neg_risk: "true" })), getIds(requested));
    const [middle] = events.toSorted(byVolume).slice(events.length / 2);
    const rich = await all({ min_volume: middle?.["volume_usd"] as string });
    assert.deepEqual(
      getIds(rich.toSorted(byVolume)),
      getIds(events.filter((one) => byVolume(one, middle ?? {}) >= 0).toSorted(byVolume)),
    );
    const found = await all({ search: String(second?.["question"]) });
    assert(getIds(found).includes(id));
  });

  test("200: finds one event by its id, also in upper case, or by the venue's id or slug", async () => {
    const [event] = events.filter((one) => one["neg_risk"] === true);
    const id = String(event?.["id"]);
    for (const name of [id, `0x${id.slice(2).toUpperCase()}`]) {
      const answer = await server.get(`${path}/${name}`);
      assert.equal(answer.status, 200, answer.text);
      assertEveryHeader(answer.headers);
      assert.equal(answer.headers.get("cache-control"), "private, max-age=10");
      assert.deepEqual(getData(answer), event);
    }
    for (const name of ["4711", "the-cup"])
      assert.equal(getData(await server.get(`${path}/${name}`))["id"], "4711");
  });

  test("200: lists can be filtered by event, and a market names its event", async () => {
    const [event] = events.filter((one) => one["neg_risk"] === true);
    const id = String(event?.["id"]);
    const query = { neg_risk_market_id: id, include: "event", limit: "100" };
    const rows = await server.getAll(getPath("/v1/markets", query));
    assert.deepEqual(new Set(getIds(rows)), new Set(getIds(getMarkets(event))));
    for (const name of [id, `0x${id.slice(2).toUpperCase()}`]) {
      const byId = { event_id: name, include: "event", limit: "100" };
      assert.deepEqual(await server.getAll(getPath("/v1/markets", byId)), rows);
      assert.deepEqual(await all({ event_id: name }), [event]);
    }
    for (const row of rows)
      assert.deepEqual(row["event"], { id, title: event?.["title"], slug: event?.["slug"] });
    for (const list of ["/v1/trades", "/v1/fills", "/v1/matches", "/v1/resolutions"]) {
      const every = await server.getAll(`${list}?limit=1000`);
      const ids = new Set(getIds(getMarkets(event)));
      const expected = every.filter((row) => ids.has(String(row["condition_id"])));
      const served = await server.getAll(getPath(list, { neg_risk_market_id: id, limit: "1000" }));
      assert.deepEqual(getIds(served), getIds(expected), list);
    }
  });
});

test("400: an unknown or invalid parameter, and a cursor of another list", async () => {
  for (const query of ["sort=trades", "limit=51", "neg_risk_market_id=0x12", "side=BUY"])
    assertError(await server.get(`${path}?${query}`), "VALIDATION_ERROR");
  const { pagination } = await server.getPage(`${path}?limit=1`);
  const cursor = pagination.next_cursor;
  assertError(await server.get(`${path}?order=asc&cursor=${cursor}`), "INVALID_CURSOR");
});

test("404: an event without a market", async () => {
  for (const id of ["1", "no-such-event", `0x${"ee".repeat(32)}`])
    assertError(await server.get(`${path}/${id}`), "NOT_FOUND");
});

test("200: a reorg that reverts markets reverts their events", async () => {
  const before = await all({ neg_risk: "true", sort: "created_at" });
  const newest = server.newestBlock;
  await server.fork(server.finalBlock, []);
  const final = await all({ neg_risk: "true", sort: "created_at" });
  const listed = new Set(getIds(await server.getAll("/v1/markets?limit=100")));
  assert(final.every((event) => getIds(getMarkets(event)).every((id) => listed.has(id))));
  assert.notDeepEqual(final, before);
  await server.advance({ unfinalized: newest });
  assert.deepEqual(await all({ neg_risk: "true", sort: "created_at" }), before);
});

test("200: pages continue after an event whose market metadata a reorg has reverted", async () => {
  const ids = plain.slice(3).map(({ id }) => id as ConditionId);
  const late = ids[Math.floor(ids.length / 2)];
  assert(late !== undefined && ids.length > 4);
  for (const [index, id] of ids.entries())
    if (id !== late) server.state.applyMetadata(id, { ...ofEvent, eventId: String(index) });
  await server.advance({ final: server.newestBlock });
  await server.advance({ unfinalized: server.newestBlock + 5 });
  server.state.applyMetadata(late, { ...ofEvent, eventId: "9000" });
  const { finalBlock, newestBlock } = server;
  const unfinalized = server.facts.filter(
    ({ number }) => number > finalBlock && number <= newestBlock,
  );
  let pages = 1;
  const rows = await server.getAll(`${path}?sort=created_at&order=asc&limit=1`, async () => {
    pages += 1;
    if (pages === 2) await server.fork(finalBlock, unfinalized);
  });
  const remaining = await all({ sort: "created_at", order: "asc" });
  assert(!getIds(remaining).includes("9000"));
  assert.deepEqual(getIds(rows), getIds(remaining));
});
