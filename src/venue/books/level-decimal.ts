/**
 * Prices and sizes of book levels as integers of millionths in plain numbers: a price is below
 * 10^6, a size below 2^53 (nine billion shares), and books change too often for `bigint`.
 */
const microsPerUnit = 1_000_000;
const point = 46;
const zero = 48;

/** `"0.48"` -> 480000; `null` unless it is a plain decimal, exact in millionths and below 2^53. */
export function parseLevelMicros(text: unknown): number | null {
  if (typeof text !== "string" || text.length === 0 || text.length > 20) return null;
  let micros = 0;
  let decimals = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === point && decimals < 0 && at > 0) {
      decimals = 0;
      continue;
    }
    const digit = code - zero;
    if (digit < 0 || digit > 9) return null;
    if (decimals >= 0) decimals += 1;
    if (decimals > 6) return null;
    micros = micros * 10 + digit;
  }
  if (decimals === 0) return null;
  micros *= 10 ** (6 - Math.max(decimals, 0));
  return Number.isSafeInteger(micros) ? micros : null;
}

/** 480000 -> `"0.48"`: without trailing zeros, which is also how the venue writes them. */
export function formatLevelMicros(micros: number): string {
  const whole = Math.floor(micros / microsPerUnit);
  const rest = micros - whole * microsPerUnit;
  if (rest === 0) return String(whole);
  const digits = String(rest + microsPerUnit);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end -= 1;
  return `${whole}.${digits.slice(1, end)}`;
}
