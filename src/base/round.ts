/** Rounds a measured value to three decimals: more would be noise. */
export function roundToThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
