import { destination, type Level, type Logger, pino } from "pino";

/** What the code may do with a logger; a child carries its bindings on every line. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal"> & {
  child(bindings: Readonly<Record<string, unknown>>): Log;
};

/** The least important lines that are written; `silent` writes none. */
export type LogLevel = Level | "silent";

/** Secrets that reach a log line by accident, as a field or one level down. */
const redactedPaths = [
  "apiKey",
  "*.apiKey",
  'headers["x-api-key"]',
  '*.headers["x-api-key"]',
  "headers.authorization",
  "*.headers.authorization",
  "headers.cookie",
  "*.headers.cookie",
];

/** Opens a logger that writes JSON lines to standard error, at once: nothing is lost in a crash. */
export function openLog(options: { level: LogLevel }): Log {
  const { level } = options;
  return pino({ level, redact: redactedPaths }, destination({ dest: 2, sync: true }));
}
