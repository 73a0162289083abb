/**
 * Takes the picture of the README, `docs/explorer.png`, of a running demo:
 * `node test/explorer/picture.ts http://127.0.0.1:8080 KEY`.
 */
import { fileURLToPath } from "node:url";
import { openBrowser, openPage } from "../support/browser.ts";

const [url = "", key = ""] = process.argv.slice(2);
const path = fileURLToPath(new URL("../../docs/explorer.png", import.meta.url));
const endings: (() => unknown)[] = [];
try {
  const browser = await openBrowser({ after: (end: () => unknown) => endings.push(end) });
  const page = await openPage(browser, { viewport: { width: 1360, height: 1160 } });
  await page.goto(`${url}/#key=${key}`);
  await page.click("[data-row]");
  await page.mouse.move(0, 0);
  await page.waitForSelector(".chart canvas");
  await page.waitForSelector(".ladder");
  await page.waitForSelector("tr.fresh");
  await page.screenshot({ path });
} finally {
  for (const end of endings) await end();
}
