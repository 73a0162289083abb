import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { payoutMicros, type Resolution, winningOutcomeIndex } from "./market.ts";

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
    // 0.0000005 and 0.9999995: to the even neighbour, and together still 1.
    [[1n, 1_999_999n], [0n, 1_000_000n], null],
  ];
  for (const [numerators, payouts, winner] of cases) {
    test(`of ${numerators.join(", ")}`, () => {
      const resolution = resolvedWith(...numerators);
      assert.deepEqual(
        numerators.map((_, index) => payoutMicros(resolution, index)),
        payouts,
      );
      assert.equal(winningOutcomeIndex(resolution), winner);
    });
  }

  test("of an outcome that does not exist are unknown", () => {
    assert.equal(payoutMicros(resolvedWith(1n, 0n), 2), null);
    assert.equal(payoutMicros(resolvedWith(1n, 0n), -1), null);
  });
});
