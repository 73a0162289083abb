/** The documentation site, built as `npm run guide` builds it, below a path in a real browser. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { guideRoutes } from "../../src/api/guide/guide-routes.ts";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { cleanUp } from "../support/clean-up.ts";
import { openTestServer } from "../support/open-test-server.ts";
import { openProxy, skipsProxy } from "../support/proxy.ts";

const skip = skipsBrowser === false ? skipsProxy("nginx") : skipsBrowser;

test("the site finds its pages and files below a path", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-site-"));
  cleanUp(t, async () => rm(folder, { recursive: true }));
  const program = "node_modules/.bin/vitepress";
  await promisify(execFile)(program, ["build", "docs", "--outDir", folder]);
  const server = await openTestServer({ routes: guideRoutes(folder), requestsPerIp: 10_000 });
  cleanUp(t, async () => server.close());
  const site = `${await openProxy(t, "nginx", server.url)}/oddwire/guide/`;
  const page = await openPage(await openBrowser(t), { viewport: { width: 1280, height: 900 } });
  const complaints = collectComplaints(page);
  const outside: string[] = [];
  page.on("request", (sent) => {
    if (!sent.url().startsWith(site) && !sent.url().startsWith("data:")) outside.push(sent.url());
  });

  await page.goto(site);
  await page.click(".VPSidebar >> text=Trades and volume");
  await page.waitForURL(`${site}guide/trades.html`);
  // A link of the text, and one around it that was there before.
  await page.click(".vp-doc a[href*='counting']");
  await page.waitForURL(`${site}counting.html*`);
  await page.click(".VPSidebar >> text=Candles");
  await page.waitForURL(`${site}guide/candles.html`);
  await page.reload();
  await page.waitForFunction("document.querySelector('#app').__vue_app__");
  await page.click("#local-search button");
  await page.fill("#localsearch-input", "quarantine");
  await page.waitForSelector("#localsearch-list a");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href.startsWith(site) && !url.href.includes("candles"));
  await page.waitForSelector(".vp-doc h1");
  assert.deepEqual(outside, []);
  assert.deepEqual(complaints, []);
});
