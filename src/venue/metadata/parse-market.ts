/**
 * Parses the venue's market metadata, as its clients and documentation describe it. The creator of a market writes its
 * texts, so no length, type or alphabet is assumed. Unreadable fields are left out one by one. Nothing here throws.
 */

import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import { type ConditionId, parseConditionId, parseTokenId, type TokenId } from "../../base/ids.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { toPlainLine, toPlainText } from "../../base/plain-text.ts";
import { type MetadataTexts, metadataTexts } from "../../market/venue-metadata.ts";

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const textsAs = <Text extends string>() =>
  nullable(Type.Unsafe<readonly Text[]>(Type.Array(Type.String())));

const venueClaims = Type.Object({
  questionId: nullable(Type.String()),
  negRisk: nullable(Type.Boolean()),
  tokenIds: textsAs<TokenId>(),
  /** Labels in the order of the tokens. */
  outcomes: textsAs(),
  /** The index of the winning outcome. */
  winnerIndex: nullable(Type.Integer()),
});

/** Facts that the chain also has, with more authority; `null` if the venue does not send them. */
export type VenueClaims = Readonly<Static<typeof venueClaims>>;

const metadataMarket = Type.Object({
  conditionId: Type.Unsafe<ConditionId>(Type.String()),
  texts: metadataTexts,
  claims: venueClaims,
  /** The dollars in its order book, in micros; absent if the venue does not say. */
  liquidityUsd: Type.Optional(Type.Integer({ minimum: 0 })),
  /** How its condition holds its tokens, of a market that the venue has named and the token ids prove. */
  adoptedAs: Type.Optional(Type.Enum(["standard", "neg_risk"])),
});

/** A market as the market metadata describes it. */
export type MetadataMarket = Readonly<Static<typeof metadataMarket>>;

const storedMarkets = Compile(metadataMarket);

/** Parses a market that another process has stored as JSON; returns `null` if it is invalid. */
export function parseStoredMarket(conditionId: ConditionId, json: string): MetadataMarket | null {
  const stored = tryParseJson(json);
  return storedMarkets.Check(stored) && stored.conditionId === conditionId ? stored : null;
}

type Fields = Readonly<Record<string, unknown>>;

const nothing: Fields = {};
/** From then on, times have no RFC 3339 form. */
const year10000Ms = Date.UTC(10_000, 0);
const slugPattern = /^[^\s\p{C}]+$/u;
const timePattern =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,9})?(?:Z|([+-][0-9]{2})(?::?([0-9]{2}))?)?)?$/;

/** Parses a market; returns `null` if it has no valid condition id. */
export function parseMarket(value: unknown): MetadataMarket | null {
  const fields = getFields(value);
  const conditionId = getMatch(fields["conditionId"], parseConditionId);
  if (conditionId === null) return null;
  const event = getFields(getList(fields["events"])?.[0]);
  const liquidityUsd = toMicros(fields["liquidityClob"] ?? fields["liquidityNum"]);
  return {
    conditionId,
    texts: readTexts(fields, event),
    claims: readClaims(fields),
    ...(liquidityUsd !== null && { liquidityUsd }),
  };
}

function readTexts(fields: Fields, event: Fields): MetadataTexts {
  return {
    slug: toSlug(fields["slug"]),
    category: getCategory(fields) ?? getCategory(event),
    tags: getTags(fields, event),
    eventId: toNumberText(event["id"]),
    eventSlug: toSlug(event["slug"]),
    eventTitle: toLine(event["title"], metadataLimits.questionLengthMax),
    outcomeLabel: toLabel(fields["groupItemTitle"]),
    startMs: getTime(fields["startDate"]) ?? getTime(fields["startDateIso"]),
    endMs: getTime(fields["endDate"]) ?? getTime(fields["endDateIso"]),
    image: getImage(fields["image"]) ?? getImage(fields["icon"]),
    question: toLine(fields["question"], metadataLimits.questionLengthMax),
    description: toText(fields["description"]),
  };
}

function readClaims(fields: Fields): VenueClaims {
  const { closed, negRisk } = fields;
  const prices = closed === true ? toTexts(fields["outcomePrices"]) : null;
  return {
    questionId: getMatch(fields["questionID"], (text) =>
      /^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null,
    ),
    negRisk: typeof negRisk === "boolean" ? negRisk : null,
    tokenIds: readEach(fields[tokenIdsField(fields)], parseTokenId),
    outcomes: readEach(fields["outcomes"], toLabel),
    winnerIndex: prices === null ? null : getWinner(prices),
  };
}

