import { parseTokenId } from "./ids.ts";

/** In characters. Longer names are not compared: the cost grows with the square of the length. */
const lengthMax = 48;

/** Returns the candidate that a mistyped `name` probably means, for "did you mean"; `null` when none is near. */
export function nearName(name: string, candidates: Iterable<string>): string | null {
  let nearest: string | null = null;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = nameDistance(name, candidate) ?? Number.POSITIVE_INFINITY;
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Returns the edit distance of a mistyped `name`; `null` if it is more than a third of its length (at least 1). */
export function nameDistance(name: string, candidate: string): number | null {
  if (name.length > lengthMax) return null;
  const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
  return distance <= Math.max(1, Math.floor(name.length / 3)) ? distance : null;
}

/** Names, values and words of paths in other APIs. Of several meanings, the first valid one is suggested. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  q: ["search"],
  query: ["search"],
  from: ["start"],
  since: ["start"],
  start_time: ["start"],
  to: ["end"],
  until: ["end"],
  end_time: ["end"],
  start_block: ["from_block"],
  end_block: ["to_block"],
  interval: ["resolution"],
  timeframe: ["resolution"],
  period: ["resolution"],
  granularity: ["resolution"],
  page: ["cursor"],
  offset: ["cursor"],
  per_page: ["limit"],
  page_size: ["limit"],
  count: ["limit"],
  market: ["condition_id", "token_id", "token_ids"],
  market_id: ["condition_id", "token_id", "token_ids"],
  user: ["wallet"],
  address: ["wallet", "user"],
  token: ["token_id", "token_ids"],
  asset: ["token_id", "token_ids"],
  asset_id: ["token_id", "token_ids"],
  closed: ["status", "resolved"],
  active: ["open"],
  tx: ["transactions"],
  ascending: ["order"],
  descending: ["order"],
  sort_by: ["sort"],
  order_by: ["sort"],
  expires: ["expires_at"],
  expiry: ["expires_at"],
};

/** Returns the candidate that has the meaning of `name` in other APIs or in rows; `null` when there is none. */
export function findSynonym(name: string, candidates: readonly string[]): string | null {
  // Fields of rows have their unit in the name.
  const value = name.replace(/_usd$/, "");
  if (value !== name && candidates.includes(value)) return value;
  const meanings = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  return meanings?.find((one) => candidates.includes(one)) ?? null;
}

/** Describes an unknown name for the client, with the name that was probably meant and all valid ones. */
export function unknownName(name: string, valid: readonly string[]): string {
  if (valid.length === 0) return "is not known here; there are no parameters";
  const meant = findSynonym(name, valid) ?? nearName(name, valid);
  const names = valid.join(", ");
  if (meant === null) return `is not known here; valid names: ${names}`;
  return `is not known here; did you mean ${meant}? Valid names: ${names}`;
}

/** Describes a wrong value for the client: the allowed form, the given value, and the nearest of the choices. */
export function wrongValue(
  given: unknown,
  expected: string,
  choices: readonly string[] = [],
): string {
  const issue = `must be ${expected}; got ${quote(given)}`;
  const meant = typeof given === "string" ? findChoice(given, choices) : null;
  return meant === null ? issue : `${issue}; did you mean ${meant}?`;
}

/** Describes what has an id, by what is indexed; `null` if nothing has it. */
export type DescribeId = (id: string) => string | null;

/** Says what kind of id a text is where another kind is expected. An empty text for all others. */
export function describeWrongId(
  given: unknown,
  expected: string,
  describe: DescribeId | undefined,
): string {
  if (typeof given !== "string" || !/\b(id|hash|address)\b/.test(expected)) return "";
  const kind = describe?.(given) ?? findKind(given);
  return kind === null ? "" : `; this is ${kind}`;
}

/** Returns what kind of id a text is by its form; `null` for any other text. */
function findKind(text: string): string | null {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return "a condition id or another hash";
  if (/^0x[0-9a-f]{62}$/i.test(text)) return "a condition id of Protocol V2";
  if (/^0x[0-9a-f]{40}$/i.test(text)) return "an address";
  if (/^[0-9]{60,}$/.test(text)) return parseTokenId(text) === null ? null : "a token id";
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/i.test(text)) return "an address or a hash without 0x";
  if (/^https?:\/\//i.test(text)) return "a URL; a slug is the end of its path";
  return /^[a-z0-9]+(-[a-z0-9]+)+$/i.test(text) ? "a slug" : null;
}

function findChoice(given: string, choices: readonly string[]): string | null {
  const seconds = parseDuration(given);
  // A near name would be another time: 1w is not 1m, and 24h is not 4h.
  if (seconds !== null && choices.some((choice) => parseDuration(choice) !== null))
    return choices.find((choice) => parseDuration(choice) === seconds) ?? null;
  return findSynonym(given, choices) ?? nearName(given, choices);
}

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
  w: 604_800,
  week: 604_800,
};

/** Parses a length of time with a unit, such as `15m`, `1H` or `1day`, into seconds; `null` for any other text. */
function parseDuration(text: string): number | null {
  const [, count, unit = ""] = /^([0-9]{1,6}) ?([a-z]{1,7})$/i.exec(text) ?? [];
  if (count === undefined) return null;
  // A month for charts.
  if (unit === "M") return Number(count) * 2_592_000;
  const singular = unit.toLowerCase().replace(/(?<=..)s$/, "");
  return Number(count) * (unitSeconds[singular] ?? Number.NaN);
}

function quote(given: unknown): string {
  try {
    const text = JSON.stringify(given);
    const quoted = truncate(text);
    // A text that was cut open is closed again.
    const isOpen = quoted !== text && quoted.replaceAll(/\\./g, "").split('"').length % 2 === 0;
    return isOpen ? `${quoted}"` : quoted;
  } catch {
    // Parsing has no limit of depth, but writing fails after some thousand levels.
    return "deeply nested JSON";
  }
}

/** Shortens a text of the client to 64 characters, to quote it in an answer. */
export function truncate(text: string): string {
  return text.length <= 64 ? text : `${text.slice(0, 64)}...`;
}

/** Returns the number of insertions, deletions, substitutions and swaps of neighbors that turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (twoAbove[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    twoAbove = above;
    above = current;
  }
  return above[to.length] ?? 0;
}
