/**
 * Settings of random tests. Every run tries the same cases, so that a red test is red again;
 * `TEST_SEED` chooses others and `TEST_RUNS_FACTOR` multiplies them. fast-check prints the seed and
 * the path of what failed; tests that draw their own samples name `testSeed` in their messages.
 */
export const testSeed = integerFrom("TEST_SEED", 20_261_120);

/** The seed, and how often to try: `numRuns` unless the environment asks for more. */
export function propertySettings(numRuns: number): { seed: number; numRuns: number } {
  return { seed: testSeed, numRuns: numRuns * integerFrom("TEST_RUNS_FACTOR", 1) };
}

function integerFrom(name: string, byDefault: number): number {
  const text = process.env[name];
  const value = text === undefined ? byDefault : Number(text);
  if (!Number.isInteger(value)) throw new TypeError(`${name} must be an integer`);
  return value;
}
