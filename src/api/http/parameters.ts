import { type TUnsafe, Type } from "typebox";
import {
  addressInput,
  amountInput,
  type ClientText,
  conditionIdInput,
  hashInput,
  tokenIdInput,
} from "../../base/config/client-texts.ts";
import { webLimits } from "../../base/config/limits.ts";
import type { Address, ConditionId, Hash, TokenId } from "../../base/ids.ts";
import { isIpRange } from "../../base/ip-address.ts";

/**
 * A text that `parse` turns into what handlers work with; `null` from it means not valid, and the
 * error then says that the parameter must be `expected`. `keywords` are for the documentation.
 */
export function parsedText<T extends string | number | bigint>(options: {
  parse: (text: string) => T | null;
  expected: string;
  keywords?: Readonly<Record<string, unknown>>;
}): TUnsafe<T> {
  const { parse, expected, keywords } = options;
  return Type.Unsafe<T>({ type: "string", ...keywords, "~parse": parse, "~expected": expected });
}

/** A token, as the decimal that clients know. */
export const tokenId: TUnsafe<TokenId> = clientText(tokenIdInput);
/** A condition, in either spelling of generation 3. */
export const conditionId: TUnsafe<ConditionId> = clientText(conditionIdInput);
/** A transaction, block or order. */
export const hash: TUnsafe<Hash> = clientText(hashInput);
/** An account or contract. */
export const address: TUnsafe<Address> = clientText(addressInput);
/** An amount of shares or cash in micros, never negative. */
export const amount: TUnsafe<bigint> = clientText(amountInput);

function clientText<T extends string | bigint>({ pattern, ...text }: ClientText<T>): TUnsafe<T> {
  return parsedText({ ...text, keywords: { pattern } });
}

const clockPattern = "([01][0-9]|2[0-3]):[0-5][0-9]";
const rfc3339Pattern = `[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]${clockPattern}:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]${clockPattern})`;
const timePattern = `^([0-9]{1,11}|[0-9]{13}|${rfc3339Pattern})$`;
const isRfc3339 = new RegExp(`^${rfc3339Pattern}$`);

/** A point in time in Unix milliseconds. */
export const time: TUnsafe<number> = parsedText({
  parse: parseTime,
  expected: "epoch seconds, epoch milliseconds (13 digits) or RFC 3339 as 2026-01-31T12:00:00Z",
  keywords: { type: ["string", "integer"], pattern: timePattern },
});

/** Where the page before ended; opaque to clients. */
export const cursor = Type.String({
  minLength: 1,
  maxLength: webLimits.cursorLengthMax,
  description: "next_cursor of the page before, with the same filters",
});

/** Addresses that a key may be used from. */
export const ipRange: TUnsafe<string> = parsedText({
  parse: (text) => (isIpRange(text) ? text : null),
  expected: "an IP address or a CIDR range",
});

/** Seconds (up to 11 digits), milliseconds (13 digits) or RFC 3339, as Unix milliseconds. */
export function parseTime(text: string): number | null {
  if (/^[0-9]{1,11}$/.test(text)) return Number(text) * 1000;
  if (/^[0-9]{13}$/.test(text)) return Number(text);
  if (!isRfc3339.test(text)) return null;
  const date = text.slice(0, "2026-01-31".length);
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  // The 30th of February is rolled over by the platform, and by us refused.
  if (Number.isNaN(midnightMs) || !new Date(midnightMs).toISOString().startsWith(date)) return null;
  return Date.parse(text);
}
