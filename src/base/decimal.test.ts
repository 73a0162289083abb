import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import { divideHalfEven, formatMicros, parseMicros, priceMicros } from "./decimal.ts";

const edge = BigInt(Number.MAX_SAFE_INTEGER);
const anyMicros = fc.oneof(
  fc.bigInt({ min: edge - 5n, max: edge + 5n }),
  fc.bigInt({ min: 0n, max: 2n * edge }),
  fc.bigInt({ min: -5_000_000n, max: 5_000_000n }),
  fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
);
const anyPositive = fc.oneof(
  fc.bigInt({ min: 1n, max: 12n }),
  fc.bigInt({ min: 1n, max: 10n ** 38n }),
);

function toDigits(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  return micros < 0n ? `-${digits}` : digits;
}

describe("micros as text", () => {
  test("has no trailing zeros, and a sign only below zero", () => {
    const cases = [
      [0n, "0"],
      [1n, "0.000001"],
      [-1n, "-0.000001"],
      [1_500_000n, "1.5"],
      [-1_000_000n, "-1"],
      [10n ** 38n - 1n, `${"9".repeat(32)}.999999`],
    ] as const;
    for (const [micros, text] of cases) assert.equal(formatMicros(micros), text);
    const toText = (micros: bigint) => {
      const [, sign, whole, fraction = ""] =
        /^(-?)0*([0-9]+)([0-9]{6})$/.exec(toDigits(micros)) ?? [];
      return `${sign}${whole}.${fraction}`.replace(/\.?0+$/, "");
    };
    fc.assert(
      fc.property(anyMicros, (micros) => assert.equal(formatMicros(micros), toText(micros))),
      propertySettings(500),
    );
  });

  test("is parsed back to the same micros", () => {
    fc.assert(
      fc.property(anyMicros, (micros) => assert.equal(parseMicros(formatMicros(micros)), micros)),
      propertySettings(500),
    );
  });

  test("is parsed with leading and trailing zeros, and refused unless it is a plain decimal", () => {
    assert.equal(parseMicros("1.500000"), 1_500_000n);
    assert.equal(parseMicros("007"), 7_000_000n);
    const wrong = ["", "-", ".5", "1.", "1.0000001", "1e3", "+1", " 1", "1\n", "0x1", "1,0", "١"];
    for (const text of wrong) assert.equal(parseMicros(text), null, JSON.stringify(text));
    assert.equal(parseMicros("1".repeat(40)), null);
  });
});

describe("division half to even", () => {
  test("ties go to the even neighbor, on both sides of zero", () => {
    const cases = [
      [1n, 2n, 0n],
      [3n, 2n, 2n],
      [5n, 2n, 2n],
      [-1n, 2n, 0n],
      [-3n, 2n, -2n],
      [7n, 3n, 2n],
      [8n, 3n, 3n],
    ] as const;
    for (const [top, bottom, expected] of cases) {
      assert.equal(divideHalfEven(top, bottom), expected, `${top} / ${bottom}`);
    }
  });

  test("returns the nearest integer, and the even one of two equally near", () => {
    fc.assert(
      fc.property(anyMicros, anyPositive, (top, bottom) => {
        const quotient = divideHalfEven(top, bottom);
        const twiceTheError = 2n * (top - quotient * bottom);
        assert(twiceTheError <= bottom && twiceTheError >= -bottom);
        const isTie = twiceTheError === bottom || twiceTheError === -bottom;
        if (isTie) assert.equal(quotient % 2n, 0n);
      }),
      propertySettings(2000),
    );
  });
});

describe("prices", () => {
  test("are null when there are no shares", () => {
    assert.equal(priceMicros(5n, 0n), null);
  });

  test("are the quotient of value and shares, within and beyond safe integers", () => {
    const anyShares = fc.oneof(anyPositive, fc.bigInt({ min: edge / 2n - 9n, max: edge }));
    const anyValue = fc.oneof(anyMicros, fc.bigInt({ min: 0n, max: 2n * (edge / 1_000_000n) }));
    fc.assert(
      fc.property(anyValue, anyShares, (value, shares) => {
        assert.equal(priceMicros(value, shares), divideHalfEven(value * 1_000_000n, shares));
      }),
      propertySettings(2000),
    );
  });

  test("of the two tokens of a pair add up to exactly 1", () => {
    fc.assert(
      fc.property(anyMicros, anyPositive, (value, shares) => {
        const inverted = priceMicros(shares - value, shares);
        assert.equal(inverted, 1_000_000n - (priceMicros(value, shares) ?? 0n));
      }),
      propertySettings(2000),
    );
  });
});
