/** A real browser for the pages of the service. */
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { cleanUp } from "./clean-up.ts";
import { waitMsMax } from "./wait-for.ts";

const places = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const browserPath = places.find((path) => path !== undefined && existsSync(path));

/** Why tests with a browser cannot run here; `false` if they can. In CI they must run. */
export const skipsBrowser: string | false =
  browserPath !== undefined || process.env["CI"] !== undefined
    ? false
    : "NO CHROMIUM: the explorer was not tested; install Debian's chromium or set CHROMIUM_PATH";

/** Opens a browser that connects only to loopback, and closes it after the test. */
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

/** Opens a page in a separate context, without animations: they take a whole core without a GPU. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(waitMsMax);
  return context.newPage();
}

/** Collects errors and warnings of a page. The caller checks them at the end of the test. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
