import { createRequire } from "node:module";
import { isatty } from "node:tty";
import { destination, type Level, type Logger, pino, stdTimeFunctions } from "pino";
import type * as PinoPretty from "pino-pretty";

/** What the code may do with a logger. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal" | "isLevelEnabled">;

/** The least important lines that are written; `silent` writes none. */
export type LogLevel = Level | "silent";

/** Fields that hold secrets, however deep they are in a line. */
const secretFields =
  /("(?:x-api-key|api_?key|authorization|cookie|set-cookie|pepper)":)"(?:[^"\\]|\\.)*"/gi;
/** Providers put the caller's secret into the path, the query or before the host. */
const secretUrls =
  /\b((?:https?|wss?|rediss?):\/\/)(?:[^\s"'\\/?#@]*@)?([^\s"'\\/?#@]*)[/?#][^\s"'\\]+/gi;
const secretLogins = /\b((?:https?|wss?|rediss?):\/\/)[^\s"'\\/?#@]*@/gi;
const secretKeys = /\b(ow_(?:read|write|admin)_)[0-9A-Za-z]{12,}(?:_[0-9A-Za-z]*)?/g;

/**
 * A line without what must not be kept: values of keys, what follows the host of a URL, fields that
 * are named like secrets. Whatever gets into a line by accident, in whatever error, passes here.
 */
export function redactLine(line: string): string {
  return line
    .replace(secretFields, '$1"***"')
    .replace(secretUrls, "$1$2/***")
    .replace(secretLogins, "$1***@")
    .replace(secretKeys, "$1***");
}

/** What every line of ours has: the time as RFC 3339 and the name of the level. */
export const lineOptions = {
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
};

const standardError = 2;

/**
 * Opens a logger that writes to standard error, immediately: nothing is lost in a crash. On a terminal lines are
 * for people, elsewhere JSON.
 */
export function openLog(options: { level: LogLevel }): Log {
  const { level } = options;
  const streamWrite = isatty(standardError) ? formatForTerminal() : redactLine;
  const output = destination({ dest: standardError, sync: true });
  return pino({ ...lineOptions, level, hooks: { streamWrite } }, output);
}

/** What nodes and clients sent may hold what terminals obey; JSON has most of it escaped. */
const controlCharacters = /\\u00[01][0-9a-f]|[\u007f-\u009f]/gi;

/** Lines for people; they overwrite the progress that may be shown there. Services do without the formatter. */
export function formatForTerminal(): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof PinoPretty;
  const format = prettyFactory({
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
    singleLine: true,
  });
  return (line) => `\r\u001B[K${format(redactLine(line).replace(controlCharacters, "\\ufffd"))}`;
}
