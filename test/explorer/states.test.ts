/** What the explorer shows without a key, without indexed blocks, at a limit, on a phone, or before a late result. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Market } from "../../clients/typescript/src/api.ts";
import { openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { adminKey } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const recording = readRecording("contracts-gen2");
const trade = recording.trades.find(({ outcome }) => outcome === "YES");
assert.ok(trade !== undefined);
const marketPath = `/market/${trade.condition_id}`;

test("the explorer when something is missing", { skip: skipsBrowser }, async (t) => {
  const stage = await serveRecording(t, recording);
  const browser = await openBrowser(t);
  const service = await stage.startService([stage.node.wsUrl], { ODDWIRE_PUBLIC_READ: "1" });
  await service.waitIndexed(stage.head);
  const page = await openPage(browser, { viewport: { width: 1280, height: 900 } });

  /** Opens a page with a key. Without one, all pages together have the limit of one IP address. */
  async function goto(tab: Page, path: string): Promise<void> {
    await tab.goto("about:blank");
    await tab.goto(`${service.baseUrl}${path}#key=${adminKey}`);
  }

  await t.test("keeps the form for a key open until it is used or left", async () => {
    await page.clock.install();
    await page.goto(service.baseUrl);
    await page.waitForSelector("[data-row]");
    await page.click("text=Use a key");
    await page.fill("input[name=key]", "ow_read_half");
    // Longer than the interval of the page's requests. Their responses must not close the form.
    await page.clock.runFor(60_000);
    await page.evaluate("fetch('/v1/metrics').then((response) => response.text())");
    assert.equal(await page.inputValue("input[name=key]"), "ow_read_half");
    await page.click("text=Continue without a key");
    await page.waitForSelector("[data-row]");
    await page.goto(`${service.baseUrl}/keys`);
    await page.click("main >> text=Use a key");
    await page.waitForSelector("input[name=key]");
    await page.clock.resume();
  });

  await t.test("shows placeholders in a readable color, in either theme", async () => {
    await goto(page, "/");
    await page.waitForSelector(".pulse");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const [placeholder, checked] = await page.evaluate<string[]>(
        `[getComputedStyle(document.querySelector("#search"), "::placeholder").color,
          getComputedStyle(document.querySelector(".pulse")).color]`,
      );
      assert.equal(placeholder, checked, "axe checks the one and not the other");
    }
  });

  await t.test("opens what was typed, not an earlier search result", async () => {
    await goto(page, "/");
    await page.waitForSelector("[data-row]");
    await page.fill("#search", trade.condition_id ?? "");
    await page.waitForSelector(".found [role=option]");
    await page.fill("#search", trade.tx_hash);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/tx/${trade.tx_hash}`);
  });

  await t.test("says that nothing is indexed yet, and shows a market once it is", async () => {
    const tab = await page.context().newPage();
    await tab.route("**/v1/metrics", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly indexer: object };
      const indexer = { ...body.indexer, indexed_block: null, lag_seconds: null };
      await route.fulfill({ response, json: { ...body, indexer } });
    });
    await goto(tab, "/");
    await tab.waitForSelector("main >> text=The service has not indexed a block yet");
    await tab.waitForSelector(".pulse:not(.live):has-text('no block indexed yet')");
    const error = { code: "NOT_FOUND", message: "not known", request_id: "1" };
    await tab.route("**/v1/markets/*", (route) => route.fulfill({ status: 404, json: { error } }));
    await goto(tab, marketPath);
    await tab.waitForSelector("text=It may be in blocks that are not indexed yet");
    await tab.unroute("**/v1/markets/*");
    await tab.waitForSelector(".outcome");
    await tab.close();
  });

  await t.test("shows the trades of a wallet where wallets are not indexed", async () => {
    const tab = await page.context().newPage();
    const message = "Wallets are not indexed: ODDWIRE_WALLETS is off";
    const error = { code: "NOT_FOUND", message, request_id: "1" };
    await tab.route("**/v1/wallets/**", (route) => route.fulfill({ status: 404, json: { error } }));
    await goto(tab, `/wallet/${trade.maker}`);
    await tab.waitForSelector(`text=${message}`);
    await tab.waitForSelector(".tape [data-row], .tape tbody tr.day");
    await tab.close();
  });

  await t.test("says that a contract which passes tokens on has no positions", async () => {
    const tab = await page.context().newPage();
    await goto(tab, "/wallet/0xe111180000d2663c0091e4f400237545b87b996b");
    await tab.waitForSelector("text=This is a contract: exchange");
    assert.equal(await tab.locator("text=Unrealized").count(), 0);
    await tab.close();
  });

  await t.test("does not announce a trade for a market that was resolved without one", async () => {
    type Body = { readonly data: readonly { readonly id: string; readonly trades: number }[] };
    const { data } = await service.get<Body>("/v1/markets?status=resolved&limit=100");
    const [resolved] = data;
    assert(resolved !== undefined);
    const tab = await page.context().newPage();
    await tab.route(`**/v1/markets/${resolved.id}`, async (route) => {
      const response = await route.fetch();
      const { data: market, ...body } = (await response.json()) as { readonly data: object };
      await route.fulfill({ response, json: { ...body, data: { ...market, trades: 0 } } });
    });
    await tab.route("**/v1/candles/*", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as object;
      await route.fulfill({ response, json: { ...body, data: [] } });
    });
    await goto(tab, `/market/${resolved.id}`);
    await tab.waitForSelector("text=This market had no trades");
    await tab.close();
  });

  await t.test(
    "keeps numbers and page in order next to texts that reverse or never break",
    async () => {
      const tab = await page.context().newPage();
      await tab.setViewportSize({ width: 390, height: 900 });
      const [found] = (
        await service.get<{ data: readonly Market[] }>("/v1/markets?status=resolved")
      ).data;
      assert(found !== undefined);
      await tab.route(`**/v1/markets/${found.id}`, async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { readonly data: Market };
        const tokens = body.data.tokens.map((token) => ({ ...token, outcome: "\u202eodd" }));
        const data = { ...body.data, tokens, question: "W".repeat(300) };
        await route.fulfill({ response, json: { ...body, data } });
      });
      await goto(tab, `/market/${found.id}`);
      await tab.waitForSelector(".resolution");
      await tab.waitForSelector(".legend b");
      const named = await tab.textContent(".outcome-title");
      assert.match(named ?? "", /^\[U\+202E\]odd/, "the mark that reverses is visible");
      assert.ok(await isInOrder(tab, ".resolution p", "$"));
      assert.ok(await isInOrder(tab, ".legend", "%"));
      const widths = await tab.evaluate<number[]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      assert.equal(widths[0], widths[1]);
      await tab.close();
    },
  );

  await t.test("keeps every page within its width next to an outcome without spaces", async () => {
    const tab = await page.context().newPage();
    await tab.route("**/v1/**", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const body = text.replace(
        /"(outcome|winning_outcome)":"[^"]*"/g,
        (_, name) => `"${name}":"${"W".repeat(120)}"`,
      );
      await route.fulfill({ response, body });
    });
    for (const width of [1280, 800, 390]) {
      await tab.setViewportSize({ width, height: 900 });
      for (const [path, place] of [
        [`/wallet/${trade.maker}?positions=all`, "td:has-text('WWW')"],
        [`/wallet/${trade.maker}?tab=Activity`, "td:has-text('WWW')"],
        [`/tx/${trade.tx_hash}`, ".fills"],
        [`/order/${trade.maker_order_hash}`, ".fills"],
        [marketPath, ".legend b"],
      ] as const) {
        await goto(tab, path);
        await tab.waitForSelector(place);
        const tooWide = await tab.evaluate(
          `[document.documentElement, ...document.querySelectorAll(".scroll")]
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`,
        );
        assert.equal(tooWide, 0, `${path} with a width of ${width}`);
      }
    }
    await tab.close();
  });

  await t.test("asks the service again for what the browser has in its cache", async () => {
    const tab = await (await browser.newContext()).newPage();
    for (const visit of ["first", "second"]) {
      await goto(tab, marketPath);
      await tab.waitForSelector(".outcome");
      const sizes = await tab.evaluate<number[]>(
        `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/markets/"))
          .map(({ transferSize }) => transferSize)`,
      );
      assert(sizes.length > 0 && !sizes.includes(0), `${visit} visit: ${sizes.join()}`);
    }
    await tab.context().close();
  });

  await t.test("reports a limit that was reached, not an outage", async () => {
    const tab = await page.context().newPage();
    const error = { code: "IP_BLOCKED", message: "Your IP has been blocked", request_id: "1" };
    await tab.route("**/v1/**", (route) => route.fulfill({ status: 403, json: { error } }));
    await goto(tab, "/");
    await tab.waitForSelector("main >> text=Your IP has been blocked");
    await tab.waitForSelector(".pulse:has-text('limited for now')");
    await tab.close();
  });

  await t.test(
    "sends nothing while over a rate limit, says for how long, and recovers",
    async () => {
      const tab = await page.context().newPage();
      await goto(tab, "/");
      await tab.waitForSelector("[data-row]");
      const error = { code: "RATE_LIMITED", message: "Too many requests", request_id: "1" };
      const refused = { status: 429, headers: { "Retry-After": "1" }, json: { error } };
      const sentMs: number[] = [];
      let isRefusing = true;
      await tab.route("**/v1/**", async (route) => {
        sentMs.push(Date.now());
        return isRefusing ? route.fulfill(refused) : route.continue();
      });
      await tab.click("button:has-text('All') >> nth=0");
      await tab.waitForSelector("main >> text=/Retrying automatically in [1-5]s/");
      isRefusing = false;
      const shownMs = Date.now();
      await tab.waitForSelector("[data-row]");
      // A page asks again after 5 s at the earliest, because it sends several requests.
      const againMs = (sentMs[0] ?? 0) + 5000;
      const early = sentMs.filter((atMs) => atMs > shownMs && atMs < againMs);
      assert.deepEqual(early, []);
      await tab.close();
    },
  );

  await t.test("keeps one connection to the stream from page to page", async () => {
    const tab = await page.context().newPage();
    let sockets = 0;
    tab.on("websocket", () => {
      sockets += 1;
    });
    await goto(tab, marketPath);
    await tab.waitForSelector(".market .live-state.live");
    await tab.click("nav >> text=Trades");
    await tab.waitForSelector("h1:has-text('Trades')");
    await tab.waitForSelector(".live-state.live");
    await tab.click("nav >> text=Markets");
    await tab.click("[data-row]");
    await tab.waitForSelector(".market .live-state.live");
    assert.equal(sockets, 1);
    await tab.close();
  });

  await t.test("offers older trades until all are shown, on every page of trades", async () => {
    const counts = Map.groupBy(recording.trades, ({ maker }) => maker);
    const makers = [...counts].toSorted(([, a], [, b]) => a.length - b.length);
    const [least, most] = [makers[0], makers.at(-1)];
    assert(least !== undefined && most !== undefined && most[1].length > 200);
    await goto(page, `/wallet/${least[0]}?tab=Trades`);
    await showLastRow(page);
    assert.equal(await page.isVisible("text=Older trades"), false);
    for (const [path, query] of [
      [`/wallet/${most[0]}?tab=Trades`, `wallet=${most[0]}&`],
      ["/trades", ""],
    ] as const) {
      const { length: count } = await service.getAllPages(`/v1/trades?${query}limit=1000`);
      await goto(page, path);
      await showLastRow(page);
      for (let rows = 200; rows < Math.min(count + 100, 700); rows += 100) {
        await page.click("text=Older trades");
        await waitForRows(page, Math.min(rows, count));
      }
      assert.equal(await page.isVisible("text=Resume"), true, "the list stands still");
      await page.click("text=Resume");
      await waitForRows(page, Math.min(100, count));
    }
  });

  await t.test(
    "reads the lines of all rows in one request, and again while the list stays open",
    async () => {
      const tab = await page.context().newPage();
      await tab.clock.install();
      const reads: string[] = [];
      tab.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith("/v1/candles")) reads.push(pathname);
      });
      await tab.route("**/v1/markets?*", async (route) => {
        const response = await route.fetch();
        type Body = { readonly data: readonly object[] };
        const { data, ...body } = (await response.json()) as Body;
        const busy = data.map((market) => ({ ...market, trades_24h: 1 }));
        await route.fulfill({ response, json: { ...body, data: busy } });
      });
      await goto(tab, "/?status=all");
      await tab.waitForSelector("[data-market]");
      await waitFor("the values of the first row", async () => (reads.length > 0 ? true : null));
      await tab.clock.fastForward(60_000);
      await waitFor("a second reading", async () => (reads.length > 1 ? true : null));
      assert.deepEqual(new Set(reads), new Set(["/v1/candles"]), "one request for all rows");
      assert(reads.length < 10, `${reads.length} readings`);
      await tab.close();
    },
  );

  await t.test("keeps the header to two rows on a phone, without a key", async () => {
    const phone = await openPage(browser, { viewport: { width: 360, height: 740 } });
    await phone.goto(`${service.baseUrl}/status`);
    // The chain of this test stands still, so the number can also be how long it has.
    await phone.locator(".pulse").filter({ hasText: /[0-9]/ }).waitFor();
    // The longest text of the header.
    await phone.evaluate(`document.querySelector(".pulse").textContent = "59m 59s behind"`);
    // A row is what has its center within half the height of a line.
    const rows = await phone.evaluate<number>(
      `document.fonts.ready.then(() =>
        [...document.querySelectorAll("header.top > *, .pulse-group > *")]
          .filter(({ offsetHeight }) => offsetHeight > 0)
          .map(({ offsetTop, offsetHeight }) => offsetTop + offsetHeight / 2)
          .sort((one, other) => one - other)
          .filter((center, at, all) => at === 0 || center - all[at - 1] > 12).length)`,
    );
    assert.equal(rows, 2);
  });
});

/** Scrolls to the end of a list of trades, where all of its rows are drawn. */
async function showLastRow(page: Page): Promise<void> {
  await page.waitForSelector(".tape tr[data-id]");
  await page.evaluate(`document.querySelector(".list-end").scrollIntoView()`);
}

/** Waits until a list has this many trades, each of them once. */
async function waitForRows(page: Page, count: number): Promise<void> {
  await waitFor(`${count} trades`, async () => {
    const ids = await page.evaluate<string[]>(
      `[...document.querySelectorAll("tr[data-id]")].map(({ dataset }) => dataset.id)`,
    );
    return ids.length === count && new Set(ids).size === count ? true : null;
  });
}

/** Returns whether the first text with this sign, such as "$1" or "34%", is drawn from left to right. */
function isInOrder(page: Page, place: string, sign: "$" | "%"): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const walker = document.createTreeWalker(document.querySelector("${place}"), NodeFilter.SHOW_TEXT);
    while (!walker.nextNode().data.includes("${sign}"));
    const { currentNode: node } = walker;
    const at = node.data.indexOf("${sign}") - ${sign === "%" ? 1 : 0};
    const getLeftEdge = (from) => {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, from + 1);
      return range.getBoundingClientRect().left;
    };
    return getLeftEdge(at) < getLeftEdge(at + 1);
  })()`);
}
