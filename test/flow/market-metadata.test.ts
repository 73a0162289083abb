/** Market metadata is read from the venue over real sockets, merged into the markets, and served to clients. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { venueLimits } from "../../src/base/config/venue-limits.ts";
import { AppError } from "../../src/base/errors.ts";
import { formatTokenId } from "../../src/base/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { MarketMetadata, type PublishMetadata } from "../../src/venue/metadata/market-metadata.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { cleanUp } from "../support/clean-up.ts";
import { buildChain } from "../support/generate-chain.ts";
import { listedMarkets } from "../support/listed-markets.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { openVenueService } from "../support/open-venue-service.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { venueMarket } from "../support/scripted-metadata.ts";
import { ScriptedVenue, type VenueReply } from "../support/scripted-venue.ts";
import type { Page } from "../support/service.ts";
import { marketLogs, type TestMarket, testMarkets } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const { standard, unknownOracle, sameQuestion, negRisk, strangersQuestion } = testMarkets;
const everything = marketLogs.map(() => ({ secondsLater: 2, reports: true, transactions: [] }));
const blocks = buildChain(everything).map(({ block }) => block);

function toEntry(market: TestMarket, slug: string, more: Readonly<Record<string, unknown>> = {}) {
  const { conditionId, tokenIds, questionId: questionID } = market;
  return venueMarket({
    conditionId,
    tokenIds: tokenIds.map(formatTokenId),
    slug,
    more: { questionID, ...more },
  });
}

/** A market of the venue that our chain does not have. */
function getStranger(index: number) {
  const conditionId = `0x${index.toString(16).padStart(64, "e")}`;
  return venueMarket({ conditionId, tokenIds: ["1", "2"], slug: `not-ours-${index}` });
}

function stateOfAll(): MarketState {
  const state = new MarketState(knownContracts(), new MemoryStateStore());
  const decoder = new LogDecoder(knownContracts());
  for (const block of blocks) state.apply(toFinalDelta(deriveBlockFacts(block, decoder)));
  return state;
}

/** A clock that runs a hundred times as fast. */
function fastClock() {
  const startedMs = systemClock.monotonicMs();
  const passedMs = () => (systemClock.monotonicMs() - startedMs) * 100;
  return {
    nowMs: () => 1_790_000_000_000 + passedMs(),
    monotonicMs: passedMs,
    sleep: (ms: number, signal: AbortSignal) => systemClock.sleep(ms / 100, signal),
  };
}

async function openMarketMetadata(t: TestContext) {
  const venue = await ScriptedVenue.open();
  cleanUp(t, () => venue.close());
  const state = stateOfAll();
  const open = (publish?: PublishMetadata) => {
    const log = pino({ level: "silent" });
    const means = { clock: fastClock(), random: () => 0, log, onFailure: assert.ifError };
    const marketMetadata = MarketMetadata.open({
      baseUrl: venue.restUrl,
      sink: state.venue,
      publish,
      marketsMax: 0,
      ...means,
    });
    cleanUp(t, () => marketMetadata.close());
    return marketMetadata;
  };
  const toSlug = ({ conditionId }: TestMarket) =>
    state.directory.market(conditionId)?.venue?.slug ?? null;
  const isRead = () =>
    waitFor("the market metadata to be read", async () =>
      state.venue.progress.openReadAt === null ? null : true,
    );
  return { venue, state, open, toSlug, isRead };
}

test("new markets are looked up by id, newest first, and then all pages are read", async (t) => {
  const { venue, state, open, toSlug, isRead } = await openMarketMetadata(t);
  const { marketMetadata: reported } = venue;
  reported.pageMarkets = 3;
  for (let index = 0; index < 8; index += 1) reported.put(getStranger(index));
  reported.put(toEntry(standard, "the-standard", { closed: true, outcomePrices: '["0", "1"]' }));
  reported.put(toEntry(unknownOracle, "the-unknown"));
  const marketMetadata = open();
  await isRead();
  assert.deepEqual([toSlug(standard), toSlug(unknownOracle)], ["the-standard", "the-unknown"]);
  const listed = listedMarkets(state.directory);
  assert.equal(reported.lookups[0]?.[0], listed.at(-1));
  // A second request, with the other value of `closed`, looks up the markets that the first did not return.
  assert.equal(reported.lookups.length, 2);
  assert.equal(reported.lookups[1]?.includes(unknownOracle.conditionId), false);
  assert.deepEqual(reported.cursors.length, 3);
  const { requests, errors, pages } = marketMetadata.status;
  assert.deepEqual([requests, errors, pages], [5, {}, 3]);
  const { known, missing, contradictions } = state.venue.coverage;
  assert.deepEqual([known, missing], [2, 0]);
  assert.equal(Object.values(contradictions).join(""), "00000");
});

