import { parseJson } from "../../base/json.ts";
import type { ParsedLogs } from "./parse-log.ts";
import type { Body } from "./response-body.ts";
import { scanLogs } from "./scan-logs.ts";

/** In smaller answers, learning the layout of the logs does not pay off. */
const scannedBytesMin = 16 * 1024;
const listOfLogs = '"result":[{';
/** Replaces the logs while the rest is parsed. */
const placeholder = "the logs of this answer";

/**
 * Parses the JSON of an answer. In a large answer, the first list of logs becomes `ParsedLogs`, which own the body from
 * then on. Otherwise the body is released. `undefined` if it is not JSON.
 */
export function parseBody(body: Body, scannedMin = scannedBytesMin): unknown {
  const scanned = body.bytes.length < scannedMin ? undefined : parseAround(body);
  if (scanned !== undefined) return scanned;
  const value = tryParse(body.bytes.toString("utf8"));
  body.release();
  return value;
}

/** Parses an answer around its scanned logs; `undefined` when these are not the result of a call. */
function parseAround(body: Body): unknown {
  const { bytes } = body;
  const start = bytes.indexOf(listOfLogs);
  if (start === -1) return undefined;
  const bracket = start + listOfLogs.length - 2;
  const scan = scanLogs(body, bracket);
  if (scan === null) return undefined;
  const before = bytes.toString("utf8", 0, bracket);
  const after = bytes.toString("utf8", scan.end);
  // Without escapes, a string equals the placeholder only if its bytes do.
  if (isMisleading(before) || isMisleading(after)) return undefined;
  const value = tryParse(`${before}"${placeholder}"${after}`);
  return putLogs(value, scan.logs) ? value : undefined;
}

/** Puts the logs in place of the placeholder if it is the result of a call, and not a deeper member of that name. */
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

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isMisleading(text: string): boolean {
  return text.includes("\\") || text.includes(placeholder);
}
