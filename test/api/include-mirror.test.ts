/** `include_mirror` adds to the trades, candles and price of a token those of the same outcome on the other ledger. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import { resolutionSeconds } from "../../src/market/candle.ts";
import { toCandleRow } from "../../src/rows/candle-row.ts";
import { type BlockPlan, buildChain } from "../support/generate-chain.ts";
import { anyTransaction } from "../support/generate-matches.ts";
import { getPath } from "../support/list-cases.ts";
import { mirroredLogs, mirroredPairs } from "../support/mirrored-market.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { toMicros } from "../support/naive-filters.ts";
import { naivePrice } from "../support/naive-price.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, getData } from "../support/open-test-server.ts";
import { testSeed } from "../support/property-settings.ts";
import { amount } from "../support/recorded/exact.ts";
import { getFacts } from "../support/store-chain.ts";
import { StreamClient, type StreamFrame } from "../support/stream-client.ts";
import { testPairs } from "../support/test-markets.ts";

const { legacy, mirror } = mirroredPairs;
const [, ...otherLegacy] = testPairs.legacy;
const anyTrades = anyTransaction({
  legacy: [legacy, ...otherLegacy],
  generation3: [mirror, ...testPairs.generation3],
});
const trades = fc.sample(fc.array(anyTrades, { maxLength: 3 }), { seed: testSeed, numRuns: 120 });
const { prepared, registered, resolved, mirrorResolved } = mirroredLogs;
const logs = new Map([
  [0, prepared],
  [30, registered],
  [100, mirrorResolved],
  [110, resolved],
]);
const plans = trades.map((transactions, index): BlockPlan => {
  const log = logs.get(index);
  const all = log === undefined ? transactions : [log, ...transactions];
  return { secondsLater: 1_700, reports: false, transactions: all };
});
const facts = getFacts(buildChain(plans));
const server = await DataServer.open({ facts, finalBlocks: 60, unfinalizedBlocks: 30 });
after(() => server.close());

/** Every token of the question, with the tokens of the same outcome and of the other one, on both ledgers. */
const cases = [legacy, mirror].flatMap((pair) =>
  pair.map((tokenId, index) => {
    const own = [legacy, mirror].map((ledger) => ledger[index] as TokenId);
    const inverted = [legacy, mirror].map((ledger) => ledger[1 - index] as TokenId);
    return { tokenId, same: own, inverted, complement: pair[1 - index] as TokenId };
  }),
);
const getIds = (tokenIds: readonly TokenId[]) => tokenIds.map(formatTokenId);

test("200: the trades of the same outcome on both ledgers, as in the list of all trades", async () => {
  const all = await server.getAll("/v1/trades?limit=1000&order=asc");
  for (const { tokenId, same, inverted } of cases) {
    const path = `/v1/trades/market/${formatTokenId(tokenId)}?order=asc&include_mirror=true`;
    const isSame = (row: Row) => getIds(same).includes(String(row["token_id"]));
    const expected = all.filter(isSame);
    assert.deepEqual(await server.getAll(getPath(path, { limit: "1000" })), expected);
    assert.deepEqual(await server.getAll(getPath(path, { limit: "7" })), expected);
    assert(new Set(expected.map((row) => row["token_id"])).size === 2);
    const pairs = all.filter(
      (row) => isSame(row) || getIds(inverted).includes(String(row["token_id"])),
    );
    const both = await server.getAll(getPath(path, { include_complement: "true", limit: "1000" }));
    assert.deepEqual(
      both.map(({ seq, token_id, price, side }) => ({ seq, token_id, price, side })),
      pairs.map((row) => {
        const { seq, token_id, complement_token_id, price, side } = row;
        if (isSame(row)) return { seq, token_id, price, side };
        return {
          seq,
          token_id: complement_token_id,
          price: price === null ? null : amount(1_000_000n - toMicros(price)),
          side: side === "BUY" ? "SELL" : "BUY",
        };
      }),
    );
  }
});

test("200: candles of every resolution and source equal a naive roll-up of the trades of both ledgers", async () => {
  for (const [resolution, bucketSeconds] of Object.entries(resolutionSeconds)) {
    for (const { tokenId, same, inverted } of cases) {
      for (const source of ["pair", "own"]) {
        const requested = { same, inverted: source === "pair" ? inverted : [], bucketSeconds };
        const { now } = server.state.dayWindow;
        const expected = [...naiveCandles(server.fills, requested)].map(([bucket, candle]) =>
          toCandleRow({ bucket, candle }, { bucketSeconds, now }),
        );
        const query = { resolution, source, start: "0", limit: "1000", include_mirror: "true" };
        const path = getPath(`/v1/candles/${formatTokenId(tokenId)}`, query);
        assert.deepEqual(await server.getAll(path), expected, `${resolution} ${source}`);
      }
    }
  }
});