test("reading resumes at the same page after any failed response", async (t) => {
  const { venue, open, toSlug, isRead } = await openMarketMetadata(t);
  venue.marketMetadata.pageMarkets = 1;
  for (let index = 0; index < 5; index += 1) venue.marketMetadata.put(getStranger(index));
  venue.marketMetadata.put(toEntry(negRisk, "the-last", { negRisk: true }));
  const answers: readonly VenueReply[] = [
    { status: 429, headers: { "retry-after": "2" }, body: "" },
    { status: 403, body: "<html>Blocked by a firewall</html>" },
    { status: 502, body: "<html><h1>Bad gateway</h1></html>" },
    { status: 200, body: " ".repeat(venueLimits.responseBytesMax + 1) },
    { status: 200, body: "<html>Just a moment...</html>" },
    { status: 200, body: '{"markets":[{"conditionId":"0x' },
    { status: 200, body: "[]" },
    { status: 200, body: '{"markets":{}}' },
    { status: 200, body: '{"markets":[],"next_cursor":7}' },
  ];
  let requested = 0;
  // Every other request fails, each time in a different way.
  venue.httpFault = () => {
    requested += 1;
    return requested % 2 === 0 ? null : (answers[(requested - 1) / 2] ?? null);
  };
  const marketMetadata = open();
  await isRead();
  assert.equal(toSlug(negRisk), "the-last");
  const { cursors } = venue.marketMetadata;
  assert.equal(new Set(cursors).size, cursors.length, "no page was read twice");
  assert.equal(marketMetadata.status.isUnavailable, false);
  assert.deepEqual(marketMetadata.status.errors, {
    rate_limited: 1,
    unavailable: 2,
    oversized: 1,
    malformed: 5,
  });
});

test("metadata that cannot be published is not stored, and is fetched again", async (t) => {
  const { venue, open, toSlug, isRead } = await openMarketMetadata(t);
  venue.marketMetadata.put(toEntry(standard, "the-standard"));
  const stored: (string | null)[] = [];
  const published: (string | null)[] = [];
  const marketMetadata = open(async (markets) => {
    if (markets.length === 0) return;
    stored.push(toSlug(standard));
    if (stored.length < 3) throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    published.push(...markets.map(({ texts }) => texts.slug));
  });
  await isRead();
  assert.deepEqual(stored.slice(0, 3), [null, null, null]);
  assert.equal(published[0], "the-standard");
  assert.equal(toSlug(standard), "the-standard");
  assert.equal(marketMetadata.status.isUnavailable, false);
});

test("entries of wrong types, a megabyte long, repeated or unreadable are skipped", async (t) => {
  const { venue, open, toSlug, isRead, state } = await openMarketMetadata(t);
  const { marketMetadata } = venue;
  const long = "x".repeat(1_000_000);
  marketMetadata.repeat({ ...toEntry(standard, long), question: 7, tags: "x", events: { id: {} } });
  marketMetadata.repeat(toEntry(negRisk, "first"));
  marketMetadata.repeat(toEntry(negRisk, "second"));
  marketMetadata.repeat({ conditionId: "not one" });
  marketMetadata.repeat({ conditionId: [null] as unknown as string });
  const reader = open();
  await isRead();
  assert.equal(toSlug(standard), null);
  assert.equal(state.directory.market(standard.conditionId)?.question, "Standard, isn't it?");
  assert.equal(toSlug(negRisk), "second");
  assert.equal(reader.status.unreadable, 2);
});

test("a cursor that repeats ends the pass and is counted", async (t) => {
  const { venue, open, isRead } = await openMarketMetadata(t);
  venue.httpFault = (path) => {
    const after = new URL(path, venue.restUrl).searchParams.get("after_cursor");
    const next = { a: "b", b: "c", c: "a" }[after ?? "c"] ?? null;
    return { status: 200, body: JSON.stringify({ markets: [], next_cursor: next }) };
  };
  const marketMetadata = open();
  await isRead();
  assert.equal(marketMetadata.status.errors["cursor_loop"], 1);
  assert.ok(marketMetadata.status.pages < 10);
});

