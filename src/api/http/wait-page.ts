import { type AppError, type ErrorCode, errorTable } from "../../base/errors.ts";
import { inlineHash, pagePolicy } from "./static-file.ts";

/** What people need to know about the errors that pass. */
const reasons: Partial<Record<ErrorCode, string>> = {
  RATE_LIMITED:
    "All pages that are opened from your IP address share one limit, and this minute's is used up. Other people can have the same address.",
  IP_BLOCKED:
    "It sent too many requests or invalid keys. An administrator of this service can remove the block.",
  SERVICE_UNAVAILABLE: "The service is starting, stopping or overloaded.",
};

/** Not sooner, so that all tabs of an office together stay far below what counts as abuse. */
const waitSecondsMin = 5;
/** The tabs of an office reload within this time, rather than all in the second in which one of them may. */
const spreadSeconds = 10;

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}small{opacity:.7}";

/** `refresh` would not reload an address with a fragment, which can contain a key. */
const script = "setTimeout(()=>location.reload(),document.documentElement.dataset.waitMs)";

/** The headers of the page in place of those of the error. */
export const waitPageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": pagePolicy([
    `script-src ${inlineHash(script)}`,
    `style-src ${inlineHash(style)}`,
    // Without an icon of its own, the page would cost another request.
    "img-src data:",
  ]),
} as const;

/**
 * Returns the page that a person gets in place of an error that passes; `null` for all other errors. It reloads
 * automatically, and contains nothing from the request but its id.
 */
export function getWaitPage(
  { code, retryAfterSeconds }: AppError,
  requestId: string,
): string | null {
  const reason = reasons[code];
  if (reason === undefined || retryAfterSeconds === null) return null;
  const spread = Math.ceil(Math.random() * spreadSeconds);
  const waitSeconds = Math.max(retryAfterSeconds, waitSecondsMin) + spread;
  const { message, status } = errorTable[code];
  return `<!doctype html>
<html lang="en" data-wait-ms="${waitSeconds * 1000}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${message}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<script>${script}</script>
<noscript><meta http-equiv="refresh" content="${waitSeconds}"></noscript>
</head>
<body>
<h1>${message}</h1>
<p>${reason}</p>
<p>This page loads again automatically in ${toDuration(waitSeconds)}.</p>
<p><small>${status} ${code}, request ${requestId}</small></p>
</body>
</html>
`;
}

function toDuration(seconds: number): string {
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
