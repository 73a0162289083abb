import { isAdministrative, takesNoKey } from "../../access/admission.ts";
import { type ErrorCode, errorTable } from "../../base/errors.ts";
import { getMediaType, type Route } from "../route/route.ts";
import type { Content, Header, Reference, Response } from "./api-document.ts";
import { describeSchema, refTo } from "./describe-schema.ts";
import sampleAnswers from "./sample-answers.json" with { type: "json" };

/** Sample responses by operation id. `test/tidy/sample-answers.ts` makes them. */
const samples: Readonly<Record<string, unknown>> = sampleAnswers;

/** Headers of every response, set by `answer-headers.ts`. */
const everyHeader: Readonly<Record<string, Header>> = {
  "X-Request-Id": header("The id that the request sent, if it was valid; otherwise a new UUID", {
    type: "string",
    pattern: "^[A-Za-z0-9._-]{1,128}$",
  }),
  "X-RateLimit-Limit": header("Requests allowed in any 60 seconds", {
    type: "integer",
    minimum: 1,
  }),
  "X-RateLimit-Remaining": header("Requests left now", { type: "integer", minimum: 0 }),
  "X-RateLimit-Reset": header("Seconds until the window frees the next request", {
    type: "integer",
    minimum: 0,
    maximum: 60,
  }),
  "RateLimit-Policy": header("The limit as in the IETF draft: q requests in any w seconds", {
    type: "string",
    pattern: '^"default";q=[0-9]+;w=60$',
  }),
  RateLimit: header("The same: r requests left, and t seconds until the window frees the next", {
    type: "string",
    pattern: '^"default";r=[0-9]+;t=[0-9]+$',
  }),
  "Cache-Control": header("no-store, or how many seconds the response may be cached", {
    type: "string",
    pattern: "^(no-store|private, max-age=[0-9]+)$",
  }),
  Vary: header("Request headers that the response depends on", { type: "string" }),
  "Strict-Transport-Security": header("HTTPS only, for two years", { type: "string" }),
  "Content-Security-Policy": header("What a page may load; nothing, for JSON", { type: "string" }),
  "X-Frame-Options": header("The response must not be shown in a frame", { const: "DENY" }),
  "X-Content-Type-Options": header("Content-Type must not be guessed", { const: "nosniff" }),
  "Referrer-Policy": header("Links send no referrer", { const: "no-referrer" }),
};

const linkHeader: Readonly<Record<string, Header>> = optional({
  Link: header("The next page, as a URL relative to this one; absent on the last page", {
    type: "string",
    pattern: '^<[^>]+>; rel="next"$',
  }),
});

/** Further headers of exports, set by `bulk-answers.ts`. */
const bulkHeader: Readonly<Record<string, Header>> = optional({
  "Content-Disposition": header("File name of the export", { type: "string" }),
  "X-Row-Cap": header("Most rows of one export", { type: "integer" }),
  "X-Row-Count": header("Rows of this export; also a trailer over HTTP/1.1", {
    type: "integer",
    minimum: 0,
  }),
  Trailer: header("What follows the body over HTTP/1.1: the SHA-256 and the rows", {
    const: "Content-Digest, X-Row-Count",
  }),
  "X-Truncated-At-Start": header(
    "The request reaches before the first indexed block, so older rows are missing; else absent",
    { const: "true" },
  ),
  "X-Rows-Truncated": header("Whether rows were left out because of the row cap", {
    type: "string",
    enum: ["true", "false"],
  }),
  "X-Next-Cursor": header(
    "Send it as cursor to get the rows that were left out; absent if there are none",
    { type: "string" },
  ),
});

/** Header of responses that can be compressed, set by `gzip.ts`. */
const packedHeader: Readonly<Record<string, Header>> = optional({
  "Content-Encoding": header("gzip, for long responses to clients that accept it", {
    const: "gzip",
  }),
});

/** Further headers of files. */
const fileHeader: Readonly<Record<string, Header>> = {
  "Accept-Ranges": header("Parts of the file can be requested", { const: "bytes" }),
  "Last-Modified": header("When the file was written", { type: "string" }),
};

