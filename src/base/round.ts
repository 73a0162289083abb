/** For what was measured: more than three digits behind the point would be noise. */
export function roundToThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
