/** The explorer in a real browser, on a real service that follows a recorded chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import { adminKey } from "../support/service.ts";

const recording = readRecording("contracts-gen2");
const bytesMax = 250_000;

/** The last trade of an outcome "Yes": what happens live. */
const lastTrade = recording.trades.findLast(({ outcome }) => outcome === "YES");
assert.ok(lastTrade !== undefined);
const beforeLast = lastTrade.block_number - 1;

test("the explorer", { skip: skipsBrowser }, async (t) => {
  const stage = await serveRecording(t, recording);
  const browser = await openBrowser(t);
  stage.node.setHead(beforeLast);
  stage.node.setFinalized({ behindHead: 50 });
  const venue = await ScriptedVenue.open({ hasEveryBook: true });
  t.after(async () => venue.close());
  let service = await stage.startService([stage.node.wsUrl], venue.settings);
  await service.waitIndexed(beforeLast);
  const page = await openPage(browser);
  const complaints = collectComplaints(page);

  await t.test(
    "asks for a key, refuses a wrong one in words, and keeps the right one",
    async () => {
      await page.goto(service.baseUrl);
      await page.fill("input[name=key]", "ow_read_wrong");
      await page.click("button.primary");
      await page.waitForSelector(".notice");
      complaints.length = 0;
      await page.fill("input[name=key]", adminKey);
      await page.click("button.primary");
      await page.waitForSelector(".cards li");
      await page.reload();
      await page.waitForSelector(".cards li");
    },
  );

  await t.test("is light, and hides the key it was given", async () => {
    const fresh = await openPage(browser);
    const sizes: Promise<{ readonly responseBodySize: number }>[] = [];
    fresh.on("response", (response) => sizes.push(response.request().sizes()));
    await fresh.goto(`${service.baseUrl}/#key=${adminKey}`, { waitUntil: "networkidle" });
    const bytes = (await Promise.all(sizes)).reduce((sum, one) => sum + one.responseBodySize, 0);
    assert.equal(new URL(fresh.url()).hash, "#/", "the key has left the address");
    assert.ok(bytes > 50_000 && bytes < bytesMax, `${bytes} bytes`);
    await fresh.close();
  });

  await t.test("searches as one types, by keyboard", async () => {
    const known = await service.get<{ readonly data: readonly { readonly question: string }[] }>(
      "/v1/markets?status=all&limit=1",
    );
    await page.selectOption("label:has-text('Status') select", "all");
    await page.keyboard.press("/");
    await page.keyboard.type("zzzz no such market");
    await page.waitForSelector("text=No market fits.");
    await page.fill("input[name=search]", known.data.at(0)?.question ?? "");
    await page.waitForSelector(".cards li a");
    await page.focus(".cards li a");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".outcome");
  });

  await t.test("shows a market, and its next trade as it happens", async () => {
    await page.goto(`${service.baseUrl}/#/market/${lastTrade.condition_id}`);
    await page.waitForSelector(".outcome[aria-pressed=true] .big");
    await page.waitForSelector("text=Live");
    await page.waitForSelector(".chart canvas");
    const tokenId = (await page.textContent("p.mono"))?.replace("token ", "") ?? "";
    venue.change([
      { assetId: tokenId, side: "BUY", price: "0.41", size: "120" },
      { assetId: tokenId, side: "SELL", price: "0.47", size: "80" },
    ]);
    await page.waitForSelector(".depth td:has-text('41¢')");
    await page.waitForSelector(".depth td:has-text('47¢')");
    stage.node.setHead(lastTrade.block_number);
    await page.waitForSelector(`tr.fresh[data-id^="${lastTrade.tx_hash}"]`);
  });

  await t.test("crosses out what a fork reverts, and shows what comes instead", async () => {
    const { node } = stage;
    const parent = recording.blocks[beforeLast];
    node.fork(buildBlocks([{}, {}], { after: parent, salt: "rival" }));
    await page.waitForSelector("tr.taken-back");
    await page.waitForSelector(`tr[data-id^="${lastTrade.tx_hash}"]`, { state: "detached" });
    node.fork(recording.blocks.slice(lastTrade.block_number, lastTrade.block_number + 4));
    await page.waitForSelector(`tr[data-id^="${lastTrade.tx_hash}"]`);
  });

  await t.test("goes on on its own after the service was away", async () => {
    const port = new URL(service.baseUrl).port;
    await service.kill9();
    await page.waitForSelector("text=Connecting");
    const settings = { ...venue.settings, ODDWIRE_PORT: port };
    service = await stage.startService([stage.node.wsUrl], settings);
    await page.waitForSelector("text=Live");
    // Until then the status is answered 503, which a browser complains about.
    await service.waitReady();
    complaints.length = 0;
  });

  await t.test("shows trades of all markets, the status, and keys", async () => {
    await page.click("nav >> text=Trades");
    await page.waitForSelector("tbody tr[data-id]");
    await page.click("nav >> text=Status");
    await page.waitForSelector("dt:has-text('Coverage')");
    await page.click("nav >> text=Keys");
    await page.fill("input[name=name]", "from the page");
    await page.click("text=Create key");
    const value = await page.textContent(".notice code");
    assert.match(value ?? "", /^ow_read_/);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.click("button[aria-label='Revoke from the page']");
    await page.waitForSelector("tr:has-text('from the page') >> text=revoked");
  });

  await t.test("fits a phone, in the dark", async () => {
    const phone = await openPage(browser, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
    });
    await phone.goto(`${service.baseUrl}/#key=${adminKey}`);
    await phone.waitForSelector(".cards li");
    await phone.goto(`${service.baseUrl}/#/market/${lastTrade.condition_id}`);
    await phone.waitForSelector(".chart canvas");
    const overflow = await phone.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    assert.equal(overflow, 0, "nothing is wider than the screen");
    await phone.close();
  });

  await t.test("nothing was complained about", () => {
    assert.deepEqual(complaints, []);
  });
});
