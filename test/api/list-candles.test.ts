import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { formatMicros } from "../../src/base/decimal.ts";
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import { resolutionSeconds } from "../../src/market/candle.ts";
import { invertPrice } from "../../src/market/invert.ts";
import { toCandleRow } from "../../src/rows/candle-row.ts";
import { timeFields } from "../../src/rows/wire-format.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { getPath } from "../support/list-cases.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";
import { testSeed } from "../support/property-settings.ts";
import { getFacts } from "../support/store-chain.ts";
import { testMarkets, testPairs } from "../support/test-markets.ts";

// A chain of several weeks, whose blocks are seconds, hours or more than a day apart.
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 330 });
const server = await DataServer.open({
  facts: getFacts(buildChain(plans.map((plan) => ({ ...plan, reports: true })))),
  finalBlocks: 240,
  unfinalizedBlocks: 40,
});
after(() => server.close());

const resolutions = Object.entries(resolutionSeconds);
const [[yes, no]] = testPairs.legacy as [[TokenId, TokenId]];
const path = `/v1/candles/${formatTokenId(yes)}`;
const { dayWindow } = server.state;

type CandleQuery = {
  readonly same: readonly TokenId[];
  readonly inverted: readonly TokenId[];
  readonly bucketSeconds: number;
};

/** Computes the candles of the facts that are served now, naively, oldest first. */
function expectedCandles(candleQuery: CandleQuery): Row[] {
  return [...naiveCandles(server.fills, candleQuery)].map(([bucket, candle]) => ({
    ...toCandleRow({ bucket, candle }, { ...candleQuery, now: dayWindow.now }),
    closed: bucket + candleQuery.bucketSeconds <= dayWindow.now,
  }));
}

/** Returns the row of a bucket without a trade, at the close before it. */
function emptyCandle(bucket: number, price: bigint, closed: boolean): Row {
  const [flat, none] = [formatMicros(price), "0"];
  return {
    ...timeFields(bucket),
    open: flat,
    high: flat,
    low: flat,
    close: flat,
    volume_shares: none,
    volume_usd: none,
    buy_volume_usd: none,
    sell_volume_usd: none,
    trades: 0,
    vwap: null,
    closed,
    filled: true,
  };
}

/** Adds to `expectedCandles` a flat candle for every bucket up to now without a trade. */
function expectedFilled(candleQuery: CandleQuery): Row[] {
  const traded = naiveCandles(server.fills, candleQuery);
  const rows: Row[] = [];
  const [first = Infinity] = traded.keys();
  let price = 0n;
  const { now } = dayWindow;
  for (let bucket = first; bucket <= now; bucket += candleQuery.bucketSeconds) {
    const closed = bucket + candleQuery.bucketSeconds <= now;
    const candle = traded.get(bucket);
    price = candle?.close.price ?? price;
    if (candle === undefined) rows.push(emptyCandle(bucket, price, closed));
    else rows.push({ ...toCandleRow({ bucket, candle }, { ...candleQuery, now }), closed });
  }
  return rows;
}

/** Reads all pages and sorts them, oldest first. Without a time the newest page comes first. */
async function readAll(query: Record<string, string>): Promise<Row[]> {
  const rows = await server.getAll(getPath(path, query));
  return rows.toSorted((a, b) => Number(a["timestamp_ms"]) - Number(b["timestamp_ms"]));
}

test("200: candles of every resolution equal a naive roll-up of the trades", async () => {
  for (const [resolution, bucketSeconds] of resolutions) {
    for (const tokenId of [yes, no, ...testPairs.generation3.flat()]) {
      for (const source of ["pair", "own"]) {
        const inverted = server.state.directory.getPair(tokenId).slice(1);
        const tokens = { same: [tokenId], inverted: source === "pair" ? inverted : [] };
        const expected = expectedCandles({ ...tokens, bucketSeconds });
        const query = { resolution, source, start: "0", limit: "1000" };
        const at = `/v1/candles/${formatTokenId(tokenId)}`;
        assert.deepEqual(
          await server.getAll(getPath(at, query)),
          expected,
          `${resolution} ${source}`,
        );
      }
    }
  }
});

test("200: fill=previous repeats the last close in every bucket without a trade", async () => {
  for (const [resolution, bucketSeconds] of resolutions.slice(2)) {
    const expected = expectedFilled({ same: [yes], inverted: [no], bucketSeconds });
    assert(resolution === "1d" || expected.some((row) => row["filled"] === true));
    const query = { resolution, fill: "previous", limit: "1000" };
    assert.deepEqual(await readAll({ ...query, start: "0" }), expected, resolution);
    assert.deepEqual(await readAll({ ...query, limit: "77" }), expected, resolution);
    assert.deepEqual(await readAll({ ...query, start: "0", order: "desc" }), expected, resolution);
  }
});