const rangeHeader: Readonly<Record<string, Header>> = {
  "Content-Range": header("The bytes of the response, and the length of the file", {
    type: "string",
    pattern: "^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$",
  }),
};

/** The headers under `components.headers` of the document. */
export const describedHeaders: Readonly<Record<string, Header>> = {
  ...everyHeader,
  ...linkHeader,
  ...bulkHeader,
  ...packedHeader,
  ...fileHeader,
  ...rangeHeader,
  Upgrade: header("The protocol of the connection from now on", { const: "websocket" }),
  "WWW-Authenticate": header("How to send a key", { type: "string" }),
  ...optional({
    "Retry-After": header("Seconds to wait before retrying", { type: "integer", minimum: 1 }),
    ETag: header(
      "Version of the response without its meta; send it as If-None-Match to get 304 if unchanged",
      { type: "string", pattern: '^W/"[A-Za-z0-9_-]+"$' },
    ),
  }),
};

const everyHeaderRef = refsTo(everyHeader);
const bulkHeaderRef = refsTo(bulkHeader);
const packedHeaderRef = refsTo(packedHeader);

const switchingProtocols: Response = {
  description: "The connection is a WebSocket from now on; the description lists its frames",
  headers: { ...everyHeaderRef, Upgrade: refTo("headers", "Upgrade") },
  content: {},
};

/** Describes the responses of an operation by status, with its error responses as components. */
export function describeResponses(operationId: string, route: Route) {
  const responses: Record<string, Response | Reference> = {};
  const components: Record<string, Response> = {};
  const schema = describeSchema(route.response);
  const success: Response = {
    description: route.summary,
    headers: {
      ...everyHeaderRef,
      ...packedHeaderRef,
      ...getVersion(route),
      ...getLink(route),
      ...(route.isBulk ? bulkHeaderRef : {}),
    },
    content: {
      [getMediaType(route)]: { schema, example: samples[operationId] },
    },
  };
  for (const status of route.statuses ?? [200])
    responses[status] = route.upgrade === undefined ? success : switchingProtocols;
  if (route.isFile) {
    const headers = { ...success.headers, ...refsTo(rangeHeader) };
    responses[206] = { ...success, description: "The requested bytes of the file", headers };
  }
  if (route.isTagged !== undefined || route.isFile) {
    const headers = { ...everyHeaderRef, ...getVersion(route), ...getLink(route) };
    responses[304] = {
      description: "Not modified: the response you have is current",
      headers,
      content: {},
    };
  }
  const byStatus = Map.groupBy(getErrors(route), (code) => errorTable[code].status);
  for (const [status, codes] of byStatus) {
    const name = codes.join(".");
    responses[status] = refTo("responses", name);
    components[name] = describeErrors(codes);
  }
  return { responses, components };
}

/** Returns the headers of responses that clients can keep. */
function getVersion({ isTagged, isFile }: Route): Record<string, Reference> {
  if (isTagged === undefined && !isFile) return {};
  return { ETag: refTo("headers", "ETag"), ...(isFile ? refsTo(fileHeader) : {}) };
}

function getLink({ querystring }: Route): Record<string, Reference> {
  return "cursor" in querystring.properties ? refsTo(linkHeader) : {};
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
  const description = codes.map((code) => `${code}: ${errorTable[code].message}`).join("; ");
  const isWorthATry = codes.some((code) => errorTable[code].retryable);
  const retry = isWorthATry ? { "Retry-After": refTo("headers", "Retry-After") } : {};
  const challenge = codes.includes("UNAUTHORIZED")
    ? { "WWW-Authenticate": refTo("headers", "WWW-Authenticate") }
    : {};
  const length = codes.includes("RANGE_NOT_SATISFIABLE") ? refsTo(rangeHeader) : {};
  const headers = { ...everyHeaderRef, ...retry, ...challenge, ...length };
  return { description, headers, content };
}

function optional(headers: Readonly<Record<string, Header>>): Record<string, Header> {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, one]) => [name, { ...one, required: false }]));
}

function refsTo(headers: Readonly<Record<string, Header>>): Record<string, Reference> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, refTo("headers", name)]));
}

function header(description: string, schema: Header["schema"]): Header {
  return { description, required: true, schema };
}
