import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import { payoutsMicros, type Resolution, winningOutcomeIndex } from "./market.ts";

function resolvedWith(...numerators: readonly bigint[]): Resolution {
  return { numerators } as unknown as Resolution;
}

describe("payouts", () => {
  const cases: readonly (readonly [readonly bigint[], readonly bigint[], number | null])[] = [
    [[1n, 0n], [1_000_000n, 0n], 0],
    [[0n, 1n], [0n, 1_000_000n], 1],
    [[1n, 1n], [500_000n, 500_000n], null],
    [[3n, 7n], [300_000n, 700_000n], null],
    [[1n, 2n], [333_333n, 666_667n], null],
    [[0n, 10n ** 30n], [0n, 1_000_000n], 1],
    [[1n, 0n, 2n], [333_333n, 0n, 666_667n], null],
    [[0n, 0n, 5n], [0n, 0n, 1_000_000n], 2],
    // 0.0000005 and 0.9999995 round half to even, and still add up to 1.
    [[1n, 1_999_999n], [0n, 1_000_000n], null],
    [[1n, 1n, 1n], [333_334n, 333_333n, 333_333n], null],
  ];
  for (const [numerators, payouts, winner] of cases) {
    test(`of ${numerators.join(", ")}`, () => {
      const resolution = resolvedWith(...numerators);
      assert.deepEqual(payoutsMicros(resolution), payouts);
      assert.equal(winningOutcomeIndex(resolution), winner);
    });
  }

  test("add up to 1, and each is as close to its exact value as that allows", () => {
    const numerator = fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 2n ** 256n - 1n));
    const some = fc.array(numerator, { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(
        some.filter((all) => all.some((one) => one > 0n)),
        (numerators) => {
          const payouts = payoutsMicros({ numerators });
          const sum = numerators.reduce((before, one) => before + one);
          assert.equal(
            payouts.reduce((before, one) => before + one),
            1_000_000n,
          );
          for (const [index, payout] of payouts.entries()) {
            const missed = payout * sum - (numerators[index] ?? 0n) * 1_000_000n;
            assert(missed < sum && -missed < sum, "less than a micro");
            if (numerators.length === 2) assert(missed * 2n <= sum && -missed * 2n <= sum);
          }
        },
      ),
      propertySettings(500),
    );
  });
});
