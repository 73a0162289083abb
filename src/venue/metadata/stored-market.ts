import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { MetadataMarket } from "./parse-market.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isTextList: Check = (value) => Array.isArray(value) && value.every(isText);
const isInteger: Check = (value) => Number.isSafeInteger(value);
const isBoolean: Check = (value) => typeof value === "boolean";

function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

const textChecks: Readonly<Record<keyof MetadataMarket["texts"], Check>> = {
  slug: orNull(isText),
  category: orNull(isText),
  tags: isTextList,
  eventId: orNull(isText),
  eventSlug: orNull(isText),
  eventTitle: orNull(isText),
  outcomeLabel: orNull(isText),
  startMs: orNull(isInteger),
  endMs: orNull(isInteger),
  image: orNull(isText),
  question: orNull(isText),
  description: orNull(isText),
};

const claimChecks: Readonly<Record<keyof MetadataMarket["claims"], Check>> = {
  questionId: orNull(isText),
  negRisk: orNull(isBoolean),
  tokenIds: orNull(isTextList),
  outcomes: orNull(isTextList),
  winnerIndex: orNull(isInteger),
};

/** Parses a market that another process has stored as JSON; returns `null` if it is invalid. */
export function parseStoredMarket(conditionId: string, json: string): MetadataMarket | null {
  const stored = tryParseJson(json);
  if (!isJsonObject(stored) || stored["conditionId"] !== conditionId) return null;
  const isRight =
    hasFields(stored["texts"], textChecks) && hasFields(stored["claims"], claimChecks);
  return isRight ? (stored as MetadataMarket) : null;
}

function hasFields(value: unknown, checks: Readonly<Record<string, Check>>): boolean {
  return isJsonObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]));
}
