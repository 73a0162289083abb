/** Test cases of every list over a range of the chain, compared with naive filters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { filterNaively, type NaiveFilter } from "./naive-filters.ts";
import type { DataServer, Row } from "./open-data-server.ts";
import { assertError, assertEveryHeader } from "./open-test-server.ts";
import { propertySettings } from "./property-settings.ts";

export type ListUnderTest = {
  readonly server: DataServer;
  readonly path: string;
  /** Every filter parameter of the list. */
  readonly filters: Readonly<Record<string, NaiveFilter>>;
  /** Where the growth test splits the chain in two. Both parts must contain rows. */
  readonly middleBlock?: number;
};

type Query = Readonly<Record<string, string>>;

/** Registers all cases. */
export function testList(list: ListUnderTest): void {
  testFilters(list);
  testPages(list);
  testRefusals(list);
  testGrowth(list);
}

/** Appends a query to a path that may already have one. */
export function getPath(path: string, query: Query): string {
  return withQuery(path, new URLSearchParams(query).toString());
}

function withQuery(path: string, text: string): string {
  if (text === "") return path;
  return path.includes("?") ? `${path}&${text}` : `${path}?${text}`;
}

/** Fails unless the list returns exactly the rows that naive filters accept, in order. */
export async function assertFiltered(
  { server, path, filters }: Pick<ListUnderTest, "server" | "path" | "filters">,
  rows: readonly Row[],
  query: Query,
): Promise<readonly Row[]> {
  const served = await server.getAll(getPath(path, { ...query, order: "asc", limit: "1000" }));
  const expected = filterNaively(rows, query, filters);
  assert.deepEqual(getIds(served), getIds(expected), JSON.stringify(query));
  return served;
}

export function getIds(rows: readonly Row[]): string[] {
  return rows.map((row) => String(row["id"]));
}

