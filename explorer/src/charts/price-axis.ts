/** Labels of the price axis of a chart. */
import { percent } from "../format/numbers.ts";

/** Up to which part of the distance between two labels a tag covers: they are at least 30 pixels apart. */
const tagShare = 0.45;

/** Returns the axis label of a probability; empty outside of 0 to 1. */
export function axisLabel(price: number): string {
  return price < -0.0001 || price > 1.0001 ? "" : percent(Math.max(0, price));
}

/** Returns the labels of a price axis, without those that the tag of a last price would cover in part. */
export function getTickLabels(prices: readonly number[], lastPrices: readonly number[]): string[] {
  const [one = 0, other = 1] = prices;
  const step = Math.abs(other - one);
  const isFine = step < 0.0099;
  return prices.map((price) => {
    const label = axisLabel(price);
    const isCovered = lastPrices.some((last) => Math.abs(last - price) < tagShare * step);
    if (label === "" || isCovered) return "";
    // Rounded to percents, two labels would be the same.
    return isFine ? `${Number((100 * price).toFixed(2))}%` : label;
  });
}
