/** Tests when a pass is due, and that it ends whatever pages the venue returns. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import { afterPass, duePass, noProgress, PageProgress } from "./metadata-pass.ts";
import type { MetadataMarket } from "./parse-market.ts";

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
    assert.deepEqual(pass, { half: "open", cursor: null });
    const next = { half: "open", cursor: "c1" } as const;
    assert.deepEqual(duePass({ ...noProgress, pass: next }, { nowSeconds: 1, missing: 0 }), next);
    assert.deepEqual(afterPass({ ...noProgress, pass: next }, next, 7), {
      pass: null,
      openReadAt: 7,
      closedReadAt: null,
    });
  });

  test("is stuck from the first page that repeats markets on", () => {
    const lengths = fc.record({
      lead: fc.nat(50),
      circle: fc.integer({ min: 1, max: 50 }),
      size: fc.integer({ min: 1, max: 5 }),
    });
    const property = fc.property(lengths, ({ lead, circle, size }) => {
      const pageAt = (page: number) => (page < lead ? page : lead + ((page - lead) % circle));
      const getMarkets = (page: number) =>
        Array.from({ length: size }, (_, at) => getMarket(page * size + at));
      const progress = new PageProgress();
      for (let page = 0; page < lead + circle; page += 1) {
        const markets = getMarkets(pageAt(page));
        assert.equal(progress.isStuckAt({ markets, unreadable: 0 }), false, `page ${page}`);
      }
      // The markets of the page come in another order.
      const markets = getMarkets(pageAt(lead + circle)).toReversed();
      assert.equal(progress.isStuckAt({ markets, unreadable: 0 }), true);
    });
    fc.assert(property, propertySettings(100));
  });

  test("is stuck after several pages without a readable market", () => {
    const progress = new PageProgress();
    const barren = Array.from({ length: metadataLimits.barrenPagesMax }, (_, page) =>
      progress.isStuckAt({ markets: [], unreadable: page }),
    );
    assert.deepEqual(barren, [...barren.slice(1).map(() => false), true]);
    assert.equal(progress.isStuckAt({ markets: [getMarket(1)], unreadable: 3 }), false);
    assert.equal(progress.isStuckAt({ markets: [getMarket(1)], unreadable: 3 }), false);
  });

  test("of millions of markets is not stuck", () => {
    const progress = new PageProgress();
    for (let page = 0; page < 10_000; page += 1) {
      const markets = Array.from({ length: 100 }, (_, at) => getMarket(page * 100 + at));
      assert.equal(progress.isStuckAt({ markets, unreadable: 0 }), false);
    }
  });
});

function getMarket(number: number): MetadataMarket {
  const conditionId = `0x${number.toString(16).padStart(64, "0")}` as ConditionId;
  return { conditionId } as MetadataMarket;
}
