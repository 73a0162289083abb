import { createRequire } from "node:module";
import { isatty } from "node:tty";
import { destination, type Level, type Logger, pino, stdTimeFunctions } from "pino";
import type * as PinoPretty from "pino-pretty";
import { escapeForTerminal } from "./plain-text.ts";

/** The logger that the code uses. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal" | "isLevelEnabled">;

/** The lowest level that is logged; `silent` logs nothing. */
export type LogLevel = Level | "silent";

const secretFields =
  /("(?:x-api-key|api_?key|authorization|cookie|set-cookie|pepper)":)"(?:[^"\\]|\\.)*"/gi;
/** URLs of providers contain the caller's secret in the path, in the query, or before the host. */
const secretUrls =
  /\b((?:https?|wss?|rediss?):\/\/)(?:[^\s"'\\/?#@]*@)?([^\s"'\\/?#@]*)[/?#][^\s"'\\]+/gi;
const secretLogins = /\b((?:https?|wss?|rediss?):\/\/)[^\s"'\\/?#@]*@/gi;
const secretKeys = /\b(ow_(?:read|write|admin)_)[0-9A-Za-z]{12,}(?:_[0-9A-Za-z]*)?/g;

/**
 * Removes secrets from a line: values of keys, user names and paths of URLs, and fields with the names of
 * secrets. Every line passes through here, because a secret can get into any error by accident.
 */
export function redactLine(line: string): string {
  return line
    .replace(secretFields, '$1"***"')
    .replace(secretUrls, "$1$2/***")
    .replace(secretLogins, "$1***@")
    .replace(secretKeys, "$1***");
}

/** Redacts a line of JSON, and escapes the characters that JSON leaves as they are and terminals obey. */
function formatForFile(line: string): string {
  return escapeForTerminal(redactLine(line));
}

/** Gives every line the time as RFC 3339 and the name of its level. */
export const lineOptions = {
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
};

const standardError = 2;

/**
 * Opens a logger that writes to standard error synchronously, so that no line is lost in a crash. Lines are formatted
 * for people on a terminal, and are JSON elsewhere.
 */
export function openLog(options: { level: LogLevel }): Log {
  const { level } = options;
  const streamWrite = isatty(standardError) ? formatForTerminal() : formatForFile;
  const output = destination({ dest: standardError, sync: true });
  return pino({ ...lineOptions, level, hooks: { streamWrite } }, output);
}

/**
 * Escapes in JSON of characters that terminals obey. Texts of nodes and clients can contain them. The ends of lines
 * within a stack are kept.
 */
const obeyedEscapes =
  /(?<=(?<!\\)(?:\\\\)*)\\(?:u(?:00[01][0-9a-f]|007f|00[89][0-9a-f]|061c|20[0-6][0-9a-f])|[bfr]|n(?! {4}at |caused by: ))/g;

/** Returns a formatter for terminals. A line overwrites a progress display. The package is loaded only here. */
export function formatForTerminal(): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof PinoPretty;
  const format = prettyFactory({
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
    singleLine: true,
  });
  return (line) => `\r\u001B[K${format(formatForFile(line).replace(obeyedEscapes, "\\ufffd"))}`;
}