test("200: the newest candles of several tokens equal those of each alone", async () => {
  const many = [yes, no, ...testPairs.generation3.flat()].map(formatTokenId);
  const middle = dayWindow.now - 3 * 86_400;
  for (const query of [
    "resolution=1h",
    "resolution=1m&limit=7",
    `resolution=15m&start=${middle}`,
    `resolution=4h&end=${middle}&limit=5`,
    "resolution=1d&fill=previous&source=own",
  ]) {
    const answer = await server.get(
      `/v1/candles?token_ids=${[...many, "7", many[0]].join()}&${query}`,
    );
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body["not_found"], ["7"]);
    const expected = await Promise.all(
      many.map(async (id) => {
        const limit = /limit=/.test(query) ? "" : "&limit=100";
        const page = await server.getPage(`/v1/candles/${id}?${query}${limit}&order=desc`);
        return { token_id: id, candles: page.data.toReversed() };
      }),
    );
    assert.deepEqual(answer.body["data"], expected, query);
  }
});

test("400: too many tokens, too many candles of each, and an empty range", async () => {
  const ids = Array.from({ length: 51 }, () => "1").join();
  for (const query of [
    `token_ids=${ids}`,
    "token_ids=1&limit=101",
    "",
    "token_ids=1&start=2&end=1",
  ])
    assertError(await server.get(`/v1/candles?${query}`), "VALIDATION_ERROR");
});

