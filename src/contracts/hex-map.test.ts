import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import { HexMap, readDigits } from "./hex-map.ts";

/** Keys that often end alike, and share their beginnings. */
const anyKey = fc
  .tuple(fc.constantFrom("0x00", "0x0f", "0xff"), fc.constantFrom("a000000", "0000000", "fffffff"))
  .map(([start, end]) => start + end);

test("finds what a plain map finds", () => {
  const anyEntries = fc.uniqueArray(fc.tuple(anyKey, fc.nat()), { selector: ([key]) => key });
  fc.assert(
    fc.property(anyEntries, anyKey, (entries, key) => {
      // Not the same string object as the one that was put in.
      const asked = Buffer.from(key).toString();
      assert.equal(new HexMap(entries).get(asked), new Map(entries).get(key));
    }),
    propertySettings(500),
  );
});

test("digits are read as numbers", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 28 - 1), (value) => {
      const text = `0x${value.toString(16).padStart(7, "0")}`;
      assert.equal(readDigits(text, 2, 9), value);
    }),
    propertySettings(300),
  );
  assert.equal(readDigits("0x", 2, 2), 0);
});
