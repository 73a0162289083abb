import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import type { ConditionId } from "../../src/base/ids.ts";
import { type Fill, isTrade } from "../../src/market/fill.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());
const lengths = { "1h": 3600, "1d": 86_400 } as const;
type Resolution = keyof typeof lengths;

async function getRows(query: string): Promise<readonly Row[]> {
  return server.getAll(`/v1/stats?${query}`);
}

/** The totals of fills of a bucket, by adding up every one. */
function addUp(fills: readonly Fill[], resolution: Resolution, bucket: number) {
  const own = fills.filter(
    ({ timestamp }) => timestamp - (timestamp % lengths[resolution]) === bucket,
  );
  const trades = own.filter(isTrade);
  const fees = own.map((fill) => {
    const fee = fill.fee - fill.feeRefund;
    if (fill.exchange.generation !== 1 || fill.makerSide !== "BUY") return fee;
    // A taker paid what the legs add up to; the event includes what it got back.
    const paid = fill.role === "taker" ? fill.value : fill.makerAmount;
    return (fee * paid) / fill.takerAmount;
  });
  const conditions = trades.map(
    ({ tokenId }) => server.state.directory.getSlot(tokenId)?.conditionId,
  );
  return {
    trades: trades.length,
    volume_usd: formatMicros(trades.reduce((sum, { value }) => sum + value, 0n)),
    fees_usd: formatMicros(fees.reduce((sum, fee) => sum + fee, 0n)),
    active_markets: new Set(conditions.filter((id) => id !== undefined)).size,
    traders: new Set(trades.flatMap(({ maker, taker }) => [maker, taker])).size,
  };
}

function assertTotals(rows: readonly Row[], fills: readonly Fill[], resolution: Resolution): void {
  assert.equal(
    rows.reduce((sum, { trades }) => sum + Number(trades), 0),
    fills.filter(isTrade).length,
  );
  for (const row of rows) {
    const bucket = Number(row["timestamp_ms"]) / 1000;
    const { traders, active_markets, ...sums } = addUp(fills, resolution, bucket);
    for (const [name, value] of Object.entries(sums)) assert.equal(row[name], value, name);
    if (resolution === "1h") {
      assert.deepEqual([row["active_markets"], row["traders"]], [null, null]);
      continue;
    }
    assert.equal(row["active_markets"], active_markets);
    const estimate = Number(row["traders"]);
    assert(Math.abs(estimate - traders) <= 1 + 0.08 * traders, `${estimate} for ${traders}`);
  }
}

test("200: each bucket has the totals of its fills, of all generations and of each", async () => {
  const refunded = server.fills.filter(
    (fill) =>
      fill.exchange.generation === 1 &&
      fill.role === "taker" &&
      fill.makerSide === "BUY" &&
      fill.fee > fill.feeRefund &&
      fill.makerAmount > fill.value,
  );
  assert(refunded.length > 0, "takers with fees in shares that got collateral back");
  for (const resolution of ["1h", "1d"] as const) {
    const all = await getRows(`resolution=${resolution}`);
    assertTotals(all, server.fills, resolution);
    assert(all.some((row) => Number(row["trades"]) > 0));
    for (const generation of [1, 2, 3]) {
      const query = `resolution=${resolution}&exchange_version=${generation}`;
      const own = server.fills.filter(({ exchange }) => exchange.generation === generation);
      assertTotals(await getRows(query), own, resolution);
    }
  }
});

test("200: markets count in the bucket of their creation and of their result", async () => {
  const rows = await getRows("resolution=1h");
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const markets = await server.getAll("/v1/markets?limit=100");
  const from = Number(rows[0]?.["timestamp_ms"]);
  const since = markets.filter((row) => Number(row["created_at_ms"]) >= from);
  assert.equal(sum("new_markets"), since.length);
  const results = await server.getAll("/v1/resolutions?limit=1000");
  assert.equal(sum("resolved_markets"), results.length);
  assert(results.length > 0 && since.length > 0);
});

test("200: a builder code has the totals of its orders", async () => {
  const builders = new Set(server.fills.flatMap(({ builder }) => builder ?? []));
  assert(builders.size > 0);
  for (const builder of builders) {
    const own = server.fills.filter((fill) => fill.builder === builder);
    const [row = {}] = await getRows(`builder=${builder}`);
    const sums: Row = addUp(own, "1d", Number(row["timestamp_ms"]) / 1000);
    for (const name of ["trades", "volume_usd", "fees_usd"])
      assert.equal(row[name], sums[name], name);
    assert.deepEqual(
      [row["active_markets"], row["traders"], row["new_markets"]],
      [null, null, null],
    );
    const trades = await server.getAll(`/v1/trades?builder=${builder}&limit=1000`);
    assert.equal(row["trades"], trades.length);
  }
});

