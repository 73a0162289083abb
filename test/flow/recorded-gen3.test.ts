/** A recording of generation 3. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTrading } from "../support/recorded/assert-recorded-truth.ts";
import { assertSameRows } from "../support/recorded/compare-rows.ts";
import {
  expectMarket3,
  expectResult,
  getResult,
  mustBeListed3,
  tokensOf3,
} from "../support/recorded/expected-markets-3.ts";
import { placeTrades } from "../support/recorded/place-logs.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import type { Service } from "../support/service.ts";

const recording = readRecording("contracts-gen3");
const trades = placeTrades(recording);

test("responses equal the recording", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await t.test("for trades and matches", async () => {
    await assertTrading(service, { recording, trades, tokens: tokensOf3(recording.markets) });
  });
  await t.test("for markets and resolutions", () => assertMarkets(service));
});

async function assertMarkets(service: Service): Promise<void> {
  const byCondition = Map.groupBy(trades, (trade) => trade.expected.condition_id);
  const expected = recording.markets
    .filter(mustBeListed3)
    .map((market) => expectMarket3(market, byCondition.get(market.condition_id) ?? []));
  const listed = new Set(expected.map((row) => row.fields.id));
  const markets = await service.getAllPages("/v1/markets?limit=100");
  for (const row of markets) assertOfKnownEvent(String(row["id"]));
  assertSameRows(
    "markets",
    expected,
    markets.filter((row) => listed.has(String(row["id"]))),
  );
  const resolved = recording.markets.filter((market) => market.result !== null);
  const recorded = new Set(recording.markets.map((market) => market.condition_id_bytes31));
  const resolutions = await service.getAllPages("/v1/resolutions?limit=100");
  for (const row of resolutions) assertOfKnownEvent(String(row["condition_id"]));
  const results = resolutions.filter((row) => recorded.has(String(row["condition_id"])));
  assert.deepEqual(
    Object.fromEntries(results.map(getResult)),
    Object.fromEntries(resolved.map(expectResult)),
  );
}

/** The recording omits the "Other" condition of its migrated event. No condition of any other event can be added. */
function assertOfKnownEvent(conditionId: string): void {
  const events = recording.markets.map((market) => getEventId(market.condition_id));
  assert(events.includes(getEventId(conditionId)), `${conditionId} is invented`);
}

/** The first 29 bytes of a condition id. */
function getEventId(conditionId: string): string {
  return conditionId.slice(0, 2 + 2 * 29);
}
