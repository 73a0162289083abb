/**
 * Settings of random tests. Every run tries the same cases, so that a red test is red again;
 * `TEST_SEED` chooses others and `TEST_RUNS_FACTOR` multiplies those of properties. fast-check
 * prints seed and path of what failed; tests that draw samples have the seed given here.
 */
export const testSeed = numberFrom("TEST_SEED", 20_261_120);

/** The seed, and how often to try: `numRuns` unless the environment asks for more or fewer. */
export function propertySettings(numRuns: number): { seed: number; numRuns: number } {
  return { seed: testSeed, numRuns: Math.ceil(numRuns * numberFrom("TEST_RUNS_FACTOR", 1)) };
}

function numberFrom(name: string, byDefault: number): number {
  const text = process.env[name];
  const value = text === undefined ? byDefault : Number(text);
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a number`);
  return value;
}
