/** For numbers that were measured: more digits would be noise, and three fewer than enough. */
export function roundToThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
