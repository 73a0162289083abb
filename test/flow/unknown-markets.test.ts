/** A service that starts after the markets were created gets their names from the venue, in every answer. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { formatTokenId } from "../../src/base/ids.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { openVenueService } from "../support/open-venue-service.ts";
import { venueMarket } from "../support/scripted-metadata.ts";
import { type Page, type Service } from "../support/service.ts";
import { type TestMarket, testMarkets } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const { standard, negRisk, strangersQuestion, sameQuestion } = testMarkets;
const blocks = buildChain(
  fc
    .sample(anyBlockPlan(4), { seed: 7, numRuns: 40 })
    .map((plan) => ({ ...plan, secondsLater: 2, reports: false })),
).map(({ block }) => block);

function toEntry(market: TestMarket, slug: string, more: Readonly<Record<string, unknown>> = {}) {
  const { conditionId, tokenIds } = market;
  return venueMarket({ conditionId, tokenIds: tokenIds.map(formatTokenId), slug, more });
}

async function openScene(t: TestContext) {
  const { venue, open } = await openVenueService(t, blocks);
  const openReady = async (more: Readonly<Record<string, string>> = {}) => {
    const service = await open(more);
    await service.waitReady();
    return service;
  };
  return { venue, open: openReady };
}

function getToken({ tokenIds }: TestMarket): string {
  return formatTokenId(tokenIds[0] ?? tokenIds[1] ?? assert.fail());
}

/** Waits until the market of a slug is served. */
function waitForMarket(service: Service, slug: string): Promise<Readonly<Record<string, unknown>>> {
  return waitFor(`the market ${slug}`, async () => {
    const answer = await service.request(`/v1/markets/${slug}`);
    if (answer.status !== 200) return null;
    return (answer.body as { data: Record<string, unknown> }).data;
  });
}

test("trades, price, search and lists have the names of a traded market, also after a restart", async (t) => {
  const { venue, open } = await openScene(t);
  venue.marketMetadata.put(toEntry(standard, "the-standard", { question: "Is it proven?" }));
  venue.marketMetadata.put(toEntry(negRisk, "the-neg-risk", { closed: true, negRisk: true }));
  const service = await open({ ODDWIRE_VENUE_MARKETS_MAX: "0" });
  const market = await waitForMarket(service, "the-standard");
  assert.deepEqual(
    [market["id"], market["question"], market["metadata_source"], market["created_block"]],
    [standard.conditionId, "Is it proven?", "venue", null],
  );
  await waitForMarket(service, "the-neg-risk");
  const check = async (requested: Service) => {
    const token = getToken(standard);
    const trades = await requested.get<Page>(`/v1/trades?token_id=${token}`);
    assert.ok(trades.data.length > 0);
    for (const { condition_id, outcome } of trades.data as readonly Record<string, unknown>[]) {
      assert.deepEqual([condition_id, outcome], [standard.conditionId, "Yes"]);
    }
    const found = await requested.get<Page>("/v1/markets?search=proven");
    assert.deepEqual(
      found.data.map(({ id }) => id),
      [standard.conditionId],
    );
    type Price = { data: { complement: { outcome: string } } };
    const price = await requested.get<Price>(`/v1/price/${token}`);
    assert.equal(price.data.complement.outcome, "No");
  };
  await check(service);
  const lookups = venue.marketMetadata.tokenLookups.length;
  assert.equal(await service.stop(), 0);
  venue.httpFault = () => ({ status: 503, body: "" });
  await check(await open());
  assert.ok(lookups >= 1);
});

test("a venue that lies, floods or rejects adds no market; the right one is found later", async (t) => {
  const { venue, open } = await openScene(t);
  const { marketMetadata } = venue;
  marketMetadata.idsMax = 2;
  const long = "x".repeat(100_000);
  const tokens = standard.tokenIds.map(formatTokenId);
  const foreign = { ...sameQuestion, tokenIds: standard.tokenIds };
  marketMetadata.put(toEntry(foreign, "foreign", { question: long }));
  marketMetadata.repeat({
    ...toEntry(foreign, "twice"),
    clobTokenIds: JSON.stringify(tokens),
    outcomes: 7,
  });
  marketMetadata.put(toEntry(strangersQuestion, "the-stranger", { question: `${long}\u001b[31m` }));
  let requests = 0;
  venue.httpFault = (path) => {
    if (!path.includes("clob_token_ids")) return null;
    requests += 1;
    return requests === 1 ? { status: 429, headers: { "retry-after": "1" }, body: "" } : null;
  };
  const service = await open({ ODDWIRE_VENUE_MARKETS_MAX: "0" });
  const stranger = await waitForMarket(service, "the-stranger");
  const question = String(stranger["question"]);
  assert.ok(question.length <= 1_000 && !/\p{Cc}/u.test(question));
  type Metrics = { market_metadata: { claims_refused: number; tokens_unknown: number } };
  const refused = await waitFor("a refusal", async () => {
    const { market_metadata: metrics } = await service.get<Metrics>("/v1/metrics");
    return metrics.claims_refused > 0 ? metrics : null;
  });
  assert.ok(refused.tokens_unknown >= 2);
  assert.equal((await service.request("/v1/markets/foreign")).status, 404);
  marketMetadata.put(toEntry(standard, "the-standard"));
  // The pause after a refusal is 15 seconds.
  await waitForMarket(service, "the-standard");
});

test("the most traded open markets are listed before their first trade, up to a number", async (t) => {
  const { venue, open } = await openScene(t);
  const { marketMetadata } = venue;
  marketMetadata.pageMarkets = 1;
  marketMetadata.put(toEntry(testMarkets.firstAdapter, "little", { volume24hr: 1 }));
  marketMetadata.put(toEntry(sameQuestion, "much", { volume24hr: 900.5 }));
  marketMetadata.put(
    toEntry({ ...sameQuestion, conditionId: standard.conditionId }, "lie", { volume24hr: 1e9 }),
  );
  const service = await open({ ODDWIRE_VENUE_MARKETS_MAX: "2" });
  const market = await waitForMarket(service, "much");
  assert.deepEqual([market["id"], market["trades"]], [sameQuestion.conditionId, 0]);
  assert.equal((await service.request("/v1/markets/little")).status, 404);
  assert.equal(marketMetadata.pagesByVolume, 2);
});
