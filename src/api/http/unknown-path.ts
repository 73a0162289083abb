import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { nearName } from "../../base/near-name.ts";

const apiPath = /^\/+(?:api|v[0-9])\b/i;

/** Whether a browser opens a page, rather than an endpoint of the API. */
export function wantsPage({ method, url = "", headers }: IncomingMessage): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !apiPath.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
}

/** `NOT_FOUND` for a path that does not exist, with the known path that was probably meant. */
export function unknownPath(url: string, known: readonly string[]): AppError {
  const asked = wordsOf(url.replace(/\?.*/s, ""));
  // Pages of the explorer have the names of lists.
  const isApi = apiPath.test(url);
  const pathByWords = new Map(
    known.flatMap((path) => {
      if (isApi && !path.startsWith("/v1/")) return [];
      const words = wordsOf(path).map((word, at) => (word === id ? (asked[at] ?? id) : word));
      return [[words.join("/"), path] as const];
    }),
  );
  const near = nearName(asked.join("/"), pathByWords.keys());
  const path = near === null ? undefined : pathByWords.get(near);
  const guess = path === undefined ? "; see" : `; did you mean ${path}? See`;
  return new AppError("NOT_FOUND", `There is no such path${guess} /docs`);
}

/** Stands for ids and the parameters for them: neither says which path was meant. */
const id = "*";

/** What a path says, without the version, doubled slashes and ids. */
function wordsOf(path: string): string[] {
  const segments = path.split("/").filter((segment) => segment !== "");
  const start = segments.findIndex((segment) => !/^(api|v[0-9])$/i.test(segment));
  const words = start === -1 ? [] : segments.slice(start);
  return words.map((word) => (/^[a-z._-]+$/i.test(word) ? word : id));
}
