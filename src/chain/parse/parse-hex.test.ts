import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { parseAddress, parseHash } from "../../base/ids.ts";
import { parseBytes, parseQuantity } from "./parse-hex.ts";

test("parseBytes accepts exactly the texts that a regular expression accepts", () => {
  const anything = fc.string({ unit: "binary", maxLength: 20 });
  const hexLike = fc
    .array(fc.constantFrom(...Array.from("0123456789abcdefABCDEFgG`@/:Z \u0130x")), {
      maxLength: 40,
    })
    .map((units) => `0x${units.join("")}`);
  fc.assert(
    fc.property(fc.oneof(anything, hexLike), (text) => {
      const isBytes = /^0[xX](?:[0-9a-fA-F]{2})*$/.test(text);
      assert.equal(parseBytes(text), isBytes ? text.toLowerCase() : null);
    }),
    propertySettings(500),
  );
});

test("a hash with one character that is not a hex digit is refused, in every place", () => {
  const digits = "0123456789abcdef".repeat(4);
  for (let code = 0; code < 300; code += 1) {
    const character = String.fromCharCode(code);
    for (const place of [0, 1, 2, 3, 31, 62, 63]) {
      const text = `0x${digits.slice(0, place)}${character}${digits.slice(place + 1)}`;
      const expected = /[0-9a-fA-F]/.test(character) ? text.toLowerCase() : null;
      assert.equal(parseHash(text), expected, `code ${code} at ${place}`);
    }
  }
});

test("data longer than the scratch space is checked too", () => {
  const long = `0x${"ab".repeat(10_000)}`;
  assert.equal(parseBytes(long), long);
  assert.equal(parseBytes(long.toUpperCase().replace("X", "x")), long);
  assert.equal(parseBytes(`${long}0g`), null);
});

test("fixed lengths are required and case is normalized", () => {
  assert.equal(parseHash(`0x${"AB".repeat(32)}`), `0x${"ab".repeat(32)}`);
  assert.equal(parseHash(`0x${"ab".repeat(31)}`), null);
  assert.equal(parseAddress(`0x${"Cd".repeat(20)}`), `0x${"cd".repeat(20)}`);
  assert.equal(parseAddress(`0X${"cd".repeat(20)}`), `0x${"cd".repeat(20)}`);
  for (const wrong of [null, undefined, 1, {}, [], true]) assert.equal(parseHash(wrong), null);
});

test("quantities are safe integers", () => {
  assert.equal(parseQuantity("0x0"), 0);
  assert.equal(parseQuantity("0x00fF"), 255);
  assert.equal(parseQuantity("0x1fffffffffffff"), Number.MAX_SAFE_INTEGER);
  const wrong = [
    "0x",
    "",
    "0x20000000000000",
    "0xg",
    "12",
    "0x-1",
    "0x1 ",
    5,
    null,
    `0x${"0".repeat(99)}`,
  ];
  for (const value of wrong) assert.equal(parseQuantity(value), null, String(value));
});
