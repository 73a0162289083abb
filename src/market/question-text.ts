/**
 * Parses the texts of markets on the chain. Anyone can write them, and only convention defines their
 * formats. No function throws: fields of bytes in an unknown format are `null`. The marks that separate
 * fields are ASCII, so splitting the decoded string is the same as splitting the bytes.
 */

import { isUtf8 } from "node:buffer";
import { isJsonObject, tryParseJson } from "../base/json.ts";
import { toPlainLine, toPlainText } from "../base/plain-text.ts";

/**
 * The fields of a question's text, without control characters. A title is one line. Labels are trimmed, other fields
 * are not.
 */
export type QuestionText = {
  readonly title: string | null;
  readonly description: string | null;
  /** The labels of outcome 0 and outcome 1. */
  readonly outcomes: readonly [string, string] | null;
};

/** The fields of a neg-risk market's metadata. `eventId` is its id in the venue's market metadata. */
export type EventText = {
  readonly title: string | null;
  readonly eventId: string | null;
};

/**
 * The longest text that adapters accept, with what they append. The chain does not limit neg-risk
 * metadata, but each of its questions repeats the metadata in a text that is limited.
 */
const textBytesMax = 8139;

/** The longest rules of Protocol V2 that are parsed. Its reporter accepts 8,139 bytes, but can be upgraded. */
const rulesBytesMax = 65_536;

/** A text in no known format, up to this many characters, is taken as a title. */
const bareTitleCharsMax = 256;

const noQuestion: QuestionText = { title: null, description: null, outcomes: null };

/** Parses the UMA text of a question, of any adapter version. */
export function parseQuestionText(bytes: Uint8Array): QuestionText {
  const text = decodeText(bytes);
  return text === null ? noQuestion : parseQuestion(text);
}

/** Parses the metadata of a neg-risk market: `title: T, description: D, id: N`. */
export function parseEventText(bytes: Uint8Array): EventText {
  const titled = splitTitle(decodeText(bytes) ?? "");
  if (titled === null) return { title: null, eventId: null };
  const [, eventId = null] = /, id: ([0-9]{1,20})$/.exec(titled.rest) ?? [];
  return { title: titled.title, eventId };
}

/**
 * Parses the data of a neg-risk question. The chain does not define its format, so this accepts UMA
 * text, its title and description alone, JSON with a title, and a bare title.
 */
export function parseNegRiskQuestionText(bytes: Uint8Array): QuestionText {
  const text = decodeText(bytes);
  if (text === null) return noQuestion;
  const question = parseJsonQuestion(text) ?? parseQuestion(text);
  const isBareTitle = text.length <= bareTitleCharsMax && text.trim() !== "";
  return question.title === null && isBareTitle
    ? { ...question, title: toPlainLine(text) }
    : question;
}

/**
 * Parses the rules of a question of Protocol V2: JSON with `title`, `description` and `res_data`, among other fields;
 * else UMA text. Of a field that is repeated the last one counts, as for every reader of JSON.
 */
export function parseRules(bytes: Uint8Array): QuestionText {
  const text = decodeText(bytes, rulesBytesMax);
  if (text === null) return noQuestion;
  const json = parseStampedJson(text);
  if (json === null) return parseQuestion(text);
  const { title, description, res_data: resolution } = json;
  const outcomes = typeof resolution === "string" ? parseOutcomes(resolution.toWellFormed()) : null;
  return {
    title: textOrNull(title, toPlainLine),
    description: textOrNull(description, toPlainText),
    outcomes,
  };
}

/** Parses a later addition to the rules of a question: JSON with a description, or plain text; `null` for no text. */
export function parseRulesUpdate(bytes: Uint8Array): string | null {
  const text = decodeText(bytes, rulesBytesMax);
  if (text === null) return null;
  const json = parseStampedJson(text);
  return textOrNull(json === null ? text : json["description"], toPlainText);
}

