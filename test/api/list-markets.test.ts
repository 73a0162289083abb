import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Cursors } from "../../src/api/route/cursor.ts";
import type { WrittenJson } from "../../src/api/route/response-cache.ts";
import { listMarkets } from "../../src/api/routes/read/list-markets.ts";
import type { ConditionId } from "../../src/base/ids.ts";
import type { VenueMetadata } from "../../src/market/venue-metadata.ts";
import { parseMarket } from "../../src/venue/metadata/parse-market.ts";
import { getIds, getPath } from "../support/list-cases.ts";
import { toMicros } from "../support/naive-filters.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer, type ListPage, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 800, unfinalizedBlocks: 200 });
after(() => server.close());

const path = "/v1/markets";
for (const [at, { id }] of (await server.getAll(`${path}?limit=100`)).entries()) {
  const liquidityClob = at % 4 === 0 ? undefined : ((at * 7919) % 31) + 0.25;
  const market = parseMarket({ conditionId: id, liquidityClob });
  assert(market !== null);
  server.state.venue.take(market, 1_800_000_000);
}
const all = await server.getAll(`${path}?limit=100`);

async function idsFor(query: Record<string, string>): Promise<string[]> {
  return getIds(await server.getAll(getPath(path, { limit: "100", ...query })));
}

