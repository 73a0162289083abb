/** Values for a schema: valid values, values at the edge, and unrelated values. */
import type { JsonSchema } from "../../src/api/docs/api-document.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Existing values by the name of their parameter. Values from the schema alone would match no rows. */
export type Samples = Readonly<Record<string, readonly string[]>>;

/** Texts that are known to break software. */
export const wildTexts = [
  "",
  "0",
  "-1",
  "1.5",
  "1e3",
  "0x10",
  "+1",
  "null",
  "undefined",
  "true",
  "NaN",
  "[object Object]",
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "); DROP TABLE oddwire.fills; --",
  "../../../etc/passwd",
  "<script>alert(1)</script>",
  "${7*7}",
  "\u0000",
  "a\r\nX-Injected: 1",
  "\u{1f3b5}",
  "\u202e\u0301",
  "\ufeff",
  "9".repeat(400),
  "x".repeat(513),
  "x".repeat(6000),
  ",",
  ",,,",
  "1,".repeat(120),
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999999+23:59",
  "2026-02-30T00:00:00Z",
  "99999999999",
  "9007199254740993",
  "340282366920938463463374607431768211456",
  "115792089237316195423570985008687907853269984665640564039457584007913129639936",
  `0x${"0".repeat(64)}`,
  `0x${"F".repeat(62)}`,
  `0x${"f".repeat(40)}`,
] as const;

/** Percent encodings that are truncated, not UTF-8, or of characters that need none. */
export const wildEncodings = [
  "%",
  "%z",
  "%zz",
  "%ff",
  "%c0%80",
  "%ed%a0%80",
  "%F4%90%80%80",
  "%00",
  "%2F",
  "%31",
] as const;

export class ValueFuzzer {
  readonly #random: SeededRandom;
  readonly #samples: Samples;

  constructor(random: SeededRandom, samples: Samples) {
    this.#random = random;
    this.#samples = samples;
  }

  /** A text that the schema of a parameter accepts, often at its limits. */
  good(name: string, schema: JsonSchema): string {
    const random = this.#random;
    const { items, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
    if (items !== undefined) {
      return Array.from({ length: random.integer(1, 3) }, () => this.good(name, items)).join(",");
    }
    if (values !== undefined) return String(random.pick(values));
    if (schema.type === "boolean") return random.pick(["true", "false"]);
    // Long pages are valid too, but slow.
    if (name === "limit") return String(random.pick([1, 1, 2, 3, 5, maximum]));
    const samples = this.#samples[name] ?? [];
    // A position ahead of the chain is refused even if it is well-formed.
    if (name === "min_seq") return random.pick([String(minimum), ...samples]);
    const isInteger = schema.type === "integer";
    if (samples.length > 0 && !(isInteger && random.chance(0.25))) return random.pick(samples);
    if (isInteger) return String(random.pick([minimum, maximum, random.integer(minimum, maximum)]));
    const { minLength = 1, maxLength = 20 } = schema;
    return "x".repeat(random.pick([minLength, maxLength]));
  }

  /** A text just outside the schema, or unrelated to it. Occasionally it is valid. */
  bad({ minimum, maximum, minLength, maxLength, maxItems, enum: values = [] }: JsonSchema): string {
    const random = this.#random;
    const near = [
      ...(minimum === undefined ? [] : [`${minimum - 1}`, `0${minimum}`, `${minimum}.0`]),
      ...(maximum === undefined ? [] : [`${BigInt(maximum) + 1n}`, `${maximum}0`]),
      ...(minLength === undefined ? [] : ["x".repeat(Math.max(0, minLength - 1))]),
      ...(maxLength === undefined ? [] : ["x".repeat(maxLength + 1)]),
      ...values.flatMap((value) => [`${value} `, `${value}`.toUpperCase(), `${value}x`]),
      ...(maxItems === undefined ? [] : [`${"1,".repeat(maxItems)}1`]),
    ];
    return near.length === 0 || random.chance(0.5) ? random.pick(wildTexts) : random.pick(near);
  }

  /** A value that the schema of a body field accepts. */
  goodJson(name: string, schema: JsonSchema): unknown {
    if (schema.items !== undefined) return [this.good(name, schema.items)];
    const text = this.good(name, schema);
    return schema.type === "integer" ? Number(text) : text;
  }

  /** A value of any type, probably a wrong one. */
  badJson(): unknown {
    const anyText = this.#random.pick(wildTexts);
    return this.#random.pick<unknown>([true, 0, -1, 1e21, "", [], {}, [[]], anyText]);
  }
}
