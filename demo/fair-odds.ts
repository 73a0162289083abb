/**
 * The fair odds of the demo's events. Each outcome has a strength that walks at random: each second adds 1 to its
 * variance. The strongest outcome at the end wins. The chances follow from the differences of strength and the time
 * left: they move slowly at first, and approach 0 and 1 near the end.
 */
import type { Random } from "./random.ts";

/** Scales differences of strength so that the logistic curve approximates the normal distribution. */
const steepness = 1.2;

/** Returns a chance for each strength. The chances sum to 1. */
export function getChances(strengths: readonly number[], secondsLeft: number): number[] {
  const scale = steepness / Math.sqrt(Math.max(secondsLeft, 1));
  const strongest = Math.max(...strengths);
  const weights = strengths.map((strength) => Math.exp((strength - strongest) * scale));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Returns the strengths that give these chances with this much time left. */
export function strengthsFor(chances: readonly number[], secondsLeft: number): number[] {
  return chances.map((chance) => (Math.log(chance) * Math.sqrt(secondsLeft)) / steepness);
}

/** Returns the strengths after a random walk of `seconds`. */
export function walk(strengths: readonly number[], seconds: number, random: Random): number[] {
  const deviation = Math.sqrt(Math.max(seconds, 0));
  return strengths.map((strength) => strength + deviation * random.normal());
}