test("503: too many requests for many candles at once; none is read for clients that have left", async (t) => {
  const id = formatTokenId(yes);
  const path = `/v1/candles?token_ids=${id}`;
  const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.edge.keys.admin}\r\n`;
  const read = t.mock.method(server.store.reads, "add");
  const answers = await server.edge.sendRaw(
    `${`${head}\r\n`.repeat(39)}${head}connection: close\r\n\r\n`,
  );
  assert.equal(answers.split("HTTP/1.1 200 ").length - 1, 34);
  assert.equal(answers.split("HTTP/1.1 503 ").length - 1, 6);
  assert.match(answers, /retry-after: 1\r\n/i);
  assert.equal(read.mock.callCount(), 34);

  const { port } = new URL(server.edge.url);
  const socket = connect(Number(port), "127.0.0.1");
  const isRead = new Promise<void>((resolve) => {
    read.mock.mockImplementationOnce(() => {
      socket.destroy();
      resolve();
    });
  });
  socket.write(`${head}\r\n`.repeat(30));
  await isRead;
  const { status } = await server.get(path);
  assert.equal(status, 200);
  // Those that began before the service noticed, and the last request.
  assert(read.mock.callCount() < 34 + 15, `${read.mock.callCount()}`);
});

test("400, 200: each wrong id is named; repeated and unknown ids are not errors", async () => {
  for (const ids of ["", ",", "x", `${formatTokenId(yes)},`, "0x12", String(2n ** 256n), "-1"]) {
    const answer = await server.get(`/v1/candles?token_ids=${ids}`);
    assertError(answer, "VALIDATION_ERROR");
    assert.match(answer.text, /token_ids/);
  }
  const { status, body } = await server.get("/v1/candles?token_ids=7,7,8&limit=3");
  assert.equal(status, 200);
  assert.deepEqual([body["data"], body["not_found"]], [[], ["7", "8"]]);
  assert.deepEqual(body["pagination"], { limit: 50, has_more: false, next_cursor: null });
});

test("200: the candles of the two tokens of a pair are inverse to each other", async () => {
  const flip = (text: unknown) => invertPrice(toMicros(text));
  const own = await readAll({ resolution: "15m" });
  const query = { resolution: "15m", start: "0", limit: "1000" };
  const other = await server.getAll(getPath(`/v1/candles/${formatTokenId(no)}`, query));
  assert.deepEqual(
    own.map(({ open, high, low, close, volume_shares }) => [
      toMicros(open),
      toMicros(high),
      toMicros(low),
      toMicros(close),
      volume_shares,
    ]),
    other.map(({ open, high, low, close, volume_shares }) => [
      flip(open),
      flip(low),
      flip(high),
      flip(close),
      volume_shares,
    ]),
  );
});

test("200: without a time the newest candles, in the requested order, page by page into the past", async () => {
  const all = expectedCandles({ same: [yes], inverted: [no], bucketSeconds: 300 });
  const newest = await server.getPage(getPath(path, { resolution: "5m", limit: "7" }));
  assert.deepEqual(newest.data, all.slice(-7));
  const query = { resolution: "5m", limit: "7", order: "desc" };
  const falling = await server.getPage(getPath(path, query));
  assert.deepEqual(falling.data, all.slice(-7).toReversed());
  assert.deepEqual(await server.getAll(getPath(path, query)), all.toReversed());
  assert.deepEqual(await readAll({ resolution: "5m", limit: "7" }), all);
  const hourly = await server.getPage(path);
  assert.equal(hourly.pagination.limit, 500);
  assert.equal(hourly.meta["resolution"], "1h");
});

test("200: start is inclusive and end exclusive, by the time at which a bucket opens", async () => {
  const all = expectedCandles({ same: [yes], inverted: [no], bucketSeconds: 3600 });
  const [from = 0, to = 0] = [all[2], all.at(-3)].map((row) => Number(row?.["timestamp_ms"]));
  const within = (start: number, end: number) =>
    all.filter(({ timestamp_ms: ms }) => Number(ms) >= start && Number(ms) < end);
  for (const [start, end] of [
    [from, to],
    [from + 1, to + 1],
    [from - 1, to - 1],
  ] as const) {
    for (const order of ["asc", "desc"]) {
      const query = { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
      const served = await server.getAll(getPath(path, { ...query, order, limit: "3" }));
      const expected = within(start, end);
      assert.deepEqual(served, order === "asc" ? expected : expected.toReversed());
    }
  }
});

test("200: meta has the first candle and the settlement", async () => {
  const first = expectedCandles({ same: [yes], inverted: [no], bucketSeconds: 86_400 })[0];
  const { meta } = await server.getPage(getPath(path, { resolution: "1d" }));
  assert.equal(meta["first_candle_ms"], first?.["timestamp_ms"]);
  const slot = server.state.directory.getSlot(yes);
  assert(slot !== null);
  const resolution = server.state.directory.getResolution(slot.conditionId);
  assert(resolution !== null, "the first test market is resolved by its logs");
  // Its payouts are 0 and 1.
  const timestamp_ms = resolution.timestamp * 1000;
  assert.deepEqual(meta["settlement"], { price: "0", timestamp_ms });
});

test("200: a page of closed candles can be cached for the length of one candle", async () => {
  const getCache = async (query: Record<string, string>) =>
    (await server.get(getPath(path, query))).headers.get("cache-control");
  const closed = { end: String(dayWindow.now - 2 * 86_400) };
  for (const [resolution, seconds] of resolutions)
    assert.equal(await getCache({ ...closed, resolution }), `private, max-age=${seconds}`);
  assert.equal(await getCache({ fill: "previous" }), "private, max-age=1");
  // There is no candle yet: the next trade creates one.
  const ahead = { start: String(dayWindow.now + 1), resolution: "1d" };
  assert.deepEqual((await server.getPage(getPath(path, ahead))).data, []);
  assert.equal(await getCache(ahead), "private, max-age=1");
});

test("200: pages have every candle once while blocks arrive and become final", async () => {
  const last = server.facts.at(-1)?.number ?? 0;
  const rising = await server.getAll(
    getPath(path, { resolution: "1m", start: "0", limit: "9" }),
    () => {
      const unfinalized = Math.min(server.newestBlock + 10, last);
      return server.advance({ unfinalized, final: unfinalized - 10 });
    },
  );
  assert.equal(server.newestBlock, last);
  const all = expectedCandles({ same: [yes], inverted: [no], bucketSeconds: 60 });
  const times = (rows: readonly Row[]) => rows.map((row) => row["timestamp_ms"]);
  assert.deepEqual(times(rising), times(all));
  assert.deepEqual(await readAll({ resolution: "1m", start: "0" }), all);
});

test("400: an invalid resolution, range or cursor", async () => {
  const refusals = [
    ["resolution=2h", /^resolution must be one of 1m, 5m, 15m, 1h, 4h, 1d; got "2h"/],
    ["limit=1001", 'limit must be a whole number from 1 to 1000; got "1001"'],
    ["fill=zero", 'fill must be one of none, previous; got "zero"'],
    ["source=other", 'source must be one of pair, own; got "other"'],
    ["start=5&end=5", "end must be after start"],
    ["start=yesterday", /^start must be epoch seconds/],
    ["interval=1h", /^interval is not known here; did you mean resolution\?/],
  ] as const;
  for (const [query, expected] of refusals) {
    const { message } = assertError(await server.get(`${path}?${query}`), "VALIDATION_ERROR");
    if (typeof expected === "string") assert.equal(message, expected);
    else assert.match(message, expected);
  }
  const first = await server.getPage(getPath(path, { limit: "1", resolution: "1m" }));
  const cursor = String(first.pagination.next_cursor);
  for (const query of [{ resolution: "5m" }, { resolution: "1m", source: "own" }])
    assertError(await server.get(getPath(path, { ...query, cursor })), "INVALID_CURSOR");
});

test("400: an invalid token id", async () => {
  assertError(await server.get("/v1/candles/0x12"), "VALIDATION_ERROR");
});

test("404: a token never seen, and the id of a market without tokens", async () => {
  assertError(await server.get("/v1/candles/12345"), "NOT_FOUND");
  const { conditionId } = testMarkets.threeOutcomes;
  assertError(await server.get(`/v1/candles/${BigInt(conditionId)}`), "NOT_FOUND");
});
