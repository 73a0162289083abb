import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { toMicros } from "../support/naive-filters.ts";
import { naivePrice } from "../support/naive-price.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";
import { testSeed } from "../support/property-settings.ts";
import { getFacts } from "../support/store-chain.ts";
import { testMarkets, testPairs } from "../support/test-markets.ts";

// A chain of several weeks, so that trades keep leaving the 24h window.
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 200 });
const server = await DataServer.open({
  facts: getFacts(buildChain(plans.map((plan) => ({ ...plan, reports: true })))),
  finalBlocks: 8,
  unfinalizedBlocks: 2,
});
after(() => server.close());

// The last ones are known but never traded.
const tokens = [
  ...[...testPairs.legacy, ...testPairs.generation3].flat(),
  ...testMarkets.sameQuestion.tokenIds,
];
const last = server.facts.at(-1)?.number ?? 0;

async function getPrice(tokenId: TokenId): Promise<Row> {
  const answer = await server.get(`/v1/price/${formatTokenId(tokenId)}`);
  assert.equal(answer.status, 200, answer.text);
  return getData(answer);
}

test("200: at every height the price, the 24h statistics and the complement follow from the trades", async () => {
  const sources = new Set<unknown>();
  while (server.newestBlock < last) {
    const unfinalized = Math.min(server.newestBlock + 11, last);
    await server.advance({ unfinalized, final: unfinalized - 9 });
    for (const tokenId of tokens) {
      if (!server.state.directory.isKnownToken(tokenId)) continue;
      const expected = naivePrice(tokenId, server.fills, server.state);
      assert.deepEqual(await getPrice(tokenId), expected, `block ${unfinalized}`);
      sources.add(expected["price_source"]);
    }
  }
  assert.deepEqual(sources, new Set([null, "last_trade", "complement", "settlement"]));
});

test("200: the prices of a pair add up to 1, and each row has the price of the other token", async () => {
  for (const [yes, no] of [...testPairs.legacy, ...testPairs.generation3]) {
    const [own, other] = [await getPrice(yes), await getPrice(no)];
    assert.equal(toMicros(own["price"]) + toMicros(other["price"]), 1_000_000n);
    const { token_id, price } = own["complement"] as Row;
    assert.deepEqual([token_id, price], [other["token_id"], other["price"]]);
  }
});

test("200: the price of a resolved token is its payout, whatever was traded last", async () => {
  const [yes] = testMarkets.negRisk.tokenIds as [TokenId];
  const row = await getPrice(yes);
  // The payouts of this market are 3 and 7.
  assert.equal(row["price"], "0.3");
  assert.equal(row["settlement_price"], "0.3");
  assert.equal(row["price_source"], "settlement");
  assert.equal(row["resolved"], true);
});

test("200: after a day without trades the price stays, with no change and no volume", async () => {
  const [tokenId] = testPairs.generation3[1] ?? [];
  assert(tokenId !== undefined);
  const before = await getPrice(tokenId);
  await server.passTime(86_401);
  const after = await getPrice(tokenId);
  assert.equal(after["price"], before["price"]);
  const { open, high, low, close, change, trades, volume_usd, vwap } = after["stats_24h"] as Row;
  const newest = (after["last_trade"] as Row)["price"];
  assert.deepEqual([open, high, low, close], [newest, newest, newest, newest]);
  assert.deepEqual([change, trades, volume_usd, vwap], ["0", 0, "0", null]);
});

test("200: can be cached for a second, and has every header", async () => {
  const answer = await server.get(`/v1/price/${formatTokenId(tokens[0] as TokenId)}`);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=1");
  assertEveryHeader(answer.headers);
  assert.equal((answer.body["meta"] as Row)["indexed_block"], server.newestBlock);
});

test("400: an invalid token id, and an unknown parameter", async () => {
  for (const id of ["x", "0x1", "1e3", "9".repeat(79), `${2n ** 256n}`])
    assertError(await server.get(`/v1/price/${id}`), "VALIDATION_ERROR");
  const { message } = assertError(await server.get("/v1/price/1?side=BUY"), "VALIDATION_ERROR");
  assert.equal(message, "side is not known here; valid names: include_mirror, at, min_seq");
});

test("404: a token never seen on the chain", async () => {
  assertError(await server.get("/v1/price/1"), "NOT_FOUND");
});

test("429: over the limit of the key, until the window frees a slot", async () => {
  const { edge } = server;
  const input = { name: "busy", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  const { value: key } = await edge.access.keys.create(input);
  for (let sent = 0; sent < 1000; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, () => edge.request("GET", "/v1/price/1", { key })),
    );
  const refused = await edge.request("GET", "/v1/price/1", { key });
  assert.equal(assertError(refused, "RATE_LIMITED").message, "Too many requests");
  const seconds = Number(refused.headers.get("retry-after"));
  assert(seconds >= 1 && seconds <= 60);
  assert.deepEqual(assertEveryHeader(refused.headers), { limit: 1000, remaining: 0 });
  edge.clock.advance(seconds * 1000);
  assertError(await edge.request("GET", "/v1/price/1", { key }), "NOT_FOUND");
});
