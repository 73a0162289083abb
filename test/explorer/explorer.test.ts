/** The explorer in a real browser, on a real service that follows a recorded chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Market, Trade } from "../../clients/typescript/src/api.ts";
import { dollars, percent, plural } from "../../explorer/src/format/numbers.ts";
import { collectComplaints, openBrowser, openPage, skipsBrowser } from "../support/browser.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { cleanUp } from "../support/clean-up.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import { adminKey } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { assertAccessible } from "./axe.ts";

const recording = readRecording("contracts-gen2");

/** The last trade of an outcome "Yes". It happens while the page is open. */
const lastTrade = recording.trades.findLast(({ outcome }) => outcome === "YES");
assert.ok(lastTrade !== undefined);
const beforeLast = lastTrade.block_number - 1;
const marketPath = `/market/${lastTrade.condition_id}`;
const unknownId = `0x${"ab".repeat(32)}`;

test("the explorer", { skip: skipsBrowser }, async (t) => {
  const stage = await serveRecording(t, recording);
  const browser = await openBrowser(t);
  stage.node.setHead(beforeLast);
  stage.node.setFinalized({ behindHead: 50 });
  const venue = await ScriptedVenue.open({ hasEveryBook: true });
  cleanUp(t, async () => venue.close());
  const settings = { ...venue.settings, ODDWIRE_VENUE_IMAGES: "https://images.example" };
  let service = await stage.startService([stage.node.wsUrl], settings);
  await service.waitIndexed(beforeLast);
  /** The page that most tests share. */
  const page = await openPage(browser, { viewport: { width: 1280, height: 900 } });
  const complaints = collectComplaints(page);

  async function goto(path: string): Promise<void> {
    await page.goto(service.baseUrl + path);
  }

  /** Reads a neg-risk event with more than one market. */
  async function readEvent() {
    type Event = { readonly id: string; readonly title: string; readonly market_count: number };
    type Body = { readonly data: readonly (Event & { readonly neg_risk: boolean })[] };
    const { data } = await service.get<Body>("/v1/events?status=all&limit=50");
    const event = data.find(
      ({ neg_risk: isNegRisk, market_count: count }) => isNegRisk && count > 1,
    );
    assert(event !== undefined);
    return event;
  }

  /** Opens another tab, which gets the key of the first one. */
  function openTab(): Promise<Page> {
    return page.context().newPage();
  }

  await t.test("asks for a key, sends an invalid key once, and keeps a valid one", async () => {
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 401) refused.push(response.url());
    });
    await goto("/#key=ow_read_wrong");
    await page.waitForSelector("text=The service refused the key");
    const requested = refused.length;
    await follow(page, marketPath);
    await page.waitForSelector("input[name=key]");
    assert.equal(requested, 1, "a wrong key is sent once");
    complaints.length = 0;
    await page.fill("input[name=key]", adminKey);
    await page.click("button.primary");
    await page.waitForSelector(".outcome");
    await page.reload();
    await page.waitForSelector(".outcome");
    complaints.length = 0;
  });

  await t.test("removes the key from the address", async () => {
    const fresh = await openTab();
    await fresh.goto(`${service.baseUrl}/trades#key=${adminKey}`);
    await fresh.waitForSelector("tr[data-id]");
    assert.equal(new URL(fresh.url()).hash, "");
    await fresh.close();
  });

  await t.test("shows pictures of markets from the configured origins only", async () => {
    const fresh = await openTab();
    const loaded: string[] = [];
    await fresh.route("https://*.example/*", async (route) => {
      loaded.push(new URL(route.request().url()).hostname);
      const body = `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`;
      await route.fulfill({ contentType: "image/svg+xml", body });
    });
    await fresh.route("**/v1/markets?**", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly data: readonly Market[] };
      const data = body.data.map((market, at) => {
        return { ...market, image: `https://${at % 2 === 0 ? "images" : "other"}.example/${at}` };
      });
      await route.fulfill({ response, json: { ...body, data } });
    });
    await fresh.goto(`${service.baseUrl}/#key=${adminKey}`);
    const width = "document.querySelector('img.market-image')?.naturalWidth";
    await waitFor("a picture", async () => (await fresh.evaluate(width)) === 1 || null);
    assert.deepEqual(new Set(loaded), new Set(["images.example"]));
    await fresh.close();
  });

  await t.test("shares the key with new tabs, and remembers it only if asked", async () => {
    const first = await openPage(browser);
    const context = first.context();
    const signIn = async (isRemembered: boolean): Promise<void> => {
      await first.goto(`${service.baseUrl}/`);
      await first.fill("input[name=key]", adminKey);
      if (isRemembered) await first.check("input[name=remember]");
      await first.click("button.primary");
      await first.waitForSelector("[data-row]");
    };
    await signIn(false);
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      first.click("[data-row]", { modifiers: ["ControlOrMeta"] }),
    ]);
    await opened.waitForSelector(".outcome");
    assert(!opened.url().includes(adminKey));
    await first.click("text=Sign out");
    await opened.waitForSelector("input[name=key]");
    await opened.close();
    assert.equal(await first.evaluate("localStorage.getItem('oddwire-key')"), null);
    await signIn(true);
    await first.goto("about:blank");
    const later = await context.newPage();
    await later.goto(`${service.baseUrl}/trades`);
    await later.waitForSelector("tr[data-id]");
    await later.click("text=Sign out");
    await later.waitForSelector("input[name=key]");
    await later.reload();
    await later.waitForSelector("input[name=key]");
    await context.close();
  });

  await t.test("leads from search to market, trade and transaction by keyboard alone", async () => {
    await follow(page, "/?status=all");
    await page.waitForSelector("[data-row]");
    const found = await page.getAttribute("[data-market] [data-row]", "href");
    assert.ok(found !== null);
    await page.keyboard.press("/");
    await page.keyboard.type("zzzz no such market");
    await page.waitForSelector("text=Nothing matches");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(found.replace("/market/", ""));
    await page.waitForSelector(".found [role=option]");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".market .tape tr[data-id]");
    await pressUntilFocused(page, "td a[href^='/tx/']");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:has-text('Transaction')");
    await page.waitForSelector("text=Orders filled");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog >> text=Keyboard");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
  });

  await t.test("keeps its state in the address, through Back and in another tab", async () => {
    await follow(page, "/");
    await page.click("button:has-text('All') >> nth=0");
    await page.waitForURL("**/?status=all");
    await page.click("button.sort:has-text('24h volume')");
    await page.waitForURL("**order=asc*");
    await page.click("[data-row]");
    await page.waitForSelector(".market");
    await page.click(".segments button:has-text('Candles')");
    await page.waitForURL("**chart=candles*");
    const shared = await openTab();
    await shared.goto(`${page.url()}#key=${adminKey}`);
    await shared.waitForSelector("button[aria-pressed=true]:has-text('Candles')");
    await shared.close();
    await page.goBack();
    await page.waitForSelector("th[aria-sort=ascending]");
    assert.equal(new URL(page.url()).searchParams.get("status"), "all");
  });

  const walletTab = await openTab();
  const activityOfLast = `tr a[title="Transaction ${lastTrade.tx_hash}"]`;

  await t.test("shows a market and a wallet, and their next trade as it happens", async () => {
    type Body = { readonly data: { readonly tokens: readonly { readonly token_id: string }[] } };
    const { data } = await service.get<Body>(`/v1/markets/${lastTrade.condition_id}`);
    const outcome = data.tokens.findIndex(({ token_id }) => token_id === lastTrade.token_id);
    await follow(page, `${marketPath}?outcome=${outcome}`);
    await page.waitForSelector(".outcome[aria-pressed=true] .chance");
    await page.waitForSelector(".live-state.live");
    await page.waitForSelector(".chart canvas");
    await page.focus(".chart .canvas");
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector(".chart .details:has-text('traded')");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".chart .details", { state: "detached" });
    await page.hover(".chart .canvas");
    await page.mouse.wheel(0, 100);
    await waitFor("the page to scroll", async () =>
      (await page.evaluate("scrollY")) === 0 ? null : true,
    );
    venue.change([
      { assetId: lastTrade.token_id, side: "BUY", price: "0.41", size: "120" },
      { assetId: lastTrade.token_id, side: "SELL", price: "0.47", size: "80" },
    ]);
    await page.waitForSelector(".ladder td:has-text('41¢')");
    await page.waitForSelector(".ladder td:has-text('47¢')");
    await page.waitForSelector("text=Spread 6¢");
    await walletTab.goto(`${service.baseUrl}/wallet/${lastTrade.maker}?tab=Activity`);
    await walletTab.waitForSelector(".live-state.live");
    await walletTab.waitForSelector("table[aria-label='Activity of this wallet'] tr");
    assert.equal(await walletTab.locator(activityOfLast).count(), 0);
    stage.node.setHead(lastTrade.block_number);
    await page.waitForSelector(`tr.fresh[data-id^="${lastTrade.tx_hash}"]`);
    await walletTab.waitForSelector(activityOfLast);
    await page.waitForSelector("section[aria-label='Open interest'] .facts:has-text('shares')");
  });

  await t.test("strikes out a reverted trade, and shows it when it is included again", async () => {
    const { node } = stage;
    node.fork(buildBlocks([{}, {}], { after: recording.blocks[beforeLast], salt: "rival" }));
    await page.waitForSelector("tr.reverted");
    await page.waitForSelector(`tr[data-id^="${lastTrade.tx_hash}"]`, { state: "detached" });
    await walletTab.waitForSelector(activityOfLast, { state: "detached" });
    node.fork(recording.blocks.slice(lastTrade.block_number, lastTrade.block_number + 4));
    await page.waitForSelector(`tr[data-id^="${lastTrade.tx_hash}"]`);
    await walletTab.waitForSelector(activityOfLast);
    await walletTab.close();
  });

  for (const [kind, id] of [
    ["market", lastTrade.condition_id ?? ""],
    ["market", lastTrade.token_id],
    ["wallet", lastTrade.maker],
    ["order", lastTrade.maker_order_hash],
  ] as const) {
    await t.test(`finds the ${kind} by ${id.slice(0, 8)}…`, async () => {
      await follow(page, "/");
      await page.fill("#search", id);
      await page.waitForSelector(`.found [role=option]:has-text('${kind}')`);
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/${kind}/*`);
    });
  }

  await t.test("shows an event with all of its markets and the sum of their prices", async () => {
    const event = await readEvent();
    await follow(page, `/event/${event.id}`);
    await page.waitForSelector(`h1:has-text("${event.title}")`);
    await page.waitForSelector("text=Sum of prices");
    assert.equal(await page.locator("[data-market]").count(), event.market_count);
  });

  await t.test("shows what a wallet holds, did and made, and who holds a market", async () => {
    const wallet = lastTrade.maker;
    const read = async (list: string) => {
      type Body = { readonly data: readonly unknown[] };
      return (await service.get<Body>(`/v1/wallets/${wallet}/${list}limit=50`)).data.length;
    };
    await goto(`/wallet/${wallet}?positions=all`);
    const rows = (label: string) =>
      page.locator(`table[aria-label='${label} of this wallet'] tbody tr`);
    await page.waitForSelector("table[aria-label='Positions of this wallet']");
    assert.equal(await rows("Positions").count(), await read("positions?status=all&"));
    assert.equal(await page.locator("nav [aria-current]").count(), 0, "it is no list of trades");
    assert.equal(await page.locator("[aria-label='Status'] >> text=Lost").count(), 1);
    const shares = page.locator("th:text('Shares')");
    await page.setViewportSize({ width: 820, height: 900 });
    assert(await shares.isVisible());
    await page.setViewportSize({ width: 390, height: 900 });
    assert(!(await shares.isVisible()));
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.click("text=Activity");
    await page.waitForSelector("table[aria-label='Activity of this wallet']");
    assert.equal(await rows("Activity").count(), await read("activity?"));
    await page.reload();
    await page.waitForSelector("table[aria-label='Activity of this wallet']");
    await assertAccessible(page, "activity");
    await page.click(".tabs-bar >> text=Trades");
    await page.waitForSelector("tr[data-id]");
    await goto(marketPath);
    const holders = page.locator("table[aria-label='Largest holders'] tbody tr");
    await holders.first().waitFor();
    await page.click("button:text('More holders')");
    await holders.nth(10).waitFor();
    await page.click("table[aria-label='Largest holders'] a");
    await page.waitForSelector("table[aria-label='Positions of this wallet']");
  });

  await t.test("replays the trades of a market", async () => {
    await follow(page, marketPath);
    await page.click("button:has-text('Replay')");
    await page.waitForSelector(".replay input");
    await page.click(".replay button:has-text('4×')");
    await page.waitForSelector("section[aria-label^='Trades, replayed'] tr[data-id]");
    await page.fill(".replay input", "0");
    await page.fill(".replay input", "1000");
    await page.waitForSelector("section[aria-label^='Trades, replayed'] tr[data-id]");
    await page.click("button:has-text('Leave replay')");
    await page.waitForSelector(".replay", { state: "detached" });
  });

  await t.test("shows chart, trades and totals of the same moment of a replay", async () => {
    const { data: market } = await service.get<{ readonly data: Market }>(
      `/v1/markets/${lastTrade.condition_id}`,
    );
    const { created_at_ms: fromMs, last_trade_at_ms: toMs } = market;
    const [first, second] = market.tokens;
    assert(toMs !== null && first !== undefined && second !== undefined);
    await follow(page, marketPath);
    await page.click("button:has-text('Replay')");
    await page.click("button[aria-label='Pause the replay']");
    for (const step of [500, 900, 1000, 700]) {
      const endMs = Math.floor(fromMs + (step / 1000) * (toMs - fromMs)) + 1;
      const { data: trades } = await service.get<{ readonly data: readonly Trade[] }>(
        `/v1/trades?token_id=${first.token_id},${second.token_id}&end=${endMs}&limit=1000`,
      );
      const [newest] = trades;
      assert(newest !== undefined);
      const isFirst = newest.token_id === first.token_id;
      const price = percent(isFirst ? newest.price : 1 - Number(newest.price));
      const volume = dollars(trades.reduce((sum, { value_usd: value }) => sum + Number(value), 0));
      await page.fill(".replay input", String(step));
      await page.waitForSelector(
        `.replay p:has-text("${price}"):has-text("${trades.length} trades"):has-text("${volume}")`,
      );
      await page.waitForSelector(`section[aria-label="Trades, replayed: ${plural(trades.length, "trade")}"]
        tbody .day + tr[data-id="${newest.id}"]`);
      await page.waitForSelector(`.legend span:first-child b:text-is("${price}")`);
    }
    await page.click("button:has-text('Leave replay')");
  });

  await t.test("shows each request as code", async () => {
    await follow(page, "/");
    await page.click("button.api");
    await page.waitForSelector("pre:has-text('curl')");
    await page.click("dialog button:has-text('Python')");
    await page.waitForSelector("pre:has-text('import os, requests')");
    await page.keyboard.press("Escape");
  });

  await t.test("creates and revokes keys, and warns before the key in use is revoked", async () => {
    await follow(page, "/keys");
    await page.fill("input[name=name]", "from the page");
    await page.selectOption("select[name=expiry]", "7");
    await page.fill("input[name=ips]", "127.0.0.1.1");
    await page.click("button:has-text('Create key')");
    await page.waitForSelector("text=That did not work");
    assert.equal(await page.inputValue("input[name=name]"), "from the page");
    complaints.length = 0;
    await page.fill("input[name=ips]", "127.0.0.1");
    await page.click("button:has-text('Create key')");
    const value = (await page.textContent(".secret code")) ?? "";
    assert.match(value, /^ow_read_/);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click("button[aria-label='Copy the key']");
    await page.waitForSelector(".secret button:has-text('Copied')");
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), value);
    await page.waitForSelector(".keys li:has-text('from the page'):has-text('127.0.0.1')");
    await page.click("button[aria-label='Revoke from the page']");
    await page.click("dialog button.danger");
    await page.waitForSelector("li.ended:has-text('from the page')");
    assert.equal(await page.isVisible(".secret"), false, "a revoked key is not offered");
    await page.click("li:has-text('in use here') button:has-text('Revoke')");
    await page.waitForSelector("dialog >> text=This is the key that this page uses");
    await page.click("dialog >> text=Cancel");
  });

  await t.test(
    "says that a read key cannot manage keys, and asks for another key when it is revoked",
    async () => {
      const headers = { "X-API-Key": adminKey, "Content-Type": "application/json" };
      const body = JSON.stringify({ name: "to be revoked" });
      const issued = await fetch(`${service.baseUrl}/v1/keys`, { method: "POST", headers, body });
      const key = (await issued.json()) as { readonly data: { id: string; key: string } };
      const reader = await openTab();
      await reader.goto(`${service.baseUrl}/keys#key=${key.data.key}`);
      await reader.waitForSelector("text=This key has the scope read");
      await fetch(`${service.baseUrl}/v1/keys/${key.data.id}`, {
        method: "DELETE",
        headers: { "X-API-Key": adminKey },
      });
      await follow(reader, "/trades");
      await reader.waitForSelector("text=The service refused the key");
      await reader.close();
    },
  );

  await t.test(
    "says that a market, wallet, transaction, order, event or page is not known",
    async () => {
      for (const [path, text] of [
        [`/market/${unknownId}`, "This market is not known here"],
        ["/wallet/0x12", "This is not the address of a wallet"],
        [`/wallet/0x${"12".repeat(20)}`, "This wallet was never seen"],
        [`/tx/${unknownId}`, "Nothing of this transaction is known here"],
        [`/order/${unknownId}`, "not known here"],
        ["/event/none", "This event is not known here"],
        ["/market", "There is no such page"],
        ["/nowhere/at/all", "There is no such page"],
        ["/guide/nowhere", "The guide has no such page here"],
      ] as const) {
        await follow(page, path);
        await page.waitForSelector(`text=${text}`);
      }
      complaints.length = 0;
    },
  );

  await t.test("breaks no rule of axe on any page, in either theme", async () => {
    const pages = [
      ["/?status=all", "[data-row]"],
      [marketPath, ".tape tr[data-id]"],
      [`${marketPath}?chart=candles`, ".tape tr[data-id]"],
      [`/event/${(await readEvent()).id}`, "text=Sum of prices"],
      ["/trades", "tr[data-id]"],
      [`/wallet/${lastTrade.maker}?tab=Trades`, "tr[data-id]"],
      [`/tx/${lastTrade.tx_hash}`, "text=Orders filled"],
      [`/order/${lastTrade.maker_order_hash}`, "text=Average price"],
      ["/status", "section[aria-label=Service]"],
      ["/keys", ".keys li"],
      ["/nowhere", ".notice"],
      [`/market/${unknownId}`, ".notice"],
    ] as const;
    for (const [path, selector] of pages) {
      await page.emulateMedia({ colorScheme: "light" });
      await follow(page, path);
      await page.waitForSelector(selector);
      await assertAccessible(page, `${path} light`);
      // A theme changes nothing but colors.
      await page.emulateMedia({ colorScheme: "dark" });
      await assertAccessible(page, `${path} dark`, "color");
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.click("text=Sign out");
    await page.waitForSelector("input[name=key]");
    await assertAccessible(page, "the form for a key");
    await goto(`/#key=${adminKey}`);
    complaints.length = 0;
  });

  await t.test("shows times in the zone of the viewer", async () => {
    type Times = { readonly data: readonly { readonly timestamp_ms: number }[] };
    const last = await service.get<Times>(`/v1/trades?tx_hash=${lastTrade.tx_hash}&limit=1`);
    const atMs = last.data[0]?.timestamp_ms;
    assert(atMs !== undefined);
    const there = await openTab();
    const devTools = await there.context().newCDPSession(there);
    for (const [timezoneId, zone] of [
      ["America/New_York", "America/New York"],
      ["Asia/Tokyo", "Asia/Tokyo"],
    ] as const) {
      await devTools.send("Emulation.setTimezoneOverride", { timezoneId });
      await there.goto("about:blank");
      await there.goto(`${service.baseUrl}${marketPath}#key=${adminKey}`);
      await there.waitForSelector(`figcaption:has-text('${zone}')`);
      const clock = new Intl.DateTimeFormat("en", {
        timeStyle: "medium",
        hourCycle: "h23",
        timeZone: timezoneId,
      }).format(atMs);
      const row = `tr[data-id^="${lastTrade.tx_hash}"]`;
      await there.waitForSelector(`${row} td:has-text("${clock}")`);
      const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: timezoneId });
      await there.waitForSelector(`tbody:has(${row}) .day:has-text("${day.format(atMs)}")`);
      const utc = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });
      const inUtc = `${utc.format(atMs + new Date(atMs).getTimezoneOffset() * 60_000)} UTC`;
      assert.ok((await there.getAttribute(`${row} .time`, "title"))?.endsWith(inUtc), inUtc);
    }
    await there.close();
  });

  await t.test("draws more trades when the end of the list is reached", async () => {
    await follow(page, "/trades");
    await page.waitForSelector(".tape tr[data-id]");
    assert.equal(await page.locator(".tape tr[data-id]").count(), 24);
    await page.evaluate(`document.querySelector(".list-end").scrollIntoView()`);
    await waitFor("all rows", async () =>
      (await page.locator(".tape tr[data-id]").count()) === 100 ? true : null,
    );
  });

  await t.test("has no table of trades that scrolls sideways on a narrow desktop", async () => {
    for (const width of [900, 1000, 1180]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [marketPath, "/trades", `/tx/${lastTrade.tx_hash}`]) {
        await follow(page, path);
        await page.waitForSelector(".tape tr[data-id]");
        const overflow = await page.evaluate(
          `Math.max(...[...document.querySelectorAll(".scroll")].map(
            ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`,
        );
        assert.equal(overflow, 0, `${path} at ${width} px`);
      }
    }
  });

  await t.test(
    "shows all columns of filled orders on a tablet, whatever the outcomes and fees are",
    async () => {
      await page.setViewportSize({ width: 768, height: 900 });
      await follow(page, `/tx/${lastTrade.tx_hash}`);
      await page.waitForSelector(".fills td[data-name='Fee']");
      const overflow = await page.evaluate(`(() => {
      for (const cell of document.querySelectorAll(".fills td.trade")) cell.lastChild.textContent = "Northern Giants";
      for (const cell of document.querySelectorAll(".fills td[data-name='Fee']")) cell.textContent = "12.34 shares";
      const { scrollWidth, clientWidth } = document.querySelector(".scroll:has(.fills)");
      return scrollWidth - clientWidth;
    })()`);
      assert.equal(overflow, 0);
    },
  );

  await t.test("shows at least 12 rows of the list of markets on a laptop", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await follow(page, "/?status=all");
    await page.waitForSelector("[data-row]");
    const rows = await page.evaluate<number>(
      `[...document.querySelectorAll("table.markets tbody tr")]
        .filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length`,
    );
    assert(rows >= 12, `${rows} rows`);
  });

  await t.test("draws the chosen outcome of a binary market alone", async () => {
    for (const [outcome, name] of [
      ["0", "Yes"],
      ["1", "No"],
    ]) {
      await follow(page, `${marketPath}?outcome=${outcome}`);
      await page.waitForSelector(`.legend span:has-text("${name}")`);
      assert.equal(await page.locator(".legend span").count(), 1);
    }
  });

  await t.test("accepts the paths of the API", async () => {
    for (const [path, title] of [
      ["/markets", "Markets"],
      [`/markets/${lastTrade.condition_id}`, ""],
      [`/transactions/${lastTrade.tx_hash}`, "Transaction"],
      [`/wallets/${lastTrade.maker}`, "Wallet"],
      [`/orders/${lastTrade.maker_order_hash}`, "Order"],
    ] as const) {
      await goto(path);
      await page.waitForSelector(`h1:has-text("${title}")`);
    }
  });

  await t.test("fits a phone, with the parts of a page as tabs", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await follow(page, marketPath);
    await page.waitForSelector(".chart canvas");
    assert.equal(await page.isVisible(".ladder"), false);
    await page.click(".tabs button:has-text('Book')");
    await page.waitForSelector(".ladder");
    await follow(page, "/?status=all");
    await page.selectOption(".sort-choice select", "volume");
    await page.waitForURL("**sort=volume*");
    await page.waitForSelector("[data-market] td[data-name='Volume']");
    const label = `getComputedStyle(document.querySelector("td[data-name='24h change']"), "::before").content`;
    assert.equal(await page.evaluate(label), '"24h change"');
    for (const [path, selector] of [
      ["/", "[data-row]"],
      ["/trades", "tr[data-id]"],
      ["/status", "section[aria-label=Service]"],
      ["/keys", ".keys li"],
      [`/tx/${lastTrade.tx_hash}`, "text=Orders filled"],
    ] as const) {
      await follow(page, path);
      await page.waitForSelector(selector);
      const overflow = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      assert.equal(overflow, 0, `${path} is not wider than the screen`);
    }
    for (const path of ["/trades", `/wallet/${lastTrade.maker}?tab=Trades`]) {
      await follow(page, path);
      await page.waitForSelector("tr[data-id]");
      const heights = await page.evaluate<string[]>(
        `[...document.querySelectorAll(".scroll")].map((box) => getComputedStyle(box).maxHeight)`,
      );
      assert.deepEqual([...new Set(heights)], ["none"], `${path} scrolls as a whole`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  await t.test(
    "continues after an outage of the service, and without a key if reading is public",
    async () => {
      const { port } = new URL(service.baseUrl);
      await follow(page, marketPath);
      await page.waitForSelector(".live-state.live");
      await service.kill9();
      await page.waitForSelector("text=no connection");
      await page.click("nav >> text=Markets");
      await page.waitForSelector("h1:has-text('Markets')");
      const settings = { ...venue.settings, ODDWIRE_PORT: port, ODDWIRE_PUBLIC_READ: "1" };
      service = await stage.startService([stage.node.wsUrl], settings);
      await page.waitForSelector(".pulse.live");
      await page.waitForSelector("[data-row], main .notice");
      await service.waitReady();
      const visitor = await openPage(browser);
      await visitor.goto(service.baseUrl + marketPath);
      await visitor.waitForSelector(".live-state.live");
      await follow(visitor, "/?status=all");
      await visitor.waitForSelector("[data-row]");
      await follow(visitor, "/keys");
      await visitor.waitForSelector("text=No key is in use");
      await visitor.context().close();
      complaints.length = 0;
      await follow(page, "/trades");
      await page.waitForSelector("tr[data-id]");
    },
  );

  await t.test("causes no error or warning in the browser", () => {
    assert.deepEqual(complaints, []);
  });
});

/** Opens another page as a link does, without loading the script again. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent("popstate"));`);
}

/** Presses the Tab key until an element that matches the selector has the focus. */
async function pressUntilFocused(page: Page, selector: string): Promise<void> {
  await waitFor(`the focus on ${selector}`, async () => {
    await page.keyboard.press("Tab");
    const isFocused = await page.evaluate(`document.activeElement.matches("${selector}")`);
    return isFocused === true ? true : null;
  });
}
