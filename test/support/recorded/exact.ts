/** Exact arithmetic on millionths, deliberately separate from the code under test. */
const unit = 1_000_000n;

/** Formats millionths as the API does: `"1500000"` -> `"1.5"`. */
export function amount(micros: bigint | string): string {
  const value = BigInt(micros);
  if (value < 0n) return `-${amount(-value)}`;
  const fraction = String(value % unit)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}

/** `numerator / denominator` to 6 decimals, ties to the even digit; `null` for `x / 0`. */
export function ratio(numerator: bigint | string, denominator: bigint | string): string | null {
  const [top, bottom] = [BigInt(numerator) * unit, BigInt(denominator)];
  if (bottom === 0n) return null;
  if (top < 0n) return negate(ratio(-BigInt(numerator), denominator));
  const [below, rest] = [top / bottom, top % bottom];
  const isUp = rest * 2n > bottom || (rest * 2n === bottom && below % 2n === 1n);
  return amount(isUp ? below + 1n : below);
}

function negate(text: string | null): string | null {
  return text === null || text === "0" ? text : `-${text}`;
}
