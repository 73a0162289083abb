import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { type ConditionId, formatTokenId, parseConditionId } from "../../src/base/ids.ts";
import { payoutsMicros } from "../../src/market/market.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, getData } from "../support/open-test-server.ts";

const server = await DataServer.open({
  recording: "contracts-gen3",
  finalBlocks: 200,
  unfinalizedBlocks: 77,
});
after(() => server.close());

const markets = await server.getAll("/v1/markets?limit=100");

async function read(id: unknown): Promise<Row> {
  const answer = await server.get(`/v1/markets/${String(id)}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "private, max-age=300");
  assertEveryHeader(answer.headers);
  return getData(answer);
}

test("200: finds a market by condition id and by each token id, with the row of the list", async () => {
  assert(markets.length > 5);
  for (const market of markets) {
    assert.deepEqual(await read(market["id"]), market);
    for (const token of market["tokens"] as Row[]) {
      assert.deepEqual(await read(token["token_id"]), market);
    }
  }
});

test("200: accepts a condition id in upper case, and with the padding of logs", async () => {
  const market = markets.find((one) => String(one["id"]).length === 64);
  assert(market !== undefined, "there is a market of generation 3");
  const id = String(market["id"]);
  assert.deepEqual(await read(`0x${id.slice(2).toUpperCase()}`), market);
  assert.deepEqual(await read(`${id}00`), market);
});

test("400: an id that is too long, and any parameter", async () => {
  assertError(await server.get(`/v1/markets/${"x".repeat(201)}`), "VALIDATION_ERROR");
  assertError(
    await server.get(`/v1/markets/${String(markets[0]?.["id"])}?full=1`),
    "VALIDATION_ERROR",
  );
});

test("404: ids, tokens and slugs that no market has", async () => {
  const ids = [
    `0x${"ee".repeat(32)}`,
    `0x${"ee".repeat(31)}`,
    "12345",
    "will-it-rain",
    "%F0%9F%8E%B5",
  ];
  for (const id of ids) assertError(await server.get(`/v1/markets/${id}`), "NOT_FOUND");
});

test("200: a combination has its legs, and what its Yes can still pay", async () => {
  const prepared = server.facts
    .flatMap(({ events }) => events)
    .flatMap(({ event }) => (event.kind === "gen3_combo_prepared" ? event : []));
  const payouts = new Set<unknown>();
  for (const { conditionId, legs } of prepared) {
    const row = await read(conditionId);
    const rows = row["legs"] as readonly Row[];
    assert.deepEqual(
      rows.map((leg) => leg["token_id"]),
      legs.map(formatTokenId),
    );
    let product = 1;
    for (const leg of rows) {
      const market = await read(leg["token_id"]);
      const tokens = [
        ...(market["tokens"] as Row[]),
        ...(((market["mirror"] as Row | null)?.["tokens"] ?? []) as Row[]),
      ];
      const token = tokens.find((one) => one["token_id"] === leg["token_id"]);
      assert.deepEqual([leg["question"], leg["outcome"]], [market["question"], token?.["outcome"]]);
      const result = server.state.directory.getResolution(
        parseConditionId(String(leg["condition_id"])) as ConditionId,
      );
      const own = result && payoutsMicros(result)[Number(token?.["outcome_index"])];
      assert.equal(leg["payout"], own === null || own === undefined ? null : formatMicros(own));
      product *= leg["payout"] === null ? 1 : Number(leg["payout"]);
    }
    assert.equal(Number(row["legs_payout"]), product);
    payouts.add(row["legs_payout"]);
  }
  assert(prepared.length > 1, `${prepared.length} combinations pay ${[...payouts].join()}`);
  const [other] = markets.filter((market) => market["legs"] === null);
  assert.equal(other?.["legs_payout"], null);
});
