import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stepsOf } from "./token-steps.ts";

const older = { from: 0, to: 1000, firstTimestamp: 0, lastTimestamp: 999 };
const newer = { from: 1000, to: 2000, firstTimestamp: 1000, lastTimestamp: 1999 };
const parts = [older, newer];
const span = { from: 0, to: 3000 };
const life = { trades: 2000, firstTimestamp: 0, lastTimestamp: 1999 };

describe("the rows of a token are looked for", () => {
  test("in the newest part first, then in the rest", () => {
    assert.deepEqual(stepsOf(parts, { span, life, order: "desc", limit: 100 }), [
      { from: 1000, to: 3000 },
      { from: 0, to: 1000 },
    ]);
  });

  test("in the oldest part first when they rise", () => {
    assert.deepEqual(stepsOf(parts, { span, life, order: "asc", limit: 100 }), [
      { from: 0, to: 1000 },
      { from: 1000, to: 3000 },
    ]);
  });

  for (const [why, search] of Object.entries({
    "there may be too few in one": { span, life, limit: 501 },
    "little of it is asked for": { span: { from: 0, to: 1100 }, life, limit: 100 },
    "little of its life is in it": { span, life: { ...life, lastTimestamp: 1049 }, limit: 100 },
    "it is not known how many there are": { span, life: null, limit: 100 },
  }))
    test(`in all at once when ${why}`, () => {
      assert.deepEqual(stepsOf(parts, { ...search, order: "desc" }), [search.span]);
    });

  test("in as many parts as should have them", () => {
    const newest = { from: 2000, to: 2100, firstTimestamp: 2000, lastTimestamp: 2099 };
    const longer = { ...life, lastTimestamp: 2099 };
    const search = { span, life: longer, order: "desc", limit: 100 } as const;
    const [first] = stepsOf([...parts, newest], search);
    assert.deepEqual(first, { from: 1000, to: 3000 });
  });

  test("in all at once when there is one part", () => {
    assert.deepEqual(stepsOf([newer], { span, life, order: "desc", limit: 1 }), [span]);
  });
});
