import { destination, type Level, type Logger, pino } from "pino";

/** What the code may do with a logger; a child carries its bindings on every line. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal" | "isLevelEnabled"> & {
  child(bindings: Readonly<Record<string, unknown>>): Log;
};

/** The least important lines that are written; `silent` writes none. */
export type LogLevel = Level | "silent";

/** Fields that hold secrets, however deep they stand in a line. */
const secretFields =
  /("(?:x-api-key|api_?key|authorization|cookie|set-cookie|pepper)":)"(?:[^"\\]|\\.)*"/gi;
/** Providers put the caller's secret into the path, the query or before the host. */
const secretUrls = /\b((?:https?|wss?):\/\/)(?:[^\s"'\\/?#@]*@)?([^\s"'\\/?#@]*)[/?#][^\s"'\\]+/gi;
const secretKeys = /\b(ow_(?:read|write|admin)_)[0-9A-Za-z]{12,}(?:_[0-9A-Za-z]*)?/g;

/**
 * A line without what must not be kept: values of keys, what follows the host of a URL, fields that
 * are named like secrets. Whatever gets into a line by accident, in whatever error, passes here.
 */
export function redactLine(line: string): string {
  return line
    .replace(secretFields, '$1"***"')
    .replace(secretUrls, "$1$2/***")
    .replace(secretKeys, "$1***");
}

/** Opens a logger that writes JSON lines to standard error, immediately: nothing is lost in a crash. */
export function openLog(options: { level: LogLevel }): Log {
  const { level } = options;
  return pino({ level, hooks: { streamWrite: redactLine } }, destination({ dest: 2, sync: true }));
}
