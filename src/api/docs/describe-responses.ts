import { isAdministrative, takesNoKey } from "../../access/admission.ts";
import { type ErrorCode, errorTable } from "../../base/errors.ts";
import { getMediaType, type Route } from "../route/route.ts";
import type { Content, Header, JsonSchema, Reference, Response } from "./api-document.ts";
import { describeSchema, refTo } from "./describe-schema.ts";
import sampleAnswers from "./sample-answers.json" with { type: "json" };

/** Sample responses by operation id. `test/tidy/sample-answers.ts` makes them. */
const samples: Readonly<Record<string, unknown>> = sampleAnswers;

type Headers = Readonly<Record<string, Header>>;

/** Headers of every response, set by `answer-headers.ts`. */
const everyHeader: Headers = {
  "X-Request-Id": text("The id that the request sent, if it was valid; otherwise a new UUID", {
    pattern: "^[A-Za-z0-9._-]{1,128}$",
  }),
  "X-RateLimit-Limit": integer("Requests allowed in any 60 seconds", { minimum: 1 }),
  "X-RateLimit-Remaining": integer("Requests left now", { minimum: 0 }),
  "X-RateLimit-Reset": integer("Seconds until the window frees the next request", {
    minimum: 0,
    maximum: 60,
  }),
  "RateLimit-Policy": text("The limit as in the IETF draft: q requests in any w seconds", {
    pattern: '^"default";q=[0-9]+;w=60$',
  }),
  RateLimit: text("The same: r requests left, and t seconds until the window frees the next", {
    pattern: '^"default";r=[0-9]+;t=[0-9]+$',
  }),
  "Cache-Control": text("no-store, or how many seconds the response may be cached", {
    pattern: "^(no-store|private, max-age=[0-9]+)$",
  }),
  Vary: text("Request headers that the response depends on"),
  "Strict-Transport-Security": text("HTTPS only, for two years"),
  "Content-Security-Policy": text("What a page may load; nothing, for JSON"),
  "X-Frame-Options": only("The response must not be shown in a frame", "DENY"),
  "X-Content-Type-Options": only("Content-Type must not be guessed", "nosniff"),
  "Referrer-Policy": only("Links send no referrer", "no-referrer"),
};

const linkHeader = optional({
  Link: text("The next page, as a URL relative to this one; absent on the last page", {
    pattern: '^<[^>]+>; rel="next"$',
  }),
});

/** Further headers of exports, set by `bulk-answers.ts`. */
const bulkHeader = optional({
  "Content-Disposition": text("File name of the export"),
  "X-Row-Cap": integer("Most rows of one export"),
  "X-Row-Count": integer("Rows of this export; also a trailer over HTTP/1.1", { minimum: 0 }),
  Trailer: only(
    "What follows the body over HTTP/1.1: the SHA-256 and the rows",
    "Content-Digest, X-Row-Count",
  ),
  "X-Truncated-At-Start": only(
    "The request reaches before the first indexed block, so older rows are missing; else absent",
    "true",
  ),
  "X-Rows-Truncated": text("Whether rows were left out because of the row cap", {
    enum: ["true", "false"],
  }),
  "X-Next-Cursor": text(
    "Send it as cursor to get the rows that were left out; absent if there are none",
  ),
});

/** Header of responses that can be compressed, set by `gzip.ts`. */
const packedHeader = optional({
  "Content-Encoding": only("gzip, for long responses to clients that accept it", "gzip"),
});

/** Further headers of files. */
const fileHeader: Headers = {
  "Accept-Ranges": only("Parts of the file can be requested", "bytes"),
  "Last-Modified": text("When the file was written"),
};

const rangeHeader: Headers = {
  "Content-Range": text("The bytes of the response, and the length of the file", {
    pattern: "^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$",
  }),
};

/** The headers under `components.headers` of the document. */
export const describedHeaders: Headers = {
  ...everyHeader,
  ...linkHeader,
  ...bulkHeader,
  ...packedHeader,
  ...fileHeader,
  ...rangeHeader,
  Upgrade: only("The protocol of the connection from now on", "websocket"),
  "WWW-Authenticate": text("How to send a key"),
  ...optional({
    "Retry-After": integer("Seconds to wait before retrying", { minimum: 1 }),
    ETag: text(
      "Version of the response without its meta; send it as If-None-Match to get 304 if unchanged",
      { pattern: '^W/"[A-Za-z0-9_-]+"$' },
    ),
  }),
};

