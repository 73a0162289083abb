/** The explorer's page of a market that moved to Protocol V2: one market, over both ledgers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Market, Trade } from "../../clients/typescript/src/api.ts";
import { dollars, percent } from "../../explorer/src/format/numbers.ts";
import type { ConditionId } from "../../src/base/ids.ts";
import { openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { deriveMigratedConditionId } from "../support/derive-gen3-ids.ts";
import { encodeLogOfKind } from "../support/mirrored-market.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { adminKey } from "../support/service.ts";
import { stranger } from "../support/test-markets.ts";
import { assertAccessible } from "./axe.ts";

const legacy = readRecording("contracts-gen2");
const generation3 = readRecording("contracts-gen3");
const found = legacy.markets.find(
  ({ neg_risk: isNegRisk, resolved, volume, title }) =>
    !isNegRisk && resolved === null && volume.legs > 10 && title !== null,
);
assert.ok(found !== undefined);
const legacyId = found.condition_id as ConditionId;
const mirrorId = deriveMigratedConditionId(legacyId);

/** Returns the logs of the only trade of a case, with the mirror in place of the traded condition. */
function tradeOfMirror(name: string) {
  const trade = generation3.trades.find((one) => one.case === name);
  assert(trade !== undefined);
  const traded = trade.condition_id.slice(2, 36);
  return (generation3.blocks[trade.block_number]?.logs ?? [])
    .filter(({ transactionHash: hash }) => hash === trade.tx_hash)
    .map((log) => JSON.parse(JSON.stringify(log).replaceAll(traded, mirrorId.slice(2, 36))));
}

const registered = encodeLogOfKind("binary_module", "MigrationConditionRegistered", {
  v2ConditionId: mirrorId.slice(0, 64),
  legacyConditionId: legacyId,
});
/** The legacy market pays Yes, and its mirror one half each. */
const resolved = encodeLogOfKind("conditional_tokens", "ConditionResolution", {
  conditionId: legacyId,
  oracle: stranger,
  questionId: legacyId,
  outcomeSlotCount: 2n,
  payoutNumerators: [1n, 0n],
});
const mirrorResolved = encodeLogOfKind("binary_module", "ConditionResolved", {
  conditionId: mirrorId.slice(0, 64),
  result: [500_000n, 500_000n],
});

const moves = buildBlocks(
  [
    { logs: [registered] },
    { logs: tradeOfMirror("binary:comp-buy-fees") },
    { logs: tradeOfMirror("binary:merge-exact") },
    { logs: [resolved] },
    { logs: [mirrorResolved] },
  ],
  { after: legacy.blocks.at(-1) },
);

