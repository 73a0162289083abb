/**
 * What every event of the demo is truly worth. Each outcome has a strength that walks at random, 1
 * second of time adding 1 to its variance, and the strongest one at the end wins. The chances of
 * the outcomes then follow from how far apart they are and how much time is left: they move slowly
 * at first, and run to 0 and 1 as the end comes near.
 */
import type { Random } from "./random.ts";

/** Scales differences of strength so that the logistic curve comes near to the normal one. */
const steepness = 1.2;

/** A chance for each strength; they sum to 1. */
export function chancesOf(strengths: readonly number[], secondsLeft: number): number[] {
  const scale = steepness / Math.sqrt(Math.max(secondsLeft, 1));
  const strongest = Math.max(...strengths);
  const weights = strengths.map((strength) => Math.exp((strength - strongest) * scale));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Strengths that give these chances with so much time left. */
export function strengthsFor(chances: readonly number[], secondsLeft: number): number[] {
  return chances.map((chance) => (Math.log(chance) * Math.sqrt(secondsLeft)) / steepness);
}

/** Where the strengths may be `seconds` later. */
export function walk(strengths: readonly number[], seconds: number, random: Random): number[] {
  const deviation = Math.sqrt(Math.max(seconds, 0));
  return strengths.map((strength) => strength + deviation * random.normal());
}
