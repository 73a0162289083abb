import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import { toMicros } from "../support/naive-filters.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 300, unfinalizedBlocks: 100 });
after(() => server.close());

const lists = [
  { path: "/v1/tags", filter: "tag" },
  { path: "/v1/categories", filter: "category" },
] as const;

const markets = await server.getAll("/v1/markets?limit=100");

test("200: empty without metadata", async () => {
  for (const { path } of lists) assert.deepEqual((await server.getPage(path)).data, []);
});

describe("with metadata", () => {
  const names = ["Sport", "Łódź", "WEATHER", "50%", "x:y"];
  before(() => {
    for (const [at, { id }] of markets.entries()) {
      const name = names[at % names.length] ?? "";
      server.state.applyMetadata(id as ConditionId, {
        ...noMetadata,
        category: at % 5 === 0 ? null : name,
        tags: at % 7 === 0 ? [] : [name, at % 2 === 0 ? "All" : "ALL"],
      });
    }
    // A market whose label has changed counts for the new one alone.
    server.state.applyMetadata(markets[1]?.["id"] as ConditionId, {
      ...noMetadata,
      category: "Moved",
      tags: ["Moved"],
    });
  });

  for (const { path, filter } of lists) {
    test(`200: ${path} counts the markets that ${filter} selects, the most traded first`, async () => {
      const rows = await server.getAll(`${path}?limit=100`);
      assert.equal(rows.length, filter === "tag" ? names.length + 2 : names.length + 1);
      for (const row of rows) {
        const name = String(row["name"]);
        const own = await server.getAll(
          `/v1/markets?limit=100&${filter}=${encodeURIComponent(name)}`,
        );
        const open = own.filter(({ status }) => status === "open");
        const volume = own.reduce((sum, one) => sum + toMicros(one["volume_24h_usd"]), 0n);
        assert.equal(row["market_count"], own.length, name);
        assert.equal(row["open_market_count"], open.length, name);
        assert.equal(toMicros(row["volume_24h_usd"]), volume, name);
      }
      const volumes = rows.map((row) => toMicros(row["volume_24h_usd"]));
      assert.deepEqual(
        volumes,
        volumes.toSorted((a, b) => Number(b - a)),
      );
    });

    test(`200: pages of ${path} have each row once, also when the numbers change between them`, async () => {
      const rows = await server.getAll(`${path}?limit=100`);
      const change = async () => {
        const next = { ...noMetadata, category: "Sport", tags: ["Sport"] };
        server.state.applyMetadata(markets.at(-1)?.["id"] as ConditionId, next);
      };
      const paged = await server.getAll(`${path}?limit=2`, change);
      assert.deepEqual(paged, rows);
    });
  }

  test("400: an unknown parameter", async () => {
    assertError(await server.get("/v1/tags?tag=sport"), "VALIDATION_ERROR");
  });
});
