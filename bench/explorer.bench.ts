/**
 * Frame times of the explorer in a real Chromium: scrolling a list of many markets, and a market with trades in a block
 * every 50 ms. The baseline in the same run is an empty page. The service runs as deployed. The list repeats its
 * markets under other ids. Without a GPU, drawing takes processor time, so frame times of a desktop are lower.
 * Arguments: markets (default 10000), seconds for each page (default 10).
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import type { Page } from "playwright-core";
import type { Market } from "../clients/typescript/src/api.ts";
import { openBrowser, openPage } from "../test/support/browser.ts";
import { writeContractsFile } from "../test/support/contracts-file.ts";
import { anyBlockPlan, buildChain } from "../test/support/generate-chain.ts";
import { scriptBlocks } from "../test/support/script-blocks.ts";
import { ScriptedNode } from "../test/support/scripted-node.ts";
import { adminKey, Service } from "../test/support/service.ts";

const marketCount = Number(process.argv[2] ?? 10_000);
const seconds = Number(process.argv[3] ?? 10);
const blockEveryMs = 50;
const blocksAtStart = 100;
/** Blocks for the time in which a page opens and is measured. */
const blocksLater = ((seconds + 60) * 1000) / blockEveryMs;
/** A 60 Hz screen draws a frame every 16.7 ms. At half that rate movement is no longer smooth. */
const goalMs = 32;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const plans = fc.sample(anyBlockPlan(3), { seed: 1, numRuns: blocksAtStart + blocksLater });
const chain = buildChain(plans.map((plan) => ({ ...plan, secondsLater: 1 })));
const blocks = scriptBlocks(chain.map(({ block }) => block));
const first = blocks[0]?.number ?? 0;
const node = await ScriptedNode.open({ blocks });
node.setFinalized({ behindHead: 20 });
node.setHead(first + blocksAtStart);
const folder = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const service = await Service.open({
  rpcUrls: [node.wsUrl],
  dataDir: join(folder, "data"),
  settings: {
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(first),
  },
});
const endings: (() => unknown)[] = [];
try {
  await service.waitIndexed(first + blocksAtStart);
  const browser = await openBrowser({ after: (end: () => unknown) => endings.push(end) });
  const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
  report("empty page", await measureFrames(page, ""));
  report(`${marketCount} markets, scrolled`, await measureList(page));
  report(`a block every ${blockEveryMs} ms`, await measureMarket(page));
} finally {
  for (const end of endings) await end();
  await service.stop();
  await node.close();
  await rm(folder, { recursive: true, force: true });
}

/** Measures the list. Its first page is repeated until it has the requested number of markets. */
async function measureList(page: Page): Promise<readonly number[]> {
  await page.route("**/v1/markets?*limit=40*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { readonly data: readonly Market[] };
    assert(body.data.length > 0, "the chain has markets");
    const data = Array.from({ length: marketCount }, (_, at) => getCopy(body.data, at));
    await route.fulfill({ response, json: { ...body, data } });
  });
  await page.goto(`${service.baseUrl}/?status=all#key=${adminKey}`);
  await page.waitForSelector("[data-market]");
  return measureFrames(page, "scrollBy(0, 12)");
}

function getCopy(markets: readonly Market[], at: number): Market {
  const market = markets[at % markets.length];
  assert(market !== undefined);
  const id = `0x${at.toString(16).padStart(64, "0")}`;
  return { ...market, id, event_id: null, neg_risk_market_id: null };
}

/** Measures the open market with the most trades, live. */
async function measureMarket(page: Page): Promise<readonly number[]> {
  const { data } = await service.get<{ readonly data: readonly Market[] }>(
    "/v1/markets?status=open&limit=100",
  );
  const [busiest] = data.toSorted((a, b) => b.trades - a.trades);
  assert(busiest !== undefined, "the chain has an open market");
  await page.goto(`${service.baseUrl}/market/${busiest.id}`);
  await page.waitForSelector(".live-state.live");
  let head = first + blocksAtStart;
  const timer = setInterval(() => {
    head += 1;
    if (head <= first + chain.length - 1) node.setHead(head);
  }, blockEveryMs);
  try {
    await page.waitForSelector("tr.fresh");
    const frames = await measureFrames(page, "");
    console.log(`${await page.locator("tr.fresh").count()} new trades are on the page`);
    return frames;
  } finally {
    clearInterval(timer);
  }
}

/** Returns the milliseconds from each frame to the next. `each` is JavaScript that runs in every frame. */
async function measureFrames(page: Page, each: string): Promise<readonly number[]> {
  return page.evaluate<readonly number[]>(`new Promise((resolve) => {
    const frames = [];
    const endMs = performance.now() + ${seconds * 1000};
    let beforeMs = null;
    requestAnimationFrame(function take(nowMs) {
      if (beforeMs !== null) frames.push(nowMs - beforeMs);
      beforeMs = nowMs;
      ${each};
      if (nowMs < endMs) requestAnimationFrame(take);
      else resolve(frames);
    });
  })`);
}

function report(name: string, frames: readonly number[]): void {
  const sorted = frames.toSorted((a, b) => a - b);
  const at = (part: number): string =>
    (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1);
  const load = loadavg()[0]?.toFixed(1) ?? "?";
  const verdict = Number(at(0.95)) < goalMs ? "within" : "above";
  console.log(
    `${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms (${verdict} ${goalMs} ms), longest ${at(1)} ms, ` +
      `${frames.length} frames, load ${load}`,
  );
}