test("a market that moved to Protocol V2", { skip: skipsBrowser }, async (t) => {
  const blocks = [...legacy.blocks, ...moves];
  const stage = await serveRecording(t, { ...legacy, blocks });
  const lastTrade = stage.head - 2;
  const beforeLast = lastTrade - 1;
  stage.node.setHead(beforeLast);
  const service = await stage.startService([stage.node.wsUrl]);
  await service.waitIndexed(beforeLast);
  const page = await openPage(await openBrowser(t), { viewport: { width: 1280, height: 900 } });
  const path = `/v1/markets/${legacyId}`;
  const { data: market } = await service.get<{ readonly data: Market }>(path);
  const { mirror, tokens } = market;
  assert(mirror !== null);

  await t.test("is found by the id of the mirror, as one row", async () => {
    await page.goto(`${service.baseUrl}/#key=${adminKey}`);
    await page.fill("#search", mirrorId);
    await page.waitForSelector(".found [role=option]:has-text('market')");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".market .moved:has-text('Moved to Protocol V2')");
    const times = await page.locator(".moved time").getAttribute("datetime");
    assert.equal(Date.parse(times ?? ""), mirror.created_at_ms);
  });

  await t.test("shows the newest price, the trades and the chart of both ledgers", async () => {
    await page.waitForSelector(".outcome:first-child .chance:text-is('60%')");
    await page.waitForSelector(".legend b:text-is('60%')");
    await page.waitForSelector(".tape tr[data-id] >> nth=3");
    const first = page.locator(".tape tr[data-id] >> nth=0");
    assert.match((await first.textContent()) ?? "", /60¢/);
  });

  await t.test("follows the trades in Protocol V2", async () => {
    stage.node.setHead(lastTrade);
    await page.waitForSelector(".tape tr.fresh:has-text('55¢')");
    await page.waitForSelector(".outcome:first-child .chance:text-is('55%')");
    await page.waitForSelector(".legend b:text-is('55%')");
  });

  await t.test("lists the ids of both ledgers", async () => {
    await page.click(".ids summary");
    const text = (await page.textContent(".ids")) ?? "";
    const ids = [legacyId, mirror.condition_id];
    for (const id of [...ids, ...[...tokens, ...mirror.tokens].map((one) => one.token_id)])
      assert.ok(text.includes(id), id);
    await assertAccessible(page, "a market that moved");
  });

  await t.test("is one row of the list, with a mark and the newest price", async () => {
    await page.goto(`${service.baseUrl}/?status=all`);
    const row = `[data-market="${legacyId}"]`;
    await page.waitForSelector(`${row} .sub:has-text("Protocol V2")`);
    await page.waitForSelector(`${row} .chance:has-text("55%")`);
    assert.equal(await page.locator(`[data-market="${mirrorId}"]`).count(), 0);
  });

  await t.test("names the market of a trade in Protocol V2", async () => {
    await page.goto(`${service.baseUrl}/trades`);
    await page.waitForSelector(`.tape tr[data-id]:has-text("55¢"):has-text("${found.title}")`);
  });

  await t.test("replays the trades of both ledgers in order", async () => {
    const query = `condition_id=${legacyId}&order=asc&limit=1000`;
    const { data: trades } = await service.get<{ readonly data: Trade[] }>(`/v1/trades?${query}`);
    assert.equal(new Set(trades.map((trade) => trade.condition_id)).size, 2);
    await page.goto(`${service.baseUrl}/market/${legacyId}`);
    await page.click("button:has-text('Replay')");
    await page.click("button[aria-label='Pause the replay']");
    const fromMs = market.created_at_ms;
    const lifeMs = (trades.at(-1)?.timestamp_ms ?? 0) - fromMs;
    for (const step of [1000, 999, 500, 900]) {
      const endMs = Math.floor(fromMs + (step / 1000) * lifeMs);
      const past = trades.filter(({ timestamp_ms: atMs }) => atMs <= endMs);
      const volume = past.reduce((sum, { value_usd: value }) => sum + Number(value), 0);
      const newest = past.at(-1);
      assert(newest !== undefined);
      const price = percent(newest.outcome_index === 0 ? newest.price : 1 - Number(newest.price));
      await page.fill(".replay input", String(step));
      await page.waitForSelector(`.replay p:has-text("${price}"):has-text("${dollars(volume)}")`);
      await page.waitForSelector(`tbody .day + tr[data-id="${newest.id}"]`);
    }
    await page.click("button:has-text('Leave replay')");
  });

  await t.test("shows the results of both ledgers", async () => {
    stage.node.setHead(stage.head - 1);
    await service.waitIndexed(stage.head - 1);
    await page.reload();
    await page.waitForSelector(".resolution:has-text('Not yet resolved in Protocol V2')");
    await page.waitForSelector(".resolution strong:has-text('Resolved: Yes')");
    stage.node.setHead(stage.head);
    await service.waitIndexed(stage.head);
    await page.reload();
    await page.waitForSelector(".mirror-result:has-text('Yes pays $0.50, No pays $0.50 a share')");
    await assertAccessible(page, "a market that was resolved on both ledgers");
  });
});
