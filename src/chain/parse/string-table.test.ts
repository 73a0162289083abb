import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { StringTable } from "./string-table.ts";

const anyDigits = fc
  .oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 20n }))
  .map((id) => id.toString(16).padStart(16, "0"));

test("returns the id at a position, whatever its slot held before", () => {
  fc.assert(
    fc.property(fc.array(anyDigits, { minLength: 1 }), fc.nat(20), (ids, offset) => {
      const texts = new StringTable({ digits: 16, slotBits: 2 });
      const bytes = Buffer.from("x".repeat(offset) + ids.join(""));
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (const [index, id] of [...ids, ...ids].entries()) {
        const start = offset + (index % ids.length) * 16;
        assert.equal(texts.read(view, start), `0x${id}`);
        assert.equal(texts.read(view, start), `0x${id}`);
      }
    }),
    propertySettings(300),
  );
});
