/** The accessibility checker axe, run in a page. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

/** Rows that are not checked, because they repeat the rows above. Checking a hundred rows takes seconds. */
const repeatedRows = [
  "tbody tr:nth-child(n+6)",
  "tbody:nth-of-type(n+9)",
  ".keys li:nth-child(n+6)",
];

const source = readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Waits for colors that change over time, as those of a theme that has just been chosen. */
const untilStill = `new Promise((resolve) => {
  const isMoving = (one) => one instanceof CSSTransition && one.playState === "running";
  const check = () =>
    document.getAnimations().some(isMoving) ? setTimeout(check, 50) : resolve();
  requestAnimationFrame(() => requestAnimationFrame(check));
})`;

/** Asserts that the page in its current state breaks no rule of axe, or no rule about color. */
export async function assertAccessible(
  page: Page,
  name: string,
  rules: "all" | "color" = "all",
): Promise<void> {
  if ((await page.evaluate(`"axe" in globalThis`)) === false) await page.evaluate(await source);
  await page.evaluate(untilStill);
  const runOnly =
    rules === "color" ? { runOnly: { type: "rule", values: ["color-contrast"] } } : {};
  const options = JSON.stringify({ resultTypes: ["violations"], preload: false, ...runOnly });
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    `axe.run({ exclude: ${JSON.stringify(repeatedRows.map((one) => [one]))} }, ${options})`,
  );
  const texts = violations.map(({ id, nodes }) => {
    const [first] = nodes;
    return `${id} (${nodes.length}): ${first?.html.slice(0, 200)} ${first?.failureSummary ?? ""}`;
  });
  assert.deepEqual(texts, [], name);
}
