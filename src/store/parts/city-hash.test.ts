import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { cityHash128 } from "./city-hash.ts";

function hashOf(bytes: Uint8Array, from = 0, to = bytes.length): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return cityHash128(view, from, to).join(" ");
}

/** That its values are those of the engine is seen where blocks of the engine are read: `test/store/part-rows.test.ts`. */
suite("CityHash128", () => {
  test("is of the bytes alone, wherever they stand", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 700 }),
        fc.nat(20),
        fc.nat(20),
        (bytes, before, behind) => {
          const around = Buffer.alloc(before + bytes.length + behind, 0xa5);
          around.set(bytes, before);
          assert.equal(hashOf(around, before, before + bytes.length), hashOf(bytes));
        },
      ),
      propertySettings(300),
    );
  });

  test("is what bigints make of the definition, for every way through it", () => {
    const bytes = Uint8Array.from(
      { length: 700 },
      (_, index) => (index * 167 + (index >> 3)) & 255,
    );
    const hashes = Array.from(bytes, (_, length) => hashOf(bytes, 0, length));
    assert.equal(
      hash("sha256", hashes.join(), "hex").slice(0, 32),
      "8b20eca341f5a4332372c730eca1ccf7",
    );
  });

  test("is another one for every bit, and every length", () => {
    const seen = new Set<string>();
    let expected = 0;
    for (const length of [
      0, 1, 3, 4, 8, 9, 15, 16, 17, 24, 31, 40, 100, 143, 144, 145, 272, 400, 1000,
    ]) {
      const bytes = Buffer.alloc(length, 7);
      seen.add(hashOf(bytes));
      expected += 8 * length + 1;
      for (let bit = 0; bit < 8 * length; bit += 1) {
        bytes[bit >> 3] = 7 ^ (1 << (bit & 7));
        seen.add(hashOf(bytes));
        bytes[bit >> 3] = 7;
      }
    }
    assert.equal(seen.size, expected);
  });
});
