/** Value of each hex digit by character code; only lower-case digits ever come in. */
const nibbles = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) nibbles[value.toString(16).charCodeAt(0)] = value;

/** At most 7 hex digits, which int32 arithmetic holds; twice as fast as parsing a slice. */
export function readDigits(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) value = (value << 4) | (nibbles[text.charCodeAt(i)] ?? 0);
  return value;
}

/**
 * A map whose keys are `0x` hex text of at least 7 digits. It looks at the last 7, then compares: a `Map` would hash
 * every new string, which is half the time of decoding.
 */
export class HexMap<Key extends string, Value> {
  readonly #buckets = new Map<number, readonly (readonly [Key, Value])[]>();

  constructor(entries: Iterable<readonly [Key, Value]>) {
    for (const entry of entries) {
      const digits = lastDigits(entry[0]);
      this.#buckets.set(digits, [...(this.#buckets.get(digits) ?? []), entry]);
    }
  }

  get(key: Key): Value | undefined {
    const bucket = this.#buckets.get(lastDigits(key)) ?? [];
    for (const [known, value] of bucket) if (known === key) return value;
    return undefined;
  }
}

function lastDigits(key: string): number {
  return readDigits(key, key.length - 7, key.length);
}
