/**
 * Exact decimals. Cash and shares both have 6 decimals on the chain, so every amount is an integer
 * number of millionths ("micros") in a `bigint`. Money is never computed in fractions of a float.
 */

/** The number of micros in a dollar or a share. */
export const microsPerUnit = 1_000_000n;

/** Up to these bounds, plain numbers compute exactly what `bigint` does, several times as fast. */
const safeMax = BigInt(Number.MAX_SAFE_INTEGER);
const safeValueMax = safeMax / microsPerUnit;
const safeSharesMax = safeMax / 2n;

/** Formats micros: `1500000n` is `"1.5"`. At most 6 fractional digits, no trailing zeros, `-` for negatives. */
export function formatMicros(micros: bigint): string {
  if (micros >= 0n && micros <= safeMax) return formatSafeMicros(Number(micros));
  const sign = micros < 0n ? "-" : "";
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0+$/, "");
  const whole = digits.slice(0, -6);
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Formats micros in a plain number, from 0 to 2^53 - 1, as `formatMicros` does. */
export function formatSafeMicros(micros: number): string {
  const fraction = micros % 1_000_000;
  const whole = (micros - fraction) / 1_000_000;
  if (fraction === 0) return whole.toString();
  const low = fraction % 1000;
  const high = (fraction - low) / 1000;
  return low === 0
    ? `${whole}.${trimmedDigits[high]}`
    : `${whole}.${threeDigits[high]}${trimmedDigits[low]}`;
}

/** The texts of 0 to 999 with three digits, and the same without trailing zeros. */
const threeDigits = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, "0"));
const trimmedDigits = threeDigits.map((digits) => digits.replace(/0+$/, ""));

/** Parses micros: `"1.5"` is `1500000n`. `null` unless the text is a plain decimal with at most 6 fractional digits. */
export function parseMicros(text: string): bigint | null {
  const safe = parseSafeMicros(text);
  if (safe !== null) return BigInt(safe);
  const match = /^(-?)([0-9]{1,39})(?:\.([0-9]{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = "0", fraction = ""] = match;
  const micros = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, "0"));
  return sign === "-" ? -micros : micros;
}

/** Parses micros as a plain number; `null` also for a sign, more than 20 characters, and 2^53 micros or more. */
export function parseSafeMicros(text: string): number | null {
  const { length } = text;
  if (length > 20) return null;
  let micros = 0;
  let point = length;
  for (let at = 0; at < length; at += 1) {
    const digit = text.charCodeAt(at) - zeroCode;
    if (digit >= 0 && digit <= 9) micros = micros * 10 + digit;
    else if (digit === pointDigit && point === length) point = at;
    else return null;
  }
  const places = Math.max(0, length - point - 1);
  const isPlain = point > 0 && places <= 6 && (point === length || places > 0);
  micros *= 10 ** (6 - places);
  return isPlain && Number.isSafeInteger(micros) ? micros : null;
}

const zeroCode = 48;
/** The character code of "." relative to "0". */
const pointDigit = -2;

/** Divides and rounds to the nearest integer, ties to even. The denominator must be positive. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n;
  const magnitude = negative ? -numerator : numerator;
  let quotient = magnitude / denominator;
  const twice = (magnitude % denominator) * 2n;
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) quotient += 1n;
  return negative ? -quotient : quotient;
}

/**
 * Returns `value / shares`, both in micros, as a price in micros per share, rounded half to even
 * (`docs/counting.md`, rule 4); `null` for 0 shares. The price on the other token is exactly 1 minus this one.
 */
export function priceMicros(value: bigint, shares: bigint): bigint | null {
  if (shares === 0n) return null;
  const isSafe = value >= 0n && value <= safeValueMax && shares <= safeSharesMax;
  if (!isSafe) return divideHalfEven(value * microsPerUnit, shares);
  const [numerator, denominator] = [Number(value) * 1_000_000, Number(shares)];
  const rest = numerator % denominator;
  const quotient = (numerator - rest) / denominator;
  const isOver = rest * 2 > denominator || (rest * 2 === denominator && quotient % 2 === 1);
  return BigInt(isOver ? quotient + 1 : quotient);
}
