import { type TUnsafe, Type } from "typebox";
import { webLimits } from "../../base/config/limits.ts";
import { parsedText } from "../../base/input/client-texts.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { isIpRange } from "../../base/ip-address.ts";

const clockPattern = "([01][0-9]|2[0-3]):[0-5][0-9]";
const rfc3339Pattern = `[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt]${clockPattern}:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]${clockPattern}))?`;
const timePattern = `^([0-9]{1,11}|[0-9]{13}|${rfc3339Pattern})$`;
const isRfc3339 = new RegExp(`^${rfc3339Pattern}$`);

/** A point in time in Unix milliseconds. */
export const time: TUnsafe<number> = parsedText({
  parse: parseTime,
  expected:
    "epoch seconds, epoch milliseconds (13 digits), RFC 3339 as 2026-01-31T12:00:00Z, or a date in UTC (a + is %2B in a URL)",
  keywords: { type: ["string", "integer"], pattern: timePattern },
});

/** A time or a position: a text of `time`, or a number that can be either. */
export const moment: TUnsafe<string> = parsedText({
  parse: (text) => (/^[0-9]{1,16}$/.test(text) || parseTime(text) !== null ? text : null),
  expected: "a seq, epoch seconds or milliseconds, RFC 3339 as 2026-01-31T12:00:00Z, or a date",
  keywords: { type: ["string", "integer"], pattern: `^([0-9]{1,16}|${rfc3339Pattern})$` },
});

/** The end of the previous page; opaque to clients. */
export const cursor = Type.String({
  minLength: 1,
  maxLength: webLimits.cursorLengthMax,
});

/** An address or range that a key can be used from. */
export const ipRange: TUnsafe<string> = parsedText({
  parse: (text) => (isIpRange(text) ? text : null),
  expected: "an IP address or a CIDR range",
});

/** Parses epoch seconds (up to 11 digits), milliseconds (13 digits), RFC 3339, or a date, which is its midnight in UTC. Returns Unix milliseconds. */
export function parseTime(text: string): number | null {
  if (/^[0-9]{1,11}$/.test(text)) return Number(text) * 1000;
  if (/^[0-9]{13}$/.test(text)) return Number(text);
  if (!isRfc3339.test(text)) return null;
  const date = text.slice(0, "2026-01-31".length);
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  // JavaScript turns February 30 into March 2 (or 1). Refuse such dates.
  if (Number.isNaN(midnightMs) || !new Date(midnightMs).toISOString().startsWith(date)) return null;
  return Date.parse(text);
}

/** The parameters of a request. Comparisons with an absent one are false. */
type Bounds = Readonly<Record<string, unknown>>;

/** Throws `VALIDATION_ERROR` for an empty time range: when its end is not after its start. */
export function checkRange(query: Bounds, [start, end]: readonly [string, string]): void {
  if ((query[end] as number) <= (query[start] as number))
    throw invalid(end, `must be after ${start}`);
}

/** Throws `VALIDATION_ERROR` when the maximum is below the minimum. */
export function checkBounds(query: Bounds, [least, greatest]: readonly [string, string]): void {
  if ((query[greatest] as bigint) < (query[least] as bigint))
    throw invalid(greatest, `must not be below ${least}`);
}
