import type { Body } from "../rpc/response-body.ts";
import type { ParsedLogs } from "./parse-log.ts";
import { scanLogs } from "./scan-logs.ts";

/** Smaller answers are not worth learning how their logs are written. */
const scannedBytesMin = 16 * 1024;
const listOfLogs = '"result":[{';
/** Stands for the logs while the rest is parsed. */
const placeholder = "the logs of this answer";

/**
 * The JSON of an answer, with `ParsedLogs` as the result of the call whose logs are most of a large
 * one: the body is theirs then, and else released. Throws a `SyntaxError`.
 */
export function parseBody(body: Body, scannedMin = scannedBytesMin): unknown {
  const scanned = body.bytes.length < scannedMin ? undefined : parseAround(body);
  if (scanned !== undefined) return scanned;
  try {
    return JSON.parse(body.bytes.toString("utf8")) as unknown;
  } finally {
    body.release();
  }
}

/** `undefined` when the logs are not found to be the result of a call. */
function parseAround(body: Body): unknown {
  const { bytes } = body;
  const start = bytes.indexOf(listOfLogs);
  if (start === -1) return undefined;
  const bracket = start + listOfLogs.length - 2;
  const scan = scanLogs(body, bracket);
  if (scan === null) return undefined;
  const before = bytes.toString("utf8", 0, bracket);
  const after = bytes.toString("utf8", scan.end);
  // Without an escape, a text is the placeholder only where that can be read.
  if (isMisleading(before) || isMisleading(after)) return undefined;
  const value: unknown = JSON.parse(`${before}"${placeholder}"${after}`);
  return putLogs(value, scan.logs) ? value : undefined;
}

/** Puts the logs where the placeholder is the result of a call; a name may only look like `result`. */
function putLogs(value: unknown, logs: ParsedLogs): boolean {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const item of items) {
    const isReply = typeof item === "object" && item !== null && "result" in item;
    if (!isReply || item.result !== placeholder) continue;
    item.result = logs;
    return true;
  }
  return false;
}

function isMisleading(text: string): boolean {
  return text.includes("\\") || text.includes(placeholder);
}
