/**
 * Exact decimals. Cash and shares both have 6 decimals on the chain, so every amount is an integer
 * count of millionths ("micros") held in a `bigint`; no float ever touches money.
 */
const microsPerUnit = 1_000_000n;

/** `1500000n` -> `"1.5"`: at most 6 fractional digits, no trailing zeros, `-` for negatives. */
export function formatMicros(micros: bigint): string {
  const sign = micros < 0n ? "-" : "";
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0+$/, "");
  const whole = digits.slice(0, -6);
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** `"1.5"` -> `1500000n`; `null` unless it is a plain decimal with at most 6 fractional digits. */
export function parseMicros(text: string): bigint | null {
  const match = /^(-?)([0-9]{1,39})(?:\.([0-9]{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = "0", fraction = ""] = match;
  const micros = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, "0"));
  return sign === "-" ? -micros : micros;
}

/** `numerator / denominator` rounded to the nearest integer, ties to even. `denominator > 0`. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n;
  const magnitude = negative ? -numerator : numerator;
  let quotient = magnitude / denominator;
  const twice = (magnitude % denominator) * 2n;
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) quotient += 1n;
  return negative ? -quotient : quotient;
}

/**
 * The price of `shares` for `value`, both in micros, in micros per share, rounded half-even
 * (`docs/counting.md`, rule 4). `null` for 0 shares. `price(1 - p)` is exactly `1 - price(p)`.
 */
export function priceMicros(value: bigint, shares: bigint): bigint | null {
  return shares === 0n ? null : divideHalfEven(value * microsPerUnit, shares);
}
