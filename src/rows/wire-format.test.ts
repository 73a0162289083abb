import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatTime } from "./wire-format.ts";

test("times are formatted like Date.toISOString, without a fraction of 0", () => {
  const written = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
  const limit = 8_640_000_000_000;
  const second = fc.integer({ min: -limit, max: limit });
  const recent = fc.integer({ min: 1_780_000_000, max: 1_780_200_000 });
  const ms = fc.integer({ min: -limit, max: limit }).map((value) => value / 1000);
  fc.assert(
    fc.property(fc.array(fc.oneof(recent, second, ms)), (times) => {
      for (const seconds of times) assert.equal(formatTime(seconds), written(seconds));
    }),
  );
  assert.equal(formatTime(0), "1970-01-01T00:00:00Z");
  assert.throws(() => formatTime(2 * limit), RangeError);
});
