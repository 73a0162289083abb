/** The schemas of texts that clients send, over HTTP or on the stream, with their parsers. */
import { type TUnsafe, Type } from "typebox";
import { parseMicros } from "../decimal.ts";
import {
  type Address,
  type ConditionId,
  type Hash,
  parseAddress,
  parseConditionId,
  parseHash,
  parseTokenId,
  type TokenId,
} from "../ids.ts";

/**
 * Defines the schema of a text that `parse` converts for handlers. When `parse` returns `null`, the error
 * says that the parameter must be `expected`. `keywords` are only for the API documentation.
 */
export function parsedText<T extends string | number | bigint>(options: {
  parse: (text: string) => T | null;
  expected: string;
  keywords?: Readonly<Record<string, unknown>>;
}): TUnsafe<T> {
  const { parse, expected, keywords } = options;
  return Type.Unsafe<T>({ type: "string", ...keywords, "~parse": parse, "~expected": expected });
}

/** A token id in decimal. */
export const tokenId: TUnsafe<TokenId> = parsedText({
  parse: parseTokenId,
  expected: "a decimal token id below 2^256",
  keywords: { pattern: "^[0-9]{1,78}$" },
});

const nameOfToken = /^(?!https?:)[^:]{1,200}:[^:]{1,200}$/;

/**
 * A token id in decimal, or a market and an outcome. `withTokenNames` replaces names by ids before a route reads them.
 */
export const namedToken: TUnsafe<TokenId> = parsedText({
  parse: (text) => parseTokenId(text) ?? (nameOfToken.test(text) ? (text as TokenId) : null),
  expected:
    "a decimal token id below 2^256, or a slug or condition id with an outcome, such as who-wins:yes",
  keywords: { pattern: "^([0-9]{1,78}|[^:]{1,200}:[^:]{1,200})$" },
});

/** Whether a value of `namedToken` is a market and an outcome. */
export function isTokenName(value: TokenId): boolean {
  return value.includes(":");
}

/** A condition id, in either spelling of generation 3. */
export const conditionId: TUnsafe<ConditionId> = parsedText({
  parse: parseConditionId,
  expected: "a condition id, 0x and 64 hex digits (62 for Protocol V2)",
  keywords: { pattern: "^0[xX]([0-9a-fA-F]{64}|[0-9a-fA-F]{62})$" },
});

/** The hash of a transaction, block or order. */
export const hash: TUnsafe<Hash> = parsedText({
  parse: parseHash,
  expected: "a hash, 0x and 64 hex digits",
  keywords: { pattern: "^0[xX][0-9a-fA-F]{64}$" },
});

/** The address of an account or contract. */
export const address: TUnsafe<Address> = parsedText({
  parse: parseAddress,
  expected: "an address, 0x and 40 hex digits",
  keywords: { pattern: "^0[xX][0-9a-fA-F]{40}$" },
});

/** The store compares amounts as decimals of 38 digits, 6 of them fractional. */
const amountPattern = "^[0-9]{1,32}(\\.[0-9]{1,6})?$";
const isAmount = new RegExp(amountPattern);

/** A decimal amount of shares or cash, or a price of a share, parsed to micros; never negative. */
export const amount: TUnsafe<bigint> = parsedText({
  parse: (text) => (isAmount.test(text) ? parseMicros(text) : null),
  expected:
    "a decimal of at least 0, such as 12.5, with at most 32 digits before the point and 6 after it",
  keywords: { pattern: amountPattern },
});
