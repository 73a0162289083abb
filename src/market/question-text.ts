/**
 * The text of markets as the chain holds it: written by anyone, in forms that only habit fixes.
 * All here is total: bytes that do not follow a form give `null` fields, never an exception. The
 * commit records below are ASCII, so cutting the decoded string cuts exactly where the bytes would be cut.
 */

import { isUtf8 } from "node:buffer";
import { type Address, parseAddress } from "../base/ids.ts";
import { isJsonObject, tryParseJson } from "../base/json.ts";

/** What a question's text says; each field exactly as written, neither trimmed nor cleaned. */
export type QuestionText = {
  readonly title: string | null;
  readonly description: string | null;
  /** The labels of outcome 0 and outcome 1. */
  readonly outcomes: readonly [string, string] | null;
  /** The market's id in the venue's market metadata, digits. */
  readonly marketId: string | null;
  /** Who called the adapter, when the text ends as version 2 and later let it end. */
  readonly initializer: Address | null;
};

/** What a neg-risk market's metadata says. `eventId` is its id in the venue's market metadata. */
export type EventText = {
  readonly title: string | null;
  readonly description: string | null;
  readonly eventId: string | null;
};

/**
 * The longest text the adapters accept, their own ending included. Neg-risk metadata has no such
 * limit on the chain, but each of its questions repeats it in a text that has.
 */
const textBytesMax = 8139;

/** A text that follows no form is believed to be a bare title up to this many characters. */
const bareTitleCharsMax = 256;

const noQuestion: QuestionText = {
  title: null,
  description: null,
  outcomes: null,
  marketId: null,
  initializer: null,
};

/** Reads the UMA text of a question, of any adapter version. */
export function parseQuestionText(bytes: Uint8Array): QuestionText {
  const text = decodeText(bytes);
  return text === null ? noQuestion : parseQuestion(text);
}

/** Reads the metadata of a neg-risk market: `title: T, description: D, id: N`. */
export function parseEventText(bytes: Uint8Array): EventText {
  const titled = splitTitle(decodeText(bytes) ?? "");
  if (titled === null) return { title: null, description: null, eventId: null };
  const { title, rest } = titled;
  const [, description = rest, eventId = null] = /^(.*), id: ([0-9]{1,20})$/s.exec(rest) ?? [];
  return { title, description, eventId };
}

/**
 * Reads the data of a neg-risk question. Nothing on the chain fixes its form, so UMA text, or
 * only its title and description, JSON with a title, and a bare title are all understood.
 */
export function parseNegRiskQuestionText(bytes: Uint8Array): QuestionText {
  const text = decodeText(bytes);
  if (text === null) return noQuestion;
  const question = parseJsonQuestion(text) ?? parseQuestion(text);
  const isBareTitle = text.length <= bareTitleCharsMax && text.trim() !== "";
  return question.title === null && isBareTitle ? { ...question, title: text } : question;
}

/** The text of some bytes; `null` when they are not UTF-8 or longer than the chain allows. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.length > textBytesMax || !isUtf8(bytes)) return null;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** `q: title: T, description: D market_id: N res_data: R,initializer:A`, from the outside in. */
function parseQuestion(text: string): QuestionText {
  // The adapter appends its caller, lower-case and without `0x`, as the last thing.
  const [, body = text, digits = ""] = /^(.*),initializer:([0-9a-fA-F]{40})$/s.exec(text) ?? [];
  const initializer = parseAddress(`0x${digits}`);
  const titled = splitTitle(body.startsWith("q: ") ? body.slice(3) : body);
  if (titled === null) return { ...noQuestion, initializer };
  const { title, rest } = titled;
  const [, beforeMark, resolution] = /^(.*)res_data:(.*)$/s.exec(rest) ?? [];
  if (beforeMark === undefined || resolution === undefined) {
    return { ...noQuestion, title, description: rest, initializer };
  }
  // Texts put one space before the mark; some early ones a comma and a space.
  const before = beforeMark.replace(/,? $/, "");
  // A description may hold the mark too: only digits up to its very end make it one.
  const known = /^(.*) market_id: ([0-9]{1,20})$/s.exec(before);
  const [, description = before, marketId = null] = known ?? [];
  return { title, description, outcomes: parseOutcomes(resolution), marketId, initializer };
}

/** The title ends at the first mark of a description: a description may quote the mark. */
function splitTitle(text: string): { title: string; rest: string } | null {
  const [, title, rest] = /^title: (.*?), description: (.*)$/s.exec(text) ?? [];
  if (title === undefined || rest === undefined || title.trim() === "") return null;
  return { title, rest };
}

/**
 * The labels in the sentence that ties prices to outcomes. The contracts pay outcome 0 at price 1
 * and outcome 1 at price 0, so prices in any other order are a form we do not know.
 */
function parseOutcomes(resolution: string): readonly [string, string] | null {
  if (!resolution.trimStart().startsWith("p1: 0, p2: 1, p3: 0.5")) return null;
  const usual = textsBetween(resolution, ["Where p1 corresponds to ", ", p2 to ", ", p3 to "]);
  if (usual !== null) return labelsOf(usual[1], usual[0]);
  const swapped = textsBetween(resolution, ["Where p2 corresponds to ", ", p1 to ", ", p3 to "]);
  return labelsOf(swapped?.[0], swapped?.[1]);
}

/**
 * What is between these marks, each taken where it first follows the one before; `null` if one is absent.
 * A pattern with a gap for each text would try every place of every mark, and anyone can write them thousands of times.
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

function labelsOf(first = "", second = ""): readonly [string, string] | null {
  if (first.trim() === "" || second.trim() === "") return null;
  return [withoutArticle(first), withoutArticle(second)];
}

/** Early texts say "p2 corresponds to Yes, p1 to a No". */
function withoutArticle(label: string): string {
  return label === "a Yes" || label === "a No" ? label.slice(2) : label;
}

function parseJsonQuestion(text: string): QuestionText | null {
  const json = tryParseJson(text);
  if (!isJsonObject(json) || !("title" in json)) return null;
  const { title, description } = json;
  return { ...noQuestion, title: textOrNull(title), description: textOrNull(description) };
}

/** JSON can spell half a surrogate pair, which no UTF-8 output could carry. */
function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.toWellFormed() : null;
}
