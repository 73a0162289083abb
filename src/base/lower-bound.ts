/** Returns the index of the first of `count` sorted items that is not before what is looked for; `count` without one. */
export function lowerBound(count: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
