import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import { testList } from "../support/list-cases.ts";
import { tradeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";

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
  const texts = { category: null, tags: [], eventId: null, eventSlug: null, eventTitle: null };
  server.state.applyMetadata(condition_id as ConditionId, {
    ...texts,
    slug: "a-slug",
    outcomeLabel: null,
    startMs: null,
    endMs: null,
    image: null,
    question: null,
    description: null,
    outcomes: null,
  });
  assert.equal((await server.getPage(path)).data[0]?.["slug"], "a-slug");
});

testList({ server, path: "/v1/trades", filters: tradeFilters });
