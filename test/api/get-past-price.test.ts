import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { naivePrice } from "../support/naive-price.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { getFacts } from "../support/store-chain.ts";
import { testPairs } from "../support/test-markets.ts";

const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 60 });
const server = await DataServer.open({
  facts: getFacts(buildChain(plans.map((plan) => ({ ...plan, reports: true })))),
  finalBlocks: 40,
  unfinalizedBlocks: 20,
});
after(() => server.close());

const tokens = [...testPairs.legacy, ...testPairs.generation3].flat();
const first = server.facts[0]?.number ?? 0;
const newest = server.newestBlock;

async function getPast(tokenId: TokenId, at: number | string): Promise<Row> {
  const answer = await server.get(`/v1/price/${formatTokenId(tokenId)}?at=${at}`);
  assert.equal(answer.status, 200, answer.text);
  return getData(answer);
}

/** The row by what had happened when `isPast`. */
function getExpected(tokenId: TokenId, isPast: (place: Place) => boolean): Row {
  const { directory } = server.state;
  const slot = directory.getSlot(tokenId);
  const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
  const isSettled = resolution !== null && isPast(resolution);
  const fills = server.fills.filter(isPast);
  const state = isSettled ? server.state : withoutResults();
  const { price, price_source, last_trade, complement, resolved, settlement_price } = naivePrice(
    tokenId,
    fills,
    state,
  );
  const trade = last_trade as Row | null;
  const setBy = isSettled
    ? { seq: resolution.seq, timestamp_ms: resolution.timestamp * 1000 }
    : trade === null
      ? null
      : { seq: trade["seq"], timestamp_ms: trade["timestamp_ms"] };
  return { price, price_source, last_trade, complement, resolved, settlement_price, as_of: setBy };
}

type Place = { readonly seq: number; readonly timestamp: number };

/** The state as if nothing were resolved. */
function withoutResults(): typeof server.state {
  const directory = Object.create(server.state.directory, {
    getResolution: { value: () => null },
    getComplement: { value: (id: TokenId) => server.state.directory.getComplement(id) },
    getSlot: { value: (id: TokenId) => server.state.directory.getSlot(id) },
    getToken: { value: (id: TokenId) => server.state.directory.getToken(id) },
  });
  return Object.create(server.state, {
    directory: { value: directory },
    dayWindow: { value: server.state.dayWindow },
  });
}

function withoutTexts(given: Row): Row {
  const { token_id, ...row } = given;
  assert.equal(typeof token_id, "string");
  const asOf = row["as_of"] as Row | null;
  const as_of = asOf && { seq: asOf["seq"], timestamp_ms: asOf["timestamp_ms"] };
  return { ...row, as_of };
}

test("200: at every seq the price follows from the trades and the result up to it", async () => {
  const seqs = [
    ...new Set(server.fills.flatMap(({ seq }) => [seq - 1, seq])),
    first * 1_000_000,
    newest * 1_000_000 + 999_999,
  ];
  const anyPoint = fc.tuple(fc.constantFrom(...tokens), fc.constantFrom(...seqs));
  const sources = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(anyPoint, async ([tokenId, seq]) => {
      const row = await getPast(tokenId, seq);
      assert.deepEqual(
        withoutTexts(row),
        getExpected(tokenId, (place) => place.seq <= seq),
      );
      sources.add(row["price_source"]);
    }),
    propertySettings(800),
  );
  assert.deepEqual(sources, new Set([null, "last_trade", "complement", "settlement"]));
});

test("200: at every time, in seconds, milliseconds or text, the price is that of the end of the second", async () => {
  const times = [...new Set(server.fills.map(({ timestamp }) => timestamp))];
  for (const time of times.filter((_, index) => index % 7 === 0)) {
    for (const tokenId of tokens.slice(0, 2)) {
      const expected = getExpected(tokenId, ({ timestamp }) => timestamp <= time);
      for (const at of [time, time * 1000, new Date(time * 1000).toISOString()])
        assert.deepEqual(withoutTexts(await getPast(tokenId, at)), expected, String(at));
    }
  }
});

test("200: before the first block there is no price", async () => {
  const [tokenId] = testPairs.legacy[0] ?? [];
  assert(tokenId !== undefined);
  for (const at of [0, "2019-01-01", first * 1_000_000 - 1]) {
    const row = await getPast(tokenId, at);
    assert.deepEqual([row["price"], row["last_trade"], row["as_of"]], [null, null, null]);
  }
});

test("200: past prices of several tokens are those of each, and unknown tokens are named", async () => {
  const at = server.fills[Math.floor(server.fills.length / 2)]?.seq ?? 0;
  const indexed = tokens.filter((id) => server.state.directory.isKnownToken(id));
  const ids = [...indexed.map(formatTokenId), "1"].join(",");
  const answer = await server.get(`/v1/price?token_ids=${ids}&at=${at}`);
  assert.equal(answer.status, 200, answer.text);
  assertEveryHeader(answer.headers);
  assert.deepEqual(answer.body["data"], await Promise.all(indexed.map((id) => getPast(id, at))));
  assert.deepEqual(answer.body["not_found"], ["1"]);
});

test("400: a position or time in the future, and text that is neither", async () => {
  const [tokenId] = testPairs.legacy[0] ?? [];
  assert(tokenId !== undefined);
  const path = `/v1/price/${formatTokenId(tokenId)}`;
  for (const at of [(newest + 1) * 1_000_000, "2199-01-01", "yesterday", "-1", "1.5", ""]) {
    assertError(await server.get(`${path}?at=${at}`), "VALIDATION_ERROR");
    assertError(await server.get(`/v1/price?token_ids=1&at=${at}`), "VALIDATION_ERROR");
  }
});

test("404: an unknown token", async () => {
  assertError(await server.get("/v1/price/1?at=0"), "NOT_FOUND");
});