/** Returns the ids of the matching rows, in the order of the list without filters. */
function idsOfThose(isRequested: (row: Row) => boolean): string[] {
  return getIds(all.filter(isRequested));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function getTokens(row: Row | undefined): Row[] {
  return (row?.["tokens"] ?? []) as Row[];
}

test("200: filters by status, by active and by neg_risk", async () => {
  assert(all.length > 20);
  assert.deepEqual(await idsFor({ status: "all" }), getIds(all));
  for (const status of ["open", "resolved"]) {
    const expected = idsOfThose((row) => row["status"] === status);
    assert(expected.length > 2);
    assert.deepEqual(await idsFor({ status }), expected);
    assert.deepEqual(await idsFor({ active: String(status === "open") }), expected);
  }
  for (const isNegRisk of [true, false]) {
    const expected = idsOfThose((row) => row["neg_risk"] === isNegRisk);
    assert(expected.length > 2);
    assert.deepEqual(await idsFor({ neg_risk: String(isNegRisk) }), expected);
  }
  assert.deepEqual(await idsFor({ active: "true", status: "resolved" }), []);
});

test("200: a list of ids matches any of them", async () => {
  const [first, second, third] = all.filter((row) => getTokens(row).length === 2);
  const id = (row: Row | undefined) => String(row?.["id"]);
  const token = (row: Row | undefined) => String(getTokens(row)[1]?.["token_id"]);
  const unknown = `0x${"ee".repeat(32)}`;
  assert.deepEqual(await idsFor({ condition_id: `${id(third)},${id(first)},${unknown}` }), [
    id(first),
    id(third),
  ]);
  assert.deepEqual(await idsFor({ token_id: `1,${token(second)}` }), [id(second)]);
  const both = { condition_id: `${id(first)},${id(second)}`, token_id: token(second) };
  assert.deepEqual(await idsFor(both), [id(second)]);
  const shouted = `0x${id(first).slice(2).toUpperCase()}`;
  assert.deepEqual(await idsFor({ condition_id: shouted }), [id(first)]);
  const eventIds = [...new Set(all.map((row) => row["event_id"]))].filter(isText);
  assert(eventIds.length > 1);
  for (const requested of [eventIds.slice(0, 1), eventIds.slice(0, 2), ["no such event"]]) {
    const expected = idsOfThose((row) => requested.some((one) => one === row["event_id"]));
    assert.deepEqual(await idsFor({ event_id: requested.join(",") }), expected);
  }
});

test("200: without market metadata, filters by its fields match nothing", async () => {
  for (const name of ["slug", "category", "tag"])
    assert.deepEqual(await idsFor({ [name]: "x" }), []);
  assert.deepEqual(await idsFor({ end_after: "0" }), []);
  assert.deepEqual(await idsFor({ end_before: "2100-01-01T00:00:00Z" }), []);
});

test("200: filters by minimum volume; created_after is inclusive, created_before exclusive", async () => {
  for (const [parameter, field] of [
    ["min_volume", "volume_usd"],
    ["min_volume_24h", "volume_24h_usd"],
  ] as const) {
    const middle = String(all[Math.floor(all.length / 2)]?.[field]);
    const expected = idsOfThose((row) => toMicros(row[field]) >= toMicros(middle));
    assert(expected.length > 2 && expected.length < all.length);
    assert.deepEqual(await idsFor({ [parameter]: middle }), expected);
  }
  const times = all.map((row) => Number(row["created_at_ms"])).toSorted((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  const after = idsOfThose((row) => Number(row["created_at_ms"]) >= middle);
  const before = idsOfThose((row) => Number(row["created_at_ms"]) < middle);
  assert(after.length > 2 && before.length > 2);
  assert.deepEqual(await idsFor({ created_after: String(middle) }), after);
  assert.deepEqual(await idsFor({ created_before: new Date(middle).toISOString() }), before);
});

/** The value that a list is ordered by; `null` comes last. */
const keys: Record<string, (row: Row) => bigint | null> = {
  volume_24h: (row) => toMicros(row["volume_24h_usd"]),
  volume: (row) => toMicros(row["volume_usd"]),
  trades_24h: (row) => BigInt(Number(row["trades_24h"])),
  created_at: (row) => BigInt(Number(row["created_at_ms"])),
  change_24h: (row) => microsOrNull(row["change_24h"]),
  liquidity: (row) => microsOrNull(row["liquidity_usd"]),
  last_trade_at: (row) =>
    row["last_trade_at"] === null ? null : BigInt(Number(row["last_trade_at_ms"])),
  end_date: () => null,
  open_interest: (row) => microsOrNull(row["open_interest_usd"]),
};

function microsOrNull(text: unknown): bigint | null {
  return text === null ? null : toMicros(text);
}

for (const [sort, getKey] of Object.entries(keys)) {
  test(`200: ${sort} sorts in both orders, null last, with ties by id`, async () => {
    for (const order of ["desc", "asc"]) {
      const expected = all.toSorted((a, b) => {
        const [one, other] = [getKey(a), getKey(b)];
        const sign = order === "asc" ? 1 : -1;
        if (one === null || other === null) {
          if (one !== other) return one === null ? 1 : -1;
        } else if (one !== other) return one < other ? -sign : sign;
        return String(a["id"]) < String(b["id"]) ? -1 : 1;
      });
      assert.deepEqual(await idsFor({ sort, order }), getIds(expected));
      for (const limit of ["1", "7"])
        assert.deepEqual(await idsFor({ sort, order, limit }), getIds(expected));
    }
  });
}

test("200: markets with and without each value are sorted", () => {
  for (const field of ["change_24h", "liquidity_usd", "last_trade_at"])
    for (const isNull of [true, false])
      assert(
        all.some((row) => (row[field] === null) === isNull),
        `${field} ${isNull}`,
      );
});

test("200: change_24h is that of the price of the first outcome, and resolved markets have no liquidity", async () => {
  assert(new Set(all.map((row) => row["change_24h"])).size > 3);
  assert(new Set(all.map((row) => row["liquidity_usd"])).size > 10);
  for (const row of all) {
    const [first] = getTokens(row);
    const isResolved = row["status"] === "resolved";
    if (isResolved) assert.equal(row["liquidity_usd"], null);
    if (first === undefined) continue;
    const answer = await server.get(`/v1/price/${String(first["token_id"])}?include_mirror=true`);
    const { stats_24h } = getData(answer) as { readonly stats_24h: Row };
    assert.equal(row["change_24h"], stats_24h["change"], String(row["id"]));
  }
});

test("200: by default sorted by 24h volume, 50 per page", async () => {
  const page = await server.getPage(path);
  assert.equal(page.pagination.limit, 50);
  assert.deepEqual(getIds(page.data), await idsFor({ sort: "volume_24h", order: "desc" }));
});

/** Splits a text into words as the search does. */
function toWords(text: unknown): string[] {
  return (isText(text) ? text : "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** Returns the rank of the best match of a word, 0 being the best, or `null` without a match. */
function getPlace(row: Row, word: string): number | null {
  const outcomes = getTokens(row)
    .map((token) => token["outcome"])
    .filter(isText);
  const texts = [row["question"], outcomes.join(" "), row["description"]].map(toWords);
  const ways = [
    (own: string) => own === word,
    (own: string, text: number) => own.startsWith(word) && (text < 2 || word.length > 2),
    (own: string, text: number) => own.includes(word) && text < 2 && word.length > 1,
  ];
  const places = texts.flatMap((words, text) => {
    const way = ways.findIndex((matches) => words.some((own) => matches(own, text)));
    return way === -1 ? [] : [text * ways.length + way];
  });
  // The start of a word in a description ranks below the middle of a word in an outcome.
  return places.length === 0 ? null : Math.min(...places);
}

test("200: a word finds all markets that have it, in the question before outcomes and description", async () => {
  for (const word of [
    "will",
    "win",
    "FaZe",
    "cup",
    "gęślą",
    "GESLA",
    "ill",
    "band",
    "chair",
    "2",
  ]) {
    const [folded = ""] = toWords(word);
    const served = await server.getAll(getPath(path, { search: word, limit: "100" }));
    const expected = idsOfThose((row) => getPlace(row, folded) !== null);
    assert(served.length > 0, word);
    assert.deepEqual(new Set(getIds(served)), new Set(expected), word);
    const places = served.map((row) => getPlace(row, folded) ?? Infinity);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      word,
    );
  }
});

test("200: all words must be found, in any order; ties keep the sort order", async () => {
  const words = ["win", "cup"];
  const expected = idsOfThose((row) => words.every((word) => getPlace(row, word) !== null));
  assert(expected.length > 1);
  assert.deepEqual(await idsFor({ search: "CUP, win!" }), expected);
  assert.deepEqual(await idsFor({ search: "win cup", limit: "1" }), expected);
  assert.deepEqual(await idsFor({ search: "win nothing-of-the-kind" }), []);
});

test("200: a search without a word finds nothing, rather than everything", async () => {
  for (const search of ["!", " ", "...", "-"]) assert.deepEqual(await idsFor({ search }), []);
});

test("200: pages have every market once while the values they are sorted by change", async () => {
  const rows = await server.getAll(`${path}?limit=3&sort=last_trade_at`, () =>
    server.advance({ unfinalized: server.newestBlock + 20, final: server.newestBlock - 10 }),
  );
  assert.equal(new Set(getIds(rows)).size, rows.length);
  assert(all.every(({ id }) => getIds(rows).includes(String(id))));
});

test("200: a cursor continues its own list after a restart", async () => {
  const { state, store } = server;
  const cursors = new Cursors(Buffer.alloc(32, 7), () => -1);
  const parts = { state, facts: store, cursors, freshness: () => ({}), bulk: {} } as never;
  const open = () => listMarkets(parts, server.edge.clock);
  const ask = async (route: ReturnType<typeof open>, query: object) => {
    const request = { id: "x", query: { ...byDefault, ...query } };
    const answer = await route.handler(request as never, {} as never);
    const { data, pagination } = answer as Pick<ListPage, "pagination"> & { data: WrittenJson };
    return { data: JSON.parse(data.text) as Row[], pagination };
  };
  const byDefault = { format: "json", limit: 2, order: "desc", sort: "volume", status: "all" };
  const before = open();
  const { pagination } = await ask(before, {});
  const expected = await ask(before, { cursor: pagination.next_cursor });
  const restarted = open();
  await ask(restarted, { sort: "created_at" });
  await ask(restarted, { order: "asc" });
  const { data } = await ask(restarted, { cursor: pagination.next_cursor });
  assert.deepEqual(getIds(data), getIds(expected.data));
});

test("200: can be cached for five minutes, and has every header", async () => {
  const answer = await server.get(path);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=300");
  assertEveryHeader(answer.headers);
});

test("400: names the parameter that is unknown, invalid or out of range", async () => {
  const manyWords = Array.from({ length: 33 }, (_, index) => `w${index}`).join("+");
  const refusals = [
    ["limit=101", 'limit must be a whole number from 1 to 100; got "101"'],
    ["active=yes", 'active must be true or false; got "yes"'],
    [
      "status=closed",
      'status must be one of open, resolved, all; got "closed"; did you mean resolved?',
    ],
    ["serch=x", /^serch is not known here; did you mean search\? Valid names: format, limit, /],
    ["q=x", /^q is not known here; did you mean search\?/],
    [
      `search=${"x".repeat(201)}`,
      /^search must be text of 1 to 200 characters; got "x{63}\.\.\."$/,
    ],
    [`search=${manyWords}`, "search must have at most 32 different words"],
    [
      "min_volume=-1",
      'min_volume must be a decimal of at least 0, such as 12.5, with at most 32 digits before the point and 6 after it; got "-1"',
    ],
    ["min_volume=0.0000001", /^min_volume must be a decimal/],
    [`min_volume=${"9".repeat(33)}`, /^min_volume must be a decimal/],
    ["sort=name", /^sort must be one of volume_24h, /],
    ["condition_id=0x1", /^condition_id must be a list of 1 to 100, each a condition id/],
    ["tag=a,,b", /^tag must be a list of 1 to 100/],
    ["created_after=5&created_before=5", "created_before must be after created_after"],
    ["end_after=2026-01-01T00:00:00Z&end_before=1", "end_before must be after end_after"],
  ] as const;
  for (const [query, expected] of refusals) {
    const { message } = assertError(await server.get(`${path}?${query}`), "VALIDATION_ERROR");
    if (typeof expected === "string") assert.equal(message, expected);
    else assert.match(message, expected);
  }
});

test("400: a cursor with other filters or another order than its own", async () => {
  const { pagination } = await server.getPage(`${path}?limit=1&status=open`);
  const cursor = String(pagination.next_cursor);
  await server.getPage(getPath(path, { limit: "9", status: "open", cursor }));
  for (const query of [{}, { status: "resolved" }, { status: "open", order: "asc" }])
    assertError(await server.get(getPath(path, { ...query, cursor })), "INVALID_CURSOR");
});

describe("with market metadata", () => {
  const unnamed = all.filter((row) => row["event_id"] === null);
  const [cup, final, vote, endless, ...others] = unnamed.map(({ id }) => String(id));
  const reported: Record<string, Partial<VenueMetadata>> = {
    [String(cup)]: {
      slug: "who-wins-the-cup",
      category: "Sports",
      tags: ["Football", "Qualifiers zulu"],
      eventId: "77",
      endMs: Date.UTC(2030, 0, 1),
    },
    [String(final)]: {
      slug: "who-wins-the-final",
      category: "sports",
      tags: ["Football", "Finals"],
      eventId: "77",
      endMs: Date.UTC(2030, 0, 2),
    },
    [String(vote)]: {
      slug: "Who-Votes",
      category: "Politics",
      tags: ["finals"],
      eventId: "78",
      endMs: Date.UTC(2030, 0, 3),
    },
    [String(endless)]: { slug: "endless" },
  };

  before(() => {
    assert(others.length > 0);
    for (const [conditionId, texts] of Object.entries(reported)) report(conditionId, texts);
  });

  function report(conditionId: string, texts: Partial<VenueMetadata>): void {
    server.state.applyMetadata(conditionId as ConditionId, { ...noMetadata, ...texts });
  }

  async function assertFound(query: Record<string, string>, expected: unknown[]): Promise<void> {
    const found = await idsFor(query);
    assert.deepEqual(found.toSorted(), expected.map(String).toSorted(), JSON.stringify(query));
  }

  test("200: slugs match exactly, categories and tags in any case", async () => {
    await assertFound({ slug: "who-wins-the-cup" }, [cup]);
    await assertFound({ slug: "Who-Wins-The-Cup" }, []);
    await assertFound({ slug: "Who-Votes,endless,nothing" }, [vote, endless]);
    await assertFound({ category: "SPORTS" }, [cup, final]);
    await assertFound({ category: "sports,politics" }, [cup, final, vote]);
    await assertFound({ tag: "FINALS" }, [final, vote]);
    await assertFound({ tag: "finals,football" }, [cup, final, vote]);
    await assertFound({ tag: "Qualifiers" }, []);
  });

  test("200: a market must match all filters and the search", async () => {
    await assertFound({ event_id: "77" }, [cup, final]);
    await assertFound({ event_id: "77,78", tag: "finals" }, [final, vote]);
    await assertFound({ event_id: "77", category: "politics" }, []);
    await assertFound({ category: "sports", condition_id: `${cup},${vote}` }, [cup]);
    await assertFound({ tag: "football", search: "final" }, [final]);
  });

  test("200: end_after is inclusive, end_before exclusive; a market without an end date matches neither", async () => {
    await assertFound({ end_after: "0" }, [cup, final, vote]);
    await assertFound({ end_after: "2030-01-02T00:00:00Z" }, [final, vote]);
    await assertFound({ end_before: "2030-01-02T00:00:00Z" }, [cup]);
    const between = { end_after: "2030-01-01T00:00:01Z", end_before: "2030-01-03T00:00:00Z" };
    await assertFound(between, [final]);
    const sorted = await idsFor({ sort: "end_date" });
    assert.deepEqual(sorted.slice(0, 3), [vote, final, cup]);
  });

  test("200: the search covers slugs, categories and tags", async () => {
    await assertFound({ search: "qualifiers zulu" }, [cup]);
    await assertFound({ search: "who wins" }, [cup, final]);
    await assertFound({ search: "politic" }, [vote]);
  });

  test("200: later market metadata replaces earlier", async () => {
    report(String(cup), { slug: "who-won-the-cup", tags: ["Over yankee"] });
    await assertFound({ slug: "who-wins-the-cup" }, []);
    await assertFound({ slug: "who-won-the-cup" }, [cup]);
    await assertFound({ event_id: "77" }, [final]);
    await assertFound({ search: "zulu" }, []);
    await assertFound({ search: "yankee" }, [cup]);
    await assertFound({ end_before: "2030-01-02T00:00:00Z" }, []);
  });
});
