/** Generation 3 as recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTrading } from "../support/recorded/assert-recorded-truth.ts";
import { assertSameRows } from "../support/recorded/compare-rows.ts";
import {
  expectMarket3,
  expectResult,
  mustBeListed3,
  resultOf,
  tokensOf3,
} from "../support/recorded/expected-markets-3.ts";
import { placeTrades } from "../support/recorded/place-logs.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";

const recording = readRecording("contracts-gen3");
const trades = placeTrades(recording);

test("trades and matches equal the recording", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await assertTrading(service, { recording, trades, tokens: tokensOf3(recording.markets) });
});

test("markets and resolutions equal the recording", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  const byCondition = Map.groupBy(trades, (trade) => trade.expected.condition_id);
  const known = new Map(recording.markets.map((market) => [market.condition_id_bytes31, market]));
  const expected = recording.markets
    .filter(mustBeListed3)
    .map((market) => expectMarket3(market, byCondition.get(market.condition_id) ?? []));
  const served = await service.getAllPages("/v1/markets?limit=100");
  for (const row of served)
    assert(known.has(String(row["id"])), `${String(row["id"])} is invented`);
  const listed = new Set(expected.map((row) => row.fields.id));
  assertSameRows(
    "markets",
    expected,
    served.filter((row) => listed.has(String(row["id"]))),
  );
  const resolutions = await service.getAllPages("/v1/resolutions?limit=100");
  const resolved = recording.markets.filter((market) => market.result !== null);
  assert.deepEqual(
    Object.fromEntries(resolutions.map(resultOf)),
    Object.fromEntries(resolved.map(expectResult)),
  );
});
