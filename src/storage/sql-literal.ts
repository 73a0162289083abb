/**
 * Values as SQL literals. Callers pass branded, parsed values; only `textLiteral` takes any text. Hex and words are also
 * asserted, so that none can break out of its quotes. Literals, not parameters or functions, because only
 * a literal lets the engine use the primary key (3 ms instead of 120 ms).
 */
import { assert } from "../base/assert.ts";
import { formatMicros } from "../base/decimal.ts";

/** Returns `0x0aff` as the bytes `'\x0a\xff'`, for FixedString columns. */
export function hexLiteral(hex: string): string {
  assert(/^0x([0-9a-f]{2})+$/.test(hex), "a hex literal is lower-case hex of whole bytes");
  return `'${hex.slice(2).replace(/../g, "\\x$&")}'`;
}

/** Returns the list `(a, b)` for `IN`, which needs at least one value. */
export function listLiteral(literals: readonly string[]): string {
  assert(literals.length > 0, "IN needs at least one value");
  return `(${literals.join(", ")})`;
}

/** Returns a safe integer as a literal. */
export function integerLiteral(value: number): string {
  assert(Number.isSafeInteger(value), "an integer literal is a safe integer");
  return value.toString();
}

/** Returns micros as a decimal that compares exactly with a Decimal(38, 6) column. */
export function decimalLiteral(micros: bigint): string {
  return `toDecimal128('${formatMicros(micros)}', 6)`;
}

/** Returns a word of the schema, such as an enum value or the name of a part, as a quoted literal. */
export function wordLiteral(word: string): string {
  assert(/^[a-z_A-Z0-9-]+$/.test(word), "a word literal is a plain word");
  return `'${word}'`;
}

/** Returns any text as a literal. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
