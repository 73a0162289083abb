import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { findSynonym, nearName } from "../../base/near-name.ts";

const apiPath = /^\/+(?:api|v[0-9])\b/i;

/** Returns whether a browser is opening a page rather than calling the API. */
export function wantsPage({ method, url = "", headers }: IncomingMessage): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !apiPath.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Returns `NOT_FOUND` for an unknown path. Its message suggests the most similar known path. */
export function unknownPath(url: string, known: readonly string[]): AppError {
  const knownWords = known.flatMap(toWords);
  const requested = toWords(url.replace(/\?.*/s, "")).map(
    (word) => findSynonym(word, knownWords) ?? word,
  );
  // Pages of the explorer have the same names as lists, so they are not suggested to API clients.
  const isApi = apiPath.test(url);
  const pathByWords = new Map(
    known.flatMap((path) => {
      if (isApi && !path.startsWith("/v1/")) return [];
      const words = toWords(path).map((word, at) => (word === id ? (requested[at] ?? id) : word));
      return [[words.join("/"), path] as const];
    }),
  );
  const near = nearName(requested.join("/"), pathByWords.keys());
  const path = near === null ? undefined : pathByWords.get(near);
  const guess = path === undefined ? "; see" : `; did you mean ${path}? See`;
  return new AppError("NOT_FOUND", `There is no such path${guess} /docs`);
}

/** Replaces ids and path parameters, because neither shows which path was meant. */
const id = "*";

/** Returns the words of a path, without version and empty segments, and with ids replaced. */
function toWords(path: string): string[] {
  const segments = path.split("/").filter((segment) => segment !== "");
  const start = segments.findIndex((segment) => !/^(api|v[0-9])$/i.test(segment));
  const words = start === -1 ? [] : segments.slice(start);
  return words.map((word) => (/^[a-z._-]+$/i.test(word) ? word : id));
}
