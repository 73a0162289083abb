/** The numbers with room for so many at least: half as many again, so that growing costs little. */
export function grown(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const more = new Float64Array(Math.max(length, Math.ceil(numbers.length * 1.5), 1024));
  more.set(numbers);
  return more;
}
