/** The accessibility checker axe, run in a page. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

const source = readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Asserts that the page as it is now breaks no rule of axe. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(await source);
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  const texts = violations.map(({ id, nodes }) => {
    const [first] = nodes;
    return `${id} (${nodes.length}): ${first?.html.slice(0, 200)} ${first?.failureSummary ?? ""}`;
  });
  assert.deepEqual(texts, [], name);
}
