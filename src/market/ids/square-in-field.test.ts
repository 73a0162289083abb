import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fieldPrime, isSquareInField } from "./condition-ids.ts";

/** Computes Euler's criterion directly. */
function isSquareByEuler(value: bigint): boolean {
  if (value === 0n) return true;
  let power = 1n;
  let base = value;
  for (let exponent = (fieldPrime - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent % 2n === 1n) power = (power * base) % fieldPrime;
    base = (base * base) % fieldPrime;
  }
  return power === 1n;
}

test("agrees with Euler's criterion", () => {
  const value = fc.bigInt({ min: 0n, max: fieldPrime - 1n });
  fc.assert(
    fc.property(value, (x) => assert.equal(isSquareInField(x), isSquareByEuler(x))),
    { numRuns: 300 },
  );
});

test("agrees with Euler's criterion next to powers of 2 and at the edges of the field", () => {
  const values = [0n, 1n, 2n, 3n, fieldPrime - 1n, fieldPrime - 2n, fieldPrime >> 1n];
  for (let bit = 1n; bit < 254n; bit += 1n) {
    const power = 1n << bit;
    for (const x of [power - 1n, power, power + 1n, fieldPrime - power]) {
      if (x > 0n && x < fieldPrime) values.push(x);
    }
  }
  for (const x of values) assert.equal(isSquareInField(x), isSquareByEuler(x), `${x}`);
});

test("accepts a square and refuses its negative", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: fieldPrime - 1n }), (root) => {
      const square = (root * root) % fieldPrime;
      assert.ok(isSquareInField(square));
      assert.ok(!isSquareInField(fieldPrime - square));
    }),
  );
});