test("200: pages and files have the same buckets in both orders", async () => {
  const all = await getRows("resolution=1h&start=2000-01-01&limit=1000");
  assert.deepEqual(await getRows("resolution=1h&start=2000-01-01&limit=1"), all);
  assert.deepEqual(await getRows("resolution=1h&order=desc&limit=1"), all.toReversed());
  const answer = await server.get("/v1/stats?resolution=1h&format=ndjson");
  assertEveryHeader(answer.headers);
  const lines = answer.text.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as Row),
    all,
  );
});

test("200: a reverted block is in no bucket", async () => {
  const before = await getRows("");
  const block = server.newestBlock;
  await server.advance({ unfinalized: block + 1750 });
  assert.notDeepEqual(await getRows(""), before);
  await server.fork(block, []);
  assert.deepEqual(await getRows(""), before);
});

test("200: a category has the totals of its markets alone", async () => {
  const [market = {}, other = {}] = await server.getAll("/v1/markets?limit=100&sort=trades_24h");
  for (const [row, category] of [
    [market, "Weather"],
    [other, "Sports"],
  ] as const) {
    server.state.applyMetadata(row["id"] as ConditionId, { ...noMetadata, category });
  }
  for (const resolution of ["1h", "1d"] as const) {
    const rows = await getRows(`resolution=${resolution}&category=weather`);
    const tokens = new Set((market["tokens"] as readonly Row[]).map((token) => token["token_id"]));
    const trades = (await server.getAll("/v1/trades?limit=1000&order=asc")).filter((trade) =>
      tokens.has(trade["token_id"]),
    );
    const priced = trades.filter((trade) => trade["price"] !== null);
    const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
    assert.equal(sum("trades"), priced.length);
    assert(Math.abs(sum("volume_usd") - Number(market["volume_usd"])) < 0.01);
    for (const row of rows) {
      assert.equal(row["active_markets"], Number(row["trades"]) > 0 ? 1 : 0);
      assert.deepEqual(
        [row["fees_usd"], row["traders"], row["resolved_markets"]],
        [null, null, null],
      );
    }
  }
});

test("400: a category that no market has", async () => {
  const [{ id } = {}] = await server.getAll("/v1/markets?limit=1");
  server.state.applyMetadata(id as ConditionId, { ...noMetadata, category: "Rainfall" });
  const refused = { resolution: "1h", start: "2000-01-01", format: "csv" };
  for (const [name, message] of [
    ["Nope", /^category names no category: Nope$/],
    ["rainfall,Nope", /^category names no category: Nope$/],
    ["rainfal", /^category names no category: rainfal; did you mean rainfall\?$/],
  ] as const) {
    const query = new URLSearchParams({ ...refused, category: name });
    const answer = await server.get(`/v1/stats?${query.toString()}`);
    assert.match(assertError(answer, "VALIDATION_ERROR").message, message);
  }
  // The market loses it.
  server.state.applyMetadata(id as ConditionId, { ...noMetadata, category: "Climate" });
  assertError(await server.get("/v1/stats?category=rainfall"), "VALIDATION_ERROR");
  assert((await getRows("category=climate")).length > 0);
});

test("400: a category with a generation, and other wrong parameters", async () => {
  const both = await server.get("/v1/stats?category=Sports&exchange_version=3");
  assertError(both, "VALIDATION_ERROR");
  for (const query of ["resolution=1m", "exchange_version=4", "start=2026-01-02&end=2026-01-01"]) {
    assertError(await server.get(`/v1/stats?${query}`), "VALIDATION_ERROR");
  }
});

test("503: heavy reads of totals and of candles wait in one queue", async () => {
  const [market = {}] = await server.getAll("/v1/markets?limit=100&sort=trades_24h");
  const category = "Heavy";
  server.state.applyMetadata(market["id"] as ConditionId, { ...noMetadata, category });
  const [token] = market["tokens"] as [{ token_id: string }];
  const paths = [
    "/v1/stats?category=heavy",
    `/v1/candles?token_ids=${token.token_id}`,
    "/v1/stats?exchange_version=2",
  ];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      Promise.all(paths.map(async (path) => server.get(`${path}&limit=${at + 1}`))),
    ),
  );
  const counts = paths.map((_, at) => {
    const own = answers.map((several) => several[at]);
    for (const answer of own) if (answer?.status === 503) assert(answer.headers.get("retry-after"));
    return [200, 503].map((status) => own.filter((answer) => answer?.status === status).length);
  });
  const [totals = [], candles = [], ofGeneration] = counts;
  for (const [fine = 0, refused = 0] of [totals, candles]) {
    assert.equal(fine + refused, 100);
    assert(refused > 0, JSON.stringify(counts));
  }
  assert.deepEqual(ofGeneration, [100, 0]);
});
