/** Compares the responses of a running service with a recording of generations 1 and 2. */
import assert from "node:assert/strict";
import type { Service } from "../service.ts";
import {
  assertFallingSeq,
  assertSameRows,
  assertShape,
  type ExpectedRow,
  type Row,
} from "./compare-rows.ts";
import { expectCancellations } from "./expected-cancellations.ts";
import { comparedFields, expectExchangeEvents } from "./expected-exchange-events.ts";
import { expectMarket, expectResolution, getTokens, isListed } from "./expected-markets.ts";
import { expectFills, expectMatch, expectTrade, type TokenFacts } from "./expected-trades.ts";
import { type PlacedTrade, placeMatches, placeTrades } from "./place-logs.ts";
import type { ExpectedMarket, Recording } from "./recording.ts";
import { rowShapes } from "./row-shapes.ts";

/** Asserts that all responses equal the recording. */
export async function assertRecordedTruth(
  service: Service,
  recording: Recording<ExpectedMarket>,
): Promise<void> {
  const trades = placeTrades(recording);
  await assertTrading(service, { recording, trades, tokens: getTokens(recording.markets) });
  await assertCancellations(service, recording);
  if (recording.admin.length > 0) await assertExchangeEvents(service, recording);
  await assertMarkets(service, recording, trades);
  await assertResolutions(service, recording);
}

/** Asserts trades, matches and fills, of any generation. */
export async function assertTrading(
  service: Service,
  truth: {
    readonly recording: Recording<unknown>;
    readonly trades: readonly PlacedTrade[];
    readonly tokens: ReadonlyMap<string, TokenFacts>;
  },
): Promise<void> {
  const { recording, trades, tokens } = truth;
  const expectedTrades = trades.map((trade) => expectTrade(trade, tokens));
  const served = await assertList(service, "trade", {
    path: "/v1/trades?limit=1000",
    expected: expectedTrades,
  });
  assertNoDecoys(recording, served);
  await assertTokenTrades(service, expectedTrades);
  const matches = placeMatches(recording, trades);
  await assertList(service, "match", {
    path: "/v1/matches?limit=1000",
    expected: matches.map((match) => expectMatch(match, tokens)),
  });
  const fills = await service.getAllPages("/v1/fills?limit=1000");
  assertSameRows("fills", expectFills(trades, matches), fills);
}

/** Asserts that `/v1/trades/market/{token_id}` returns the same rows for the busiest token. */
async function assertTokenTrades(service: Service, trades: readonly ExpectedRow[]): Promise<void> {
  const byToken = Map.groupBy(trades, (trade) => trade.fields["token_id"]);
  const [busiest] = [...byToken].toSorted(([, a], [, b]) => b.length - a.length);
  assert(busiest !== undefined, "the recording has trades");
  await assertList(service, "trade", {
    path: `/v1/trades/market/${String(busiest[0])}?limit=7`,
    expected: busiest[1],
  });
}

async function assertCancellations(
  service: Service,
  recording: Recording<ExpectedMarket>,
): Promise<void> {
  await assertList(service, "cancellation", {
    path: "/v1/cancellations?limit=1000",
    expected: expectCancellations(recording),
  });
}

async function assertExchangeEvents(
  service: Service,
  recording: Recording<ExpectedMarket>,
): Promise<void> {
  const { sinceBlock, rows } = expectExchangeEvents(recording);
  const path = `/v1/exchange-events?order=asc&limit=7&from_block=${sinceBlock}`;
  const served = await service.getAllPages(path);
  // Cancellations and pauses of generation 1 are in another part of the recording.
  const ofGeneration2 = served.filter((row) => row["exchange_version"] === 2);
  assert.deepEqual(ofGeneration2.map(comparedFields), rows);
}

async function assertMarkets(
  service: Service,
  recording: Recording<ExpectedMarket>,
  trades: readonly PlacedTrade[],
): Promise<void> {
  const byCondition = Map.groupBy(trades, (trade) => trade.expected.condition_id);
  const expected = recording.markets
    .filter(isListed)
    .map((market) => expectMarket(market, byCondition.get(market.condition_id) ?? [], recording));
  const served = await service.getAllPages("/v1/markets?limit=10");
  assertSameRows("markets", expected, served);
  assertShape("market", served, rowShapes.market);
  const singles = await Promise.all(
    expected.map((row) => service.get<{ data: Row }>(`/v1/markets/${row.fields.id}`)),
  );
  assertSameRows(
    "markets one by one",
    expected,
    singles.map((answer) => answer.data),
  );
}

/** The rules do not define whether resolutions of unlisted conditions are served. */
async function assertResolutions(
  service: Service,
  recording: Recording<ExpectedMarket>,
): Promise<void> {
  const listed = recording.markets.filter(isListed);
  const ids = new Set(listed.map((market) => market.condition_id));
  const all = await service.getAllPages("/v1/resolutions?limit=7");
  const served = all.filter((row) => ids.has(String(row["condition_id"])));
  const expected = listed
    .filter((market) => market.resolved !== null)
    .map((market) => expectResolution(market, recording));
  assertSameRows("resolutions", expected, served);
  assertShape("resolution", served, rowShapes.resolution);
  assertFallingSeq("resolutions", served);
}

async function assertList(
  service: Service,
  shape: "trade" | "match" | "cancellation",
  list: { readonly path: string; readonly expected: readonly ExpectedRow[] },
): Promise<Row[]> {
  const served = await service.getAllPages(list.path);
  assertSameRows(list.path, list.expected, served);
  assertShape(shape, served, rowShapes[shape]);
  assertFallingSeq(list.path, served);
  return served;
}

function assertNoDecoys(recording: Recording<unknown>, served: readonly Row[]): void {
  const decoys = new Set(recording.decoys.map((decoy) => decoy.exchange.toLowerCase()));
  assert(decoys.size > 0, "the recording has decoys");
  const found = served.filter((row) => decoys.has(String(row["exchange_address"])));
  assert.deepEqual(found, [], "trades of an exchange that is not configured");
}
