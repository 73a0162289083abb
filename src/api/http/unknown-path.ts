import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { findSynonym, nameDistance } from "../../base/near-name.ts";
import otherApis from "./other-apis.json" with { type: "json" };
import { getRootUrl } from "./static-file.ts";

const apiPath = /^\/+(?:api|v[0-9])\b/i;

/** Returns whether a browser is opening a page rather than calling the API. */
export function acceptsPage({ method, url = "", headers }: IncomingMessage): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !apiPath.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
}

/**
 * Returns where a request with a slash too many belongs: the relative URL of the known path, with the query. `null` when
 * that is unknown too, or when no slash is the reason.
 */
export function findCanonicalTarget(
  url: string | undefined,
  routes: readonly string[],
): string | null {
  const [path = "", ...query] = (url ?? "").split("?");
  const segments = path.split("/").filter((segment) => segment !== "");
  const canonical = `/${segments.join("/")}`;
  if (!path.startsWith("/") || canonical === path) return null;
  // An id that is missing between two slashes must not be replaced by what follows.
  const isTrailing = canonical === path.slice(0, -1);
  const isKnown = routes.some((one) => {
    const words = one.slice(1).split("/");
    const matches = (word: string, at: number) =>
      word === segments[at] || (isTrailing && word.startsWith("{"));
    return one === canonical || (words.length === segments.length && words.every(matches));
  });
  if (!isKnown) return null;
  return [getRootUrl(path) + segments.join("/"), ...query].join("?");
}

/**
 * Returns `NOT_FOUND` for an unknown path. Its message suggests what was probably meant. A path of the API that cannot be
 * decoded is a `VALIDATION_ERROR`.
 */
export function unknownPath(url: string | undefined, routes: readonly string[]): AppError {
  const target = url ?? "";
  if (apiPath.test(target) && !isDecodable(target.replace(/\?.*/s, "")))
    return invalid("path", "must be valid percent-encoded UTF-8");
  const requested = toWords(target.replace(/\?.*/s, ""));
  // Pages of the explorer have the same names as lists, so lists are suggested first.
  const [lists, pages] = [true, false].map((isList) =>
    routes.filter((path) => path.startsWith("/v1/") === isList),
  );
  const meant =
    findCounterpart(requested, routes) ??
    findSimilar(requested, lists ?? []) ??
    (apiPath.test(target) ? null : findSimilar(requested, pages ?? []));
  const guess = meant === null ? "; see" : `; did you mean ${meant}? See`;
  return new AppError("NOT_FOUND", `There is no such path${guess} /docs`);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function findSimilar(words: readonly string[], paths: readonly string[]): string | null {
  const pathWords = paths.flatMap(toWords);
  const requested = words.map((word) => findSynonym(word, pathWords) ?? word);
  const candidates = paths.map((path) => ({ path, words: toWords(path) }));
  // Another first word would be another thing.
  const alike = candidates.filter(({ words: [first] }) => first === requested[0]);
  const similar = (alike.length > 0 ? alike : candidates).flatMap(({ path, words: pathWords }) => {
    // An id is no part of the name, whatever it looks like.
    const name = requested.map((word, at) => (pathWords[at] === id ? id : word)).join("/");
    const distance = nameDistance(name, pathWords.join("/"));
    return distance === null ? [] : [{ path, distance }];
  });
  const [nearest] = similar.toSorted((a, b) => a.distance - b.distance);
  return nearest?.path ?? alike[0]?.path ?? null;
}

/**
 * Names in other APIs, above all Polymarket's and Kalshi's. `first_words`: by the first word of our path. `paths`: by
 * our path with the same content; `*` is an id.
 */
const { first_words: firstWords, paths } = otherApis;
const counterparts = new Map(
  Object.entries(paths).flatMap(([path, names]) =>
    names.split(" ").map((name) => [name, path] as const),
  ),
);

/** Finds the counterpart of a path by all of its words, or else by the first ones. Every second word may be an id. */
function findCounterpart(requested: readonly string[], routes: readonly string[]): string | null {
  const named = requested.map((word) => word.toLowerCase());
  const withIds = named.map((word, at) => (at % 2 === 1 ? id : word));
  for (let length = named.length; length > 0; length -= 1) {
    for (const words of [named, withIds]) {
      const meant = counterparts.get(words.slice(0, length).join("/"));
      if (meant !== undefined && routes.includes(meant.replace(/[? ].*/, ""))) return meant;
    }
  }
  return null;
}

/** Replaces ids and path parameters, because neither shows which path was meant. */
const id = "*";

/** Returns the words of a path in our terms, without prefix, version and empty segments, and with ids replaced. */
function toWords(path: string): string[] {
  const segments = path.split("/").filter((segment) => segment !== "");
  const start = segments.findIndex(
    (segment) => !/^(api|v[0-9]|trade-api|polymarket)$/i.test(segment),
  );
  const [first, ...others] = start === -1 ? [] : segments.slice(start);
  if (first === undefined) return [];
  const synonym = Object.entries(firstWords).find(([, names]) =>
    names.split(" ").includes(first.toLowerCase()),
  )?.[0];
  return [synonym ?? first, ...others].map((word) => (/^[a-z._-]+$/i.test(word) ? word : id));
}