test("a page that repeats under a new cursor ends the pass", async (t) => {
  const { venue, open, isRead } = await openMarketMetadata(t);
  let pages = 0;
  venue.httpFault = (path) => {
    if (path.includes("condition_ids")) return null;
    pages += 1;
    const body = { markets: [getStranger(1), getStranger(2)], next_cursor: `c${pages}` };
    return { status: 200, body: JSON.stringify(body) };
  };
  const marketMetadata = open();
  await isRead();
  assert.deepEqual(
    [marketMetadata.status.pages, marketMetadata.status.errors],
    [2, { cursor_loop: 1 }],
  );
});

test("clients find markets by the venue's metadata once the venue is back", async (t) => {
  const { venue, open } = await openVenueService(t, blocks);
  venue.httpFault = () => ({ status: 503, body: "<html>maintenance</html>" });
  venue.marketMetadata.put(
    toEntry(sameQuestion, "will-the-venue-name-it", {
      category: "Sports",
      tags: [{ label: "Champions Cup" }],
      events: [{ id: "9001", slug: "the-cup" }],
      endDate: "2030-05-06T07:08:09Z",
    }),
  );
  venue.marketMetadata.put(toEntry(standard, "standard-slug", { question: "Not the chain's?" }));
  const service = await open();
  await service.waitReady();
  const getIds = async (query: string) =>
    (await service.get<Page>(`/v1/markets?${query}`)).data.map(({ id }) => id);
  assert.deepEqual(await getIds("slug=will-the-venue-name-it"), []);
  venue.httpFault = null;
  const found = await waitFor("the venue's names", async () => {
    const ids = await getIds("slug=will-the-venue-name-it");
    return ids.length > 0 ? ids : null;
  });
  assert.deepEqual(found, [sameQuestion.conditionId]);
  for (const query of [
    "tag=champions+cup",
    "category=Sports",
    "event_id=9001",
    "search=venue+name",
    "search=champions",
    "end_after=2030-05-06T00:00:00Z&end_before=2030-05-07T00:00:00Z",
  ]) {
    assert.deepEqual(await getIds(query), found, query);
  }
  type One = { data: Record<string, unknown> };
  const { data } = await service.get<One>("/v1/markets/will-the-venue-name-it");
  const expected = {
    slug: "will-the-venue-name-it",
    category: "Sports",
    tags: ["Champions Cup"],
    event_id: "9001",
    event_slug: "the-cup",
    start_date: "2026-01-02T03:04:05Z",
    end_date: "2030-05-06T07:08:09Z",
    image: "https://venue.example/image.png",
    metadata_source: "venue",
    question: "The venue asks: will-the-venue-name-it?",
  };
  assert.deepEqual({ ...data, ...expected }, data);
  const proven = await service.get<One>("/v1/markets/standard-slug");
  assert.deepEqual(
    [proven.data["question"], proven.data["metadata_source"]],
    ["Standard, isn't it?", "chain"],
  );
  type Metrics = { market_metadata: { markets: number; up: boolean } };
  const { market_metadata } = await service.get<Metrics>("/v1/metrics");
  assert.deepEqual([market_metadata.markets, market_metadata.up], [2, true]);
});

test("reading resumes where it was after a stop and after kill -9", async (t) => {
  const { venue, open } = await openVenueService(t, blocks);
  const { marketMetadata } = venue;
  marketMetadata.pageMarkets = 1;
  for (let index = 0; index < 200; index += 1) marketMetadata.put(getStranger(index));
  marketMetadata.put(toEntry(strangersQuestion, "found-by-id"));
  const first = await open();
  await first.waitReady();
  const pages = (count: number) =>
    waitFor(`${count} pages`, async () => (marketMetadata.cursors.length >= count ? true : null));
  await pages(6);
  assert.equal(await first.stop(), 0);
  const stoppedAfter = marketMetadata.cursors.length;
  const second = await open();
  await pages(stoppedAfter + 3);
  await second.kill9();
  const killedAfter = marketMetadata.cursors.length;
  const third = await open();
  await pages(killedAfter + 1);
  const begun = (at: number) => Number(Buffer.from(marketMetadata.cursors[at] ?? "", "base64url"));
  assert.equal(marketMetadata.cursors.indexOf(null, 1), -1, "it never begins at the front again");
  assert.ok(begun(stoppedAfter) >= stoppedAfter - 1);
  assert.ok(begun(killedAfter) >= begun(stoppedAfter));
  const answer = await third.request("/v1/markets/found-by-id");
  assert.equal(answer.status, 200);
});
