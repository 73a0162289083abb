import { readDigits } from "./hex-digits.ts";

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
