/**
 * Settings of random tests. Every run tries the same cases, so that a red test is red again;
 * `TEST_SEED` chooses others and `TEST_RUNS_FACTOR` multiplies those of properties. fast-check
 * prints seed and path of what failed; tests that draw samples have the seed given here.
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