/** Registers the cases of filters. The list must not change while they run: it is read once for all of them. */
export function testFilters({ server, path, filters }: ListUnderTest): void {
  const reported = path.includes("?") ? ` of ${path.replace(/^.*\?/, "")}` : "";
  let whole: Promise<readonly Row[]> | null = null;
  const readAll = () => (whole ??= server.getAll(getPath(path, { order: "asc", limit: "1000" })));

  for (const [name, filter] of Object.entries(filters)) {
    test(`200: ${name}${reported} chooses the rows that a naive filter does`, async () => {
      const rows = await readAll();
      const samples = 6;
      const chosen = Array.from({ length: samples }, (_, run) => {
        const row = rows[Math.floor((run * (rows.length - 1)) / (samples - 1))];
        return filter.sample(row ?? {});
      });
      let passed = 0;
      for (const value of new Set(chosen)) {
        passed += (await assertFiltered({ server, path, filters }, rows, { [name]: value })).length;
      }
      assert(passed > 0, `${name} lets something through`);
    });
  }

  test(`200: filters that come together must all hold${reported}`, async () => {
    const rows = await readAll();
    const anyRow = fc.constantFrom(...rows);
    const anyValues = Object.entries(filters).map(
      ([name, filter]) => [name, anyRow.map(filter.sample)] as const,
    );
    const anyQuery = fc.record(Object.fromEntries(anyValues), { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(anyQuery as fc.Arbitrary<Query>, async (query) => {
        if (isInsideOut(query)) return;
        await assertFiltered({ server, path, filters }, rows, query);
      }),
      propertySettings(40),
    );
  });

  test(`200: times in seconds, milliseconds and RFC 3339 mean the same, hex in any case too${reported}`, async () => {
    const rows = await readAll();
    const row = rows[Math.floor(rows.length / 2)] ?? {};
    const ms = Number(row["timestamp_ms"]);
    const zoned = new Date(ms + 5_400_000).toISOString().replace("Z", "+01:30");
    const starts = [ms / 1000, ms, new Date(ms).toISOString(), row["timestamp"], zoned];
    const expected = getIds(filterNaively(rows, { start: String(ms) }, filters));
    for (const start of starts) {
      const query = { start: String(start), order: "asc", limit: "1000" };
      assert.deepEqual(getIds(await server.getAll(getPath(path, query))), expected, String(start));
    }
    const hash = String(row["tx_hash"]);
    const shouted = `0x${hash.slice(2).toUpperCase()}`;
    assert.deepEqual(
      (await server.getPage(getPath(path, { tx_hash: shouted }))).data,
      (await server.getPage(getPath(path, { tx_hash: hash }))).data,
    );
  });

  test(`200: the edges of every range are served${reported}`, async () => {
    const edges: Query[] = [
      { after_seq: "9007199254740990" },
      { from_block: "9007199253", to_block: "9007199253" },
      { start: "0", end: "99999999999" },
      { start: "0001-01-01T00:00:00Z", end: "9999-12-31T23:59:59.999999999Z" },
    ];
    for (const query of edges) await server.getPage(getPath(path, query));
  });
}

function testPages({ server, path }: ListUnderTest): void {
  test("200: newest first; pages of any size hold every row once, both ways", async () => {
    const rows = await server.getAll(getPath(path, { order: "asc", limit: "1000" }));
    assert(rows.length > 2 && new Set(getIds(rows)).size === rows.length);
    const rising = rows.every((row, index) => {
      return index === 0 || Number(row["seq"]) >= Number(rows[index - 1]?.["seq"]);
    });
    assert(rising, "seq rises");
    const limit = String(Math.max(1, Math.floor(rows.length / 30)));
    assert.deepEqual(await server.getAll(getPath(path, { order: "asc", limit })), rows);
    assert.deepEqual(await server.getAll(getPath(path, { limit })), rows.toReversed());
  });

  test("200: a page has its limit and its freshness", async () => {
    const answer = await server.get(path);
    assert.equal(answer.headers.get("cache-control"), "private, max-age=1");
    assertEveryHeader(answer.headers);
    const { pagination, meta } = await server.getPage(getPath(path, { limit: "1" }));
    const { headers } = await server.get(getPath(path, { limit: "1" }));
    const [, query = ""] = /^<(\?.+)>; rel="next"$/.exec(String(headers.get("link"))) ?? [];
    const linked = await server.getPage(path.replace(/\?.*/, "") + query);
    const cursor = String(pagination.next_cursor);
    const next = await server.getPage(getPath(path, { limit: "1", cursor }));
    assert.deepEqual(linked.data, next.data);
    assert.equal(pagination.limit, 1);
    assert.equal(meta["indexed_block"], server.newestBlock);
    assert.equal(meta["finalized_block"], server.finalBlock);
    assert.equal((await server.getPage(path)).pagination.limit, 100);
  });

  test("400: a cursor works with its filters and its order, at any limit, and with no others", async () => {
    const first = await server.getPage(getPath(path, { limit: "1", start: "0" }));
    const cursor = String(first.pagination.next_cursor);
    const next = await server.getPage(getPath(path, { limit: "2", start: "0", cursor }));
    assert.equal(next.data.length, 2);
    const others: Query[] = [{}, { start: "1" }, { start: "0", order: "asc" }];
    for (const query of others) {
      assertError(await server.get(getPath(path, { ...query, cursor })), "INVALID_CURSOR");
    }
    const forged = cursor.startsWith("A") ? `B${cursor.slice(1)}` : `A${cursor.slice(1)}`;
    assertError(await server.get(getPath(path, { start: "0", cursor: forged })), "INVALID_CURSOR");
  });
}

/** Advances the chain to its end, so it must run last. */
function testGrowth(list: ListUnderTest): void {
  const { server, path, middleBlock = 2940 } = list;
  const end = server.facts.length - 1;
  for (const [order, last] of [
    ["asc", middleBlock],
    ["desc", end],
  ] as const) {
    test(`200: ${order} pages hold every row once while blocks come in and become final`, async () => {
      const before = await server.getAll(getPath(path, { order, limit: "1000" }));
      const limit = String(Math.max(1, Math.floor(before.length / 10)));
      const step = Math.ceil((last - server.newestBlock) / 4);
      const served = await server.getAll(getPath(path, { order, limit }), () => {
        const unfinalized = Math.min(server.newestBlock + step, last);
        return server.advance({ unfinalized, final: unfinalized - step });
      });
      assert.equal(server.newestBlock, last);
      const after = await server.getAll(getPath(path, { order, limit: "1000" }));
      assert(after.length > before.length, "rows came in");
      assert.deepEqual(getIds(served), getIds(order === "asc" ? after : before));
    });
  }
}

/** Parameters that select no rows, and filters by texts of markets, which have cases of their own. */
const otherParameters =
  "category cursor event_id fields format include include_complement include_mirror limit min_seq neg_risk_market_id order slug sort tag";

function testRefusals({ server, path, filters }: ListUnderTest): void {
  test("every filter is compared with a naive one", async () => {
    const { message } = assertError(
      await server.get(withQuery(path, "limt=1")),
      "VALIDATION_ERROR",
    );
    const names = /Valid names: (.*)$/.exec(message)?.[1]?.split(", ") ?? [];
    const others = [...Object.keys(filters), ...otherParameters.split(" ")];
    assert.deepEqual(
      names.filter((name) => !others.includes(name)),
      [],
    );
  });

  test("400: names unknown, repeated, out-of-range and inverted parameters", async () => {
    const refusals: [string, string | RegExp][] = [
      ["limit=0", 'limit must be a whole number from 1 to 1000; got "0"'],
      ["limit=1001", 'limit must be a whole number from 1 to 1000; got "1001"'],
      ["limt=1", /^limt is not known here; did you mean limit\? Valid names: .*\blimit, /],
      ["order=asc&order=asc", "order is given more than once"],
      ["order=up", 'order must be one of desc, asc; got "up"'],
      ["status=final", /^status must be one of confirmed, finalized; got "final"/],
      ["tx_hash=0x12", 'tx_hash must be a hash, 0x and 64 hex digits; got "0x12"'],
      ["start=2&end=2", "end must be after start"],
      ["from_block=2&to_block=1", "to_block must not be below from_block"],
      [
        "after_seq=9007199254740991",
        /^after_seq must be a whole number from 0 to 9007199254740990; got "/,
      ],
      ["to_block=9007199254", /^to_block must be a whole number from 0 to 9007199253; got "/],
    ];
    for (const [query, message] of refusals) {
      const answer = await server.get(withQuery(path, query));
      const error = assertError(answer, "VALIDATION_ERROR");
      if (typeof message === "string") assert.equal(error.message, message);
      else assert.match(error.message, message);
    }
  });
}

/** Ranges that end before they start are refused, not empty. */
function isInsideOut(query: Query): boolean {
  const { start, end, from_block, to_block, min_size, max_size, min_price, max_price } = query;
  const isAbove = (one?: string, other?: string) => Number(one) > Number(other);
  return (
    (start !== undefined && start === end) ||
    isAbove(start, end) ||
    isAbove(from_block, to_block) ||
    isAbove(min_size, max_size) ||
    isAbove(min_price, max_price)
  );
}