/** Describes the responses of an operation by status, with its error responses as components. */
export function describeResponses(operationId: string, route: Route) {
  const { isFile, isBulk, isTagged, upgrade: to, statuses = [200], querystring } = route;
  const responses: Record<string, Response | Reference> = {};
  const errors: Record<string, Response> = {};
  // The headers of responses that clients can keep.
  const kept = {
    ...((isFile || isTagged) && { ETag: null }),
    ...(isFile && fileHeader),
    ...("cursor" in querystring.properties && linkHeader),
  };
  const schema = describeSchema(route.response);
  const success: Response = {
    description: route.summary,
    headers: refsTo(everyHeader, packedHeader, kept, isBulk ? bulkHeader : {}),
    content: { [getMediaType(route)]: { schema, example: samples[operationId] } },
  };
  const switching: Response = {
    description: "The connection is a WebSocket from now on; the description lists its frames",
    headers: refsTo(everyHeader, { Upgrade: null }),
    content: {},
  };
  for (const status of statuses) responses[status] = to === undefined ? success : switching;
  if (isFile) {
    const headers = { ...success.headers, ...refsTo(rangeHeader) };
    responses[206] = { ...success, description: "The requested bytes of the file", headers };
  }
  if (isFile || isTagged)
    responses[304] = {
      description: "Not modified: the response you have is current",
      headers: refsTo(everyHeader, kept),
      content: {},
    };
  for (const [status, codes] of Map.groupBy(getErrors(route), (code) => errorTable[code].status)) {
    const name = codes.join(".");
    responses[status] = refTo("responses", name);
    errors[name] = describeErrors(codes);
  }
  return { responses, components: errors };
}

/** Returns the error codes of a route, in the order of `errorTable`, without 405, which any path can return. */
function getErrors({ method, access, params, querystring, body, errors = [] }: Route): ErrorCode[] {
  const possible = new Set<ErrorCode>([
    "VALIDATION_ERROR",
    "IP_BLOCKED",
    "RATE_LIMITED",
    "INTERNAL_ERROR",
    ...errors,
  ]);
  if (access === "probe") possible.delete("IP_BLOCKED");
  if (!takesNoKey(access)) possible.add("UNAUTHORIZED").add("SERVICE_UNAVAILABLE");
  if (isAdministrative(access)) possible.add("FORBIDDEN");
  if ("cursor" in querystring.properties) possible.add("INVALID_CURSOR");
  // A path can name what is unknown, and one whose parameter is not valid UTF-8 does not exist.
  if (Object.keys(params.properties).length > 0) possible.add("NOT_FOUND");
  if (body !== undefined) possible.add("PAYLOAD_TOO_LARGE");
  // Fastify checks the content type for every method that can have a body, even when none is sent.
  if (method !== "GET") possible.add("UNSUPPORTED_MEDIA_TYPE");
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => possible.has(code));
}

function describeErrors(codes: readonly ErrorCode[]): Response {
  const examples = codes.map((code) => {
    const error = { code, message: errorTable[code].message, request_id: "trace-1" };
    return [code, { value: { error } }] as const;
  });
  const content: Content = {
    "application/json": {
      schema: refTo("schemas", "Error"),
      examples: Object.fromEntries(examples),
    },
  };
  return {
    description: codes.map((code) => `${code}: ${errorTable[code].message}`).join("; "),
    headers: refsTo(everyHeader, {
      ...(codes.some((code) => errorTable[code].retryable) && { "Retry-After": null }),
      ...(codes.includes("UNAUTHORIZED") && { "WWW-Authenticate": null }),
      ...(codes.includes("RANGE_NOT_SATISFIABLE") && rangeHeader),
    }),
    content,
  };
}

function optional(headers: Headers): Headers {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, one]) => [name, { ...one, required: false }]));
}

/** Returns references to headers, by their names. */
function refsTo(...headers: readonly object[]): Record<string, Reference> {
  const names = headers.flatMap((one) => Object.keys(one));
  return Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));
}

function text(description: string, rest: JsonSchema = {}): Header {
  return { description, required: true, schema: { type: "string", ...rest } };
}

function integer(description: string, rest: JsonSchema = {}): Header {
  return { description, required: true, schema: { type: "integer", ...rest } };
}

function only(description: string, value: string): Header {
  return { description, required: true, schema: { const: value } };
}