/** Decodes bytes as plain text; `null` when they are not UTF-8 or are longer than `bytesMax`, by default what adapters accept. */
export function decodeText(bytes: Uint8Array, bytesMax = textBytesMax): string | null {
  if (bytes.length > bytesMax || !isUtf8(bytes)) return null;
  return toPlainText(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
}

/** Parses `q: title: T, description: D market_id: N res_data: R,initializer:A`, from both ends inward. */
function parseQuestion(text: string): QuestionText {
  // From version 2 on, adapters append their caller at the end, without `0x`.
  const body = text.replace(/,initializer:[0-9a-fA-F]{40}$/, "");
  const titled = splitTitle(body.startsWith("q: ") ? body.slice(3) : body);
  if (titled === null) return noQuestion;
  const { title, rest } = titled;
  const [, beforeMark, resolution] = /^(.*)res_data:(.*)$/s.exec(rest) ?? [];
  if (beforeMark === undefined || resolution === undefined) {
    return { ...noQuestion, title, description: rest };
  }
  // Texts have a space before `res_data:`; some early ones a comma and a space.
  const before = beforeMark.replace(/,? $/, "");
  // A description can contain `market_id:` too. It is the mark only if nothing but digits follows.
  const description = before.replace(/ market_id: [0-9]{1,20}$/, "");
  return { title, description, outcomes: parseOutcomes(resolution) };
}

/** Splits at the first `, description: `. Later ones belong to the description, which can quote the mark. */
function splitTitle(text: string): { title: string; rest: string } | null {
  const [, title, rest] = /^title: (.*?), description: (.*)$/s.exec(text) ?? [];
  if (title === undefined || rest === undefined || title.trim() === "") return null;
  return { title: toPlainLine(title), rest };
}

/**
 * Parses the labels in the sentence that maps prices to outcomes. The contracts pay outcome 0 at price 1
 * and outcome 1 at price 0, so prices in any other order are an unknown format.
 */
function parseOutcomes(resolution: string): readonly [string, string] | null {
  if (!resolution.trimStart().startsWith("p1: 0, p2: 1, p3: 0.5")) return null;
  const usual = textsBetween(resolution, ["Where p1 corresponds to ", ", p2 to ", ", p3 to "]);
  if (usual !== null) return toLabels(usual[1], usual[0]);
  const swapped = textsBetween(resolution, ["Where p2 corresponds to ", ", p1 to ", ", p3 to "]);
  return toLabels(swapped?.[0], swapped?.[1]);
}

/**
 * Returns the texts between these marks, each at its first occurrence after the previous one; `null` if one is missing.
 * A regular expression would backtrack over every occurrence of every mark, and anyone can write thousands of them.
 */
function textsBetween(text: string, marks: readonly string[]): string[] | null {
  const texts: string[] = [];
  let rest = text;
  for (const mark of marks) {
    const at = rest.indexOf(mark);
    if (at < 0) return null;
    texts.push(rest.slice(0, at));
    rest = rest.slice(at + mark.length);
  }
  return texts.slice(1);
}

function toLabels(first = "", second = ""): readonly [string, string] | null {
  const [one, other] = [first, second].map((label) => toPlainLine(label).trim());
  return one && other ? [withoutArticle(one), withoutArticle(other)] : null;
}

/** Removes the article of early texts, such as "p2 corresponds to Yes, p1 to a No". */
function withoutArticle(label: string): string {
  return label === "a Yes" || label === "a No" ? label.slice(2) : label;
}

/** Parses a JSON object, after which oracles append stamps such as `,ooRequester:A,childChainId:137` when they hash it. */
function parseStampedJson(text: string): Readonly<Record<string, unknown>> | null {
  const end = text.lastIndexOf("}") + 1;
  const isStamped = /^(?:,[A-Za-z]+:[0-9A-Za-z]+)*\s*$/.test(text.slice(end));
  const json = isStamped ? tryParseJson(text.slice(0, end).trim()) : null;
  return isJsonObject(json) ? json : null;
}

function parseJsonQuestion(text: string): QuestionText | null {
  const json = tryParseJson(text);
  if (!isJsonObject(json) || !("title" in json)) return null;
  const { title, description } = json;
  return {
    ...noQuestion,
    title: textOrNull(title, toPlainLine),
    description: textOrNull(description, toPlainText),
  };
}

/** JSON can contain escaped control characters and lone surrogates. `null` for a blank text. */
function textOrNull(value: unknown, toPlain: (text: string) => string): string | null {
  const text = typeof value === "string" ? toPlain(value) : "";
  return text.trim() === "" ? null : text;
}
