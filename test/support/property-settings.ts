/**
 * Settings of random tests. Every run uses the same cases, so that a failure repeats. `TEST_SEED` selects other
 * cases, and `TEST_RUNS_FACTOR` multiplies the number of cases of properties. fast-check prints the seed and the path
 * of a failure. Tests that draw samples use this seed.
 */
export const testSeed = numberFrom("TEST_SEED", 20_261_120);

/** The seed and the number of cases: `numRuns` multiplied by `TEST_RUNS_FACTOR`. */
export function propertySettings(numRuns: number): { seed: number; numRuns: number } {
  return { seed: testSeed, numRuns: Math.ceil(numRuns * numberFrom("TEST_RUNS_FACTOR", 1)) };
}

function numberFrom(name: string, byDefault: number): number {
  const text = process.env[name];
  const value = text === undefined ? byDefault : Number(text);
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a number`);
  return value;
}
