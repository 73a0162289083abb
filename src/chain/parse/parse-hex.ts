/** Values of JSON-RPC: hex quantities and data. Parsers return `null` for anything else. */

/** The result of `hexDigitFlags` for a word of four lower-case hex digits. */
export const hexDigitsAll = 0x80808080 | 0;
/** The bytes of eight `0` digits, read as a float. Most digits of events are zeros. */
export const zeroDigits: number = new Float64Array(new Uint8Array(8).fill(48).buffer)[0] ?? 0;

/**
 * Sets the high bit of every byte of `word` that is an ASCII `0-9a-f`. Adding `0x80 - k` to a byte
 * below 0x80 sets its high bit exactly when the byte is at least `k`, and never carries over.
 */
export function hexDigitFlags(word: number): number {
  const low = word & 0x7f7f7f7f;
  const isDigit = (low + 0x50505050) & ~(low + 0x46464646);
  const isLetter = (low + 0x1f1f1f1f) & ~(low + 0x19191919);
  return (isDigit | isLetter) & ~word;
}

/** Parses the 256 bytes of a header's `logsBloom`, as one integer. */
export function parseBloom(value: unknown): bigint | null {
  return typeof value === "string" && /^0x[0-9a-f]{512}$/i.test(value) ? BigInt(value) : null;
}

/** Parses bytes of any length to lower case. */
export function parseBytes(value: unknown): string | null {
  if (typeof value !== "string" || value.length % 2 !== 0) return null;
  return /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : null;
}

/** Parses a hex quantity that is a safe integer. Accepts leading zeros, as some nodes send them. */
export function parseQuantity(value: unknown): number | null {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,16}$/.test(value)) return null;
  const quantity = Number(value);
  return Number.isSafeInteger(quantity) ? quantity : null;
}

/** `255` -> `"0xff"`. */
export function formatQuantity(value: number): string {
  return `0x${value.toString(16)}`;
}