/** Markets of CTF Exchange V1 and V2 can also have positions of Protocol V2, so the version decides. */
function tokenIdsField({ version }: Fields): "clobTokenIds" | "positionIds" {
  return typeof version === "string" && version !== "v1" ? "positionIds" : "clobTokenIds";
}

/** Returns the outcome whose price is 1 while all others are 0. A closed market can have any other prices. */
function getWinner(prices: readonly string[]): number | null {
  const winner = prices.indexOf("1");
  const isSure = prices.every((price, index) => index === winner || price === "0");
  return winner !== -1 && isSure ? winner : null;
}

/** Reads each text of a list; `null` if one of them is not valid. */
function readEach<Value>(
  value: unknown,
  read: (text: string) => Value | null,
): readonly Value[] | null {
  const values = toTexts(value)?.map(read) ?? null;
  return values?.every((one) => one !== null) ? values : null;
}

/** Old markets have the category as a text. Newer ones have a list of categories, or only tags. */
function getCategory(fields: Fields): string | null {
  const [first] = getList(fields["categories"]) ?? [];
  return toLabel(fields["category"]) ?? toLabel(first);
}

/** Returns the tags of a market and of its event without duplicates, and without those that the venue hides. */
function getTags(...sources: readonly Fields[]): readonly string[] {
  const tags = new Set<string>();
  for (const source of sources) {
    for (const tag of (getList(source["tags"]) ?? []).slice(0, metadataLimits.tagsMax)) {
      const label = getFields(tag)["forceHide"] === true ? null : toLabel(tag);
      if (label !== null) tags.add(label);
    }
  }
  return [...tags].slice(0, metadataLimits.tagsMax);
}

function toLabel(value: unknown): string | null {
  const label = typeof value === "string" ? value : getFields(value)["label"];
  return toLine(label, metadataLimits.labelLengthMax);
}

function toSlug(value: unknown): string | null {
  return getMatch(value, (text) => (slugPattern.test(text) ? text : null));
}

function getImage(value: unknown): string | null {
  const { addressLengthMax } = metadataLimits;
  if (typeof value !== "string" || value.length > addressLengthMax) return null;
  return URL.canParse(value) && new URL(value).protocol === "https:" ? new URL(value).href : null;
}

/** Returns a text as one line, truncated if too long; `null` if nothing is left of it. */
function toLine(value: unknown, lengthMax: number): string | null {
  return toClean(value, lengthMax, toPlainLine);
}

function toText(value: unknown): string | null {
  return toClean(value, metadataLimits.descriptionLengthMax, toPlainText);
}

function toClean(
  value: unknown,
  lengthMax: number,
  toPlain: (text: string) => string,
): string | null {
  if (typeof value !== "string") return null;
  // Truncated first, so that a text of megabytes is not searched.
  const text = toPlain(value.slice(0, lengthMax)).trim();
  return text === "" ? null : text;
}

function toNumberText(value: unknown): string | null {
  const text = typeof value === "number" ? String(value) : value;
  return getMatch(text, (digits) => (/^[0-9]{1,20}$/.test(digits) ? digits : null));
}

/** Returns a number of dollars in micros; `null` if it is not one, or not exact. */
function toMicros(value: unknown): number | null {
  const micros = typeof value === "number" ? Math.round(value * 1e6) : -1;
  return micros >= 0 && Number.isSafeInteger(micros) ? micros : null;
}

/** Returns Unix milliseconds. A time without a zone is UTC, and a date without a time is midnight. */
function getTime(value: unknown): number | null {
  return getMatch(value, (text) => {
    const [isTime, date, time = "00:00:00", hours = "+00", minutes = "00"] =
      timePattern.exec(text) ?? [];
    if (isTime === undefined) return null;
    const ms = Date.parse(`${date}T${time}${hours}:${minutes}`);
    return ms > 0 && ms < year10000Ms ? ms : null;
  });
}

/** Returns a list of texts, which may be JSON inside a string. */
function toTexts(value: unknown): readonly string[] | null {
  const list = getList(value);
  if (list === null || list.length > metadataLimits.outcomesMax) return null;
  return list.every((item) => typeof item === "string") ? list : null;
}

function getList(value: unknown): readonly unknown[] | null {
  const { innerJsonLengthMax } = metadataLimits;
  const isText = typeof value === "string" && value.length <= innerJsonLengthMax;
  const list = isText ? tryParseJson(value) : value;
  return Array.isArray(list) ? (list as readonly unknown[]) : null;
}

function getMatch<Value>(value: unknown, read: (text: string) => Value | null): Value | null {
  if (typeof value !== "string" || value.length > metadataLimits.slugLengthMax) return null;
  return read(value);
}

function getFields(value: unknown): Fields {
  return isJsonObject(value) ? value : nothing;
}
