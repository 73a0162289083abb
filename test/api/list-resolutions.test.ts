import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testList } from "../support/list-cases.ts";
import { rangeFilters, tradeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";

// Generation 3 has results that are derived from others, several from one log.
const server = await DataServer.open({
  recording: "contracts-gen3",
  finalBlocks: 259,
  unfinalizedBlocks: 4,
});
after(() => server.close());

const path = "/v1/resolutions";

test("200: results that are derived from others are marked", async () => {
  const rows = await server.getAll(`${path}?order=asc`);
  const derived = rows.filter((row) => row["derived"] === true);
  assert(derived.length > 0 && derived.length < rows.length);
  assert.equal(new Set(rows.map((row) => row["condition_id"])).size, rows.length);
});

test("200: a condition id matches with and without padding", async () => {
  const [row] = (await server.getPage(path)).data;
  const short = String(row?.["condition_id"]);
  assert.equal(short.length, 64);
  assert.deepEqual((await server.getPage(`${path}?condition_id=${short}`)).data, [row]);
  assert.deepEqual((await server.getPage(`${path}?condition_id=${short}00`)).data, [row]);
});

testList({
  server,
  path,
  filters: { ...rangeFilters, condition_id: tradeFilters.condition_id },
  middleBlock: 265,
});