test("the stream sends the same trades, candles and prices", async () => {
  const client = await StreamClient.open(server.edge.url, { key: server.edge.keys.admin });
  const subscribed = [];
  for (const { tokenId } of cases) {
    const joined = { token_id: formatTokenId(tokenId), include_mirror: true };
    const resume = { resume_from: 0 };
    const trades = await client.subscribe({ type: "token_trades", ...joined }, resume);
    const hours = { type: "candles", ...joined, resolution: "1h" };
    const candles = await client.subscribe(hours, resume);
    assert.deepEqual(candles["channel"], hours);
    const prices = await client.subscribe({ type: "price", ...joined }, resume);
    subscribed.push({ id: joined.token_id, trades, candles, prices });
  }
  await server.advance({ unfinalized: server.newestBlock + 4 });
  const getRows = ({ subscription_id: id }: StreamFrame) =>
    client.events(id).map(({ data }) => data as Row);
  for (const { id, trades, candles, prices } of subscribed) {
    const more = { include_mirror: "true", limit: "1000", order: "asc" };
    const all = await server.getAll(getPath(`/v1/trades/market/${id}`, more));
    await client.until("all trades", () => getRows(trades).length === all.length);
    assert.deepEqual(getRows(trades), all);
    const hours = { ...more, resolution: "1h", start: "0" };
    // Without the next trade, the stream does not send that an hour is over.
    const toOpen = ({ closed: _closed, ...row }: Row) => row;
    const expected = (await server.getAll(getPath(`/v1/candles/${id}`, hours))).map(toOpen);
    const getNewest = () => [
      ...new Map(getRows(candles).map((row) => [row["timestamp_ms"], toOpen(row)])).values(),
    ];
    await client.until("all candles", () => isDeepStrictEqual(getNewest(), expected));
    const price = getData(await server.get(`/v1/price/${id}?include_mirror=true`)) as Row;
    const getTrade = () => getRows(prices).at(-1)?.["last_trade"];
    await client.until("the price", () => isDeepStrictEqual(getTrade(), price["last_trade"]));
    assert.equal(getRows(prices).at(-1)?.["price"], price["price"]);
  }
  client.close();
});

/** The price as if all trades of the question had been of the ledger of a token. */
function expectedPrice({ tokenId, same, inverted, complement }: (typeof cases)[number]): Row {
  const joined = server.fills.map((fill) => {
    if (same.includes(fill.tokenId)) return { ...fill, tokenId };
    return inverted.includes(fill.tokenId) ? { ...fill, tokenId: complement } : fill;
  });
  return naivePrice(tokenId, joined, server.state);
}

test("200: at every height the price is that of the newest trade on either ledger", async () => {
  for (let block = server.newestBlock; block < (facts[99]?.number ?? 0); block += 1) {
    await server.advance({ unfinalized: block });
    for (const one of cases) {
      const path = `/v1/price/${formatTokenId(one.tokenId)}?include_mirror=true`;
      assert.deepEqual(getData(await server.get(path)), expectedPrice(one), `block ${block}`);
    }
  }
  const ids = cases.map(({ tokenId }) => formatTokenId(tokenId)).join();
  const { data } = await server.getPage(`/v1/price?token_ids=${ids}&include_mirror=true`);
  assert.deepEqual(data, cases.map(expectedPrice));
});

test("200: with include_mirror both ledgers have the payout of the first result; without it each waits for its own", async () => {
  const getPrice = async (tokenId: TokenId, query: string) => {
    const row = getData(await server.get(`/v1/price/${formatTokenId(tokenId)}${query}`));
    return [row["price"], row["price_source"], row["resolved"], row["settlement_price"]];
  };
  await server.advance({ unfinalized: facts[105]?.number ?? 0 });
  for (const [index, price] of ["1", "0"].entries()) {
    const [own, other] = [legacy[index] as TokenId, mirror[index] as TokenId];
    const settled = [price, "settlement", true, price];
    for (const id of [own, other])
      assert.deepEqual(await getPrice(id, "?include_mirror=true"), settled);
    assert.deepEqual(await getPrice(other, ""), settled);
    assert.equal((await getPrice(own, ""))[2], false);
  }
});

test("200: a token without a mirror has the same rows with and without include_mirror", async () => {
  for (const [tokenId] of [...otherLegacy, ...testPairs.generation3]) {
    const id = formatTokenId(tokenId);
    for (const path of [
      `/v1/trades/market/${id}`,
      `/v1/candles/${id}?start=0`,
      `/v1/price/${id}`,
    ]) {
      const own = getData(await server.get(path));
      assert.deepEqual(getData(await server.get(getPath(path, { include_mirror: "true" }))), own);
    }
  }
});

test("400: values other than true and false, and paths without the parameter", async () => {
  const id = formatTokenId(legacy[0]);
  for (const path of [
    "/v1/trades",
    "/v1/fills",
    "/v1/matches",
    "/v1/markets",
    `/v1/markets/${id}`,
    "/v1/events",
    "/v1/resolutions",
    `/v1/orderbook/${id}`,
  ]) {
    const answer = await server.get(`${path}?include_mirror=true`);
    assert.match(assertError(answer, "VALIDATION_ERROR").message, /^include_mirror is not known/);
  }
  for (const path of [`/v1/trades/market/${id}`, `/v1/candles/${id}`, `/v1/price/${id}`]) {
    const answer = await server.get(`${path}?include_mirror=yes`);
    assert.match(assertError(answer, "VALIDATION_ERROR").message, /^include_mirror must be/);
  }
});
