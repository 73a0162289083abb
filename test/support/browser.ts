/** A real browser for the pages of the service. */
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { cleanUp } from "./clean-up.ts";
import { waitMsMax } from "./wait-for.ts";

const places = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const browserPath = places.find((path) => path !== undefined && existsSync(path));

/** Why the tests with a browser cannot run here; `false` when they can. In CI they have to. */
export const skipsBrowser: string | false =
  browserPath !== undefined || process.env["CI"] !== undefined
    ? false
    : "NO CHROMIUM: the explorer was not tested; install Debian's chromium or set CHROMIUM_PATH";

/** A browser that connects only to loopback; closed after the test. */
export async function openBrowser(t: Pick<TestContext, "after">): Promise<Browser> {
  if (browserPath === undefined) throw new Error("there is no Chromium: install Debian's chromium");
  const browser = await chromium.launch({
    executablePath: browserPath,
    timeout: waitMsMax,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
  cleanUp(t, async () => browser.close());
  return browser;
}

/** A page in a context of its own. Nothing moves in it: without a GPU, drawing that takes a processor. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(waitMsMax);
  return context.newPage();
}

/** Collects what a page complains about; to be looked at when the test ends. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
