/** Tests when a pass is due, and that it ends whatever cursors the venue returns. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import { afterPage, afterPass, duePass, noProgress } from "./metadata-pass.ts";

const { openReadSeconds, closedReadSeconds, closedReadMissingMin } = metadataLimits;
const many = closedReadMissingMin + 1;

describe("a pass over the market metadata", () => {
  test("is due when its half is old, for the closed half only when many markets are missing", () => {
    const read = { ...noProgress, openReadAt: 1000 };
    const dueAt = (nowSeconds: number, missing = 0, progress: typeof noProgress = read) =>
      duePass(progress, { nowSeconds, missing })?.half ?? null;
    assert.equal(dueAt(1000, 0, noProgress), "open");
    assert.equal(dueAt(1001), null);
    assert.equal(dueAt(1000 + openReadSeconds), "open");
    assert.equal(dueAt(1001, many), "closed");
    const allAt = (nowSeconds: number) =>
      dueAt(nowSeconds, many, { ...read, openReadAt: nowSeconds, closedReadAt: 1000 });
    assert.equal(allAt(1001), null);
    assert.equal(allAt(1000 + closedReadSeconds), "closed");
    assert.equal(dueAt(1000 - openReadSeconds), "open", "the wall clock was ahead");
  });

  test("that is in progress is continued, and its time is recorded when it ends", () => {
    const pass = duePass(noProgress, { nowSeconds: 1, missing: 0 });
    assert(pass !== null);
    const next = afterPage(pass, "c1");
    assert(typeof next === "object" && next !== null);
    assert.deepEqual(duePass({ ...noProgress, pass: next }, { nowSeconds: 1, missing: 0 }), next);
    assert.equal(afterPage(next, null), null);
    assert.deepEqual(afterPass({ ...noProgress, pass: next }, next, 7), {
      pass: null,
      openReadAt: 7,
      closedReadAt: null,
    });
  });

  test("ends soon after cursors begin to repeat, and never before", () => {
    const lengths = fc.record({ lead: fc.nat(200), circle: fc.integer({ min: 1, max: 200 }) });
    const property = fc.property(lengths, ({ lead, circle }) => {
      const pages = pagesUntilLoop((page) =>
        page < lead ? page : lead + ((page - lead) % circle),
      );
      assert.ok(pages > lead, "no cursor came twice yet");
      assert.ok(pages <= 4 * (lead + circle) + 4, `${pages} pages`);
    });
    fc.assert(property, propertySettings(200));
    assert.equal(
      pagesUntilLoop((page) => page, 5000),
      5000,
    );
  });
});

/**
 * Returns the number of pages read until a loop is found. `cursorOf` gives the cursor after each page; at most `max`
 * pages.
 */
function pagesUntilLoop(cursorOf: (page: number) => number, max = 10_000): number {
  let pass = duePass(noProgress, { nowSeconds: 1, missing: 0 });
  for (let page = 0; page < max && pass !== null; page += 1) {
    const next = afterPage(pass, String(cursorOf(page)));
    if (next === "loop") return page;
    pass = next;
  }
  return max;
}
