import type { TObject } from "typebox";
import { isAdministrative, takesNoKey } from "../../access/admission.ts";
import { version } from "../../base/config/version.ts";
import { fileFormats } from "../bulk/bulk-format.ts";
import { getMediaType, type Route } from "../route/route.ts";
import type { Content, JsonSchema, Parameter, Response } from "./api-document.ts";
import { describedHeaders, describeResponses } from "./describe-responses.ts";
import { describeComponents, describeParameter, describeSchema, refTo } from "./describe-schema.ts";
import { getExample } from "./examples.ts";
import type { LiveExamples } from "./live-examples.ts";
import { guide } from "./openapi-intro.ts";

/** The OpenAPI 3.1 document of the API. */
export type ApiDocument = ReturnType<typeof describeApi>;
export type Operation = ReturnType<typeof describeOperation>;
type Responses = ReturnType<typeof describeResponses>["responses"];
/** Alternative ways to authenticate; empty for endpoints without a key. */
type Security = readonly Readonly<Record<string, readonly string[]>>[];

const keyScheme = "ApiKey";
const bearerScheme = "Bearer";

/** The groups of the reference: their descriptions, and the first segments of their paths. */
const groups: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  Markets: [
    "Markets, events and resolutions",
    ["markets", "events", "resolutions", "tags", "categories"],
  ],
  Trades: [
    "Trades, the fills and matches they are made of, and orders",
    ["trades", "fills", "matches", "orders"],
  ],
  Wallets: ["What wallets hold, did and earned", ["wallets"]],
  Prices: [
    "Current prices, candles, order books and totals of the platform",
    ["price", "candles", "orderbook", "stats"],
  ],
  Chain: [
    "Transactions and events of the exchange contracts",
    ["transactions", "cancellations", "exchange-events"],
  ],
  Lake: ["The final history as Parquet files; needs an admin key", ["lake"]],
  Stream: ["Everything as it happens, over WebSocket", ["stream"]],
  Keys: ["API keys and IP blocks; needs an admin key", ["keys", "ip-blocks"]],
  Service: ["Health, readiness, metrics and this document", []],
};
const tags = Object.entries(groups).map(([name, [description]]) => ({ name, description }));

/** The headers of requests, by their names as components. */
const headers = {
  RequestId: toHeader(
    "X-Request-Id",
    "An id of your own: returned with the response and logged. An invalid one is replaced",
    { pattern: "^[A-Za-z0-9._-]{1,128}$" },
  ),
  IfNoneMatch: toHeader(
    "If-None-Match",
    "ETags of the responses you have, separated by commas, or *",
  ),
  Range: toHeader("Range", "The bytes to send, such as bytes=1000-1999 or bytes=1000-"),
  Upgrade: {
    ...toHeader(
      "Upgrade",
      "Part of the WebSocket handshake (RFC 6455); clients send its headers automatically",
      { const: "websocket" },
    ),
    required: true,
  },
};

function toHeader(name: string, description: string, rest: JsonSchema = {}): Parameter {
  return { name, in: "header", required: false, description, schema: { type: "string", ...rest } };
}

/**
 * Describes the whole API from the schemas that the service runs on, by the names of its operations. Required
 * parameters have the values of `live` as examples. Pure.
 */
export function describeApi(routes: Readonly<Record<string, Route>>, live: LiveExamples = {}) {
  const paths: Record<string, Record<string, Operation>> = {};
  const errors: Record<string, Response> = {};
  for (const [operationId, route] of Object.entries(routes)) {
    const { responses, components } = describeResponses(operationId, route);
    Object.assign(errors, components);
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = describeOperation(operationId, route, { responses, live });
  }
  return {
    openapi: "3.1.0" as const,
    info: {
      title: "Oddwire",
      version,
      description: guide,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: ".." }],
    tags,
    paths,
    components: {
      schemas: describeComponents(),
      parameters: headers,
      headers: describedHeaders,
      responses: errors,
      securitySchemes: {
        [keyScheme]: { type: "apiKey", in: "header", name: "X-API-Key" },
        [bearerScheme]: { type: "http", scheme: "bearer" },
      },
    },
  };
}

function describeOperation(
  operationId: string,
  route: Route,
  { responses, live }: { readonly responses: Responses; readonly live: LiveExamples },
) {
  const { summary, params, querystring, body } = route;
  return {
    operationId,
    tags: [getTag(route)],
    summary,
    description: explain(route),
    security: getSecurity(route),
    parameters: [
      ...describeParameters(route.path, params, { in: "path", live }),
      ...describeParameters(route.path, querystring, { in: "query", live }),
      refTo("parameters", "RequestId"),
      ...(route.upgrade ? [refTo("parameters", "Upgrade")] : []),
      ...(route.isTagged || route.isFile ? [refTo("parameters", "IfNoneMatch")] : []),
      ...(route.isFile ? [refTo("parameters", "Range")] : []),
    ],
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses,
  };
}

/** Returns the security of a route: no key, any key, or an admin key, in either header. */
function getSecurity({ access, upgrade: to }: Route): Security {
  const roles = isAdministrative(access) ? ["admin"] : [];
  const key: Security = [{ [keyScheme]: roles }, { [bearerScheme]: roles }];
  // Browsers cannot set headers on a WebSocket, so they send the key in the first frame.
  if (to !== undefined) return [...key, {}];
  return takesNoKey(access) ? [] : key;
}

function describeParameters(
  path: string,
  schema: TObject,
  context: { readonly in: "path" | "query"; readonly live: LiveExamples },
): Parameter[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    return describeParameter(name, property, { ...context, isRequired, path });
  });
}

/** Describes a body. A field with a default is optional, and so is a body without required fields. */
function describeBody(body: TObject) {
  const described = describeSchema(body);
  const required = (described.required ?? []).filter(
    (name) => described.properties?.[name]?.default === undefined,
  );
  const schema = { ...described, required, additionalProperties: false };
  const content: Content = { "application/json": { schema, ...getBodyExample(schema) } };
  return { required: required.length > 0, content };
}

/** Only what has to be sent: viewers fill in everything that has an example. */
function getBodyExample({ properties = {}, required = [] }: JsonSchema) {
  const fields = required.map((name) => [name, getExample(name, properties[name] ?? {})]);
  return { example: Object.fromEntries(fields) as unknown };
}

/** The files are not other contents of the same response: generated clients would get a union with text. */
const fileTypes = Object.values(fileFormats).map(getMediaType).join(", ");

const streamGuide = `

Send a subscription once the connection is open; browsers send an \`auth\` frame first.

\`\`\`json
{ "action": "auth", "api_key": "ow_read_..." }
{ "action": "subscribe", "channel": { "type": "trades" }, "resume_from": 0 }
\`\`\`

Channels: \`trades\`, \`token_trades\`, \`resolutions\`, \`markets\`, \`cancellations\`, \`candles\`, \`price\` and \`orderbook\`. The frames that the service sends are the models whose names begin with \`Stream\`; [the guide](/guide/stream) explains them.`;

/** Returns the description of an endpoint: who can call it, how long to cache it, and whether it exports files. */
function explain({ description, access, cacheControl, isBulk, upgrade: to }: Route): string {
  const caller =
    takesNoKey(access) && to === undefined
      ? "Needs no key."
      : isAdministrative(access)
        ? "Needs an admin key."
        : "Needs a key of any scope.";
  const age = /max-age=(\d+)/.exec(cacheControl ?? "")?.[1];
  const files = `\`format\` exports all rows as a file: ${fileTypes}. The schema of the response is that of JSON, so that generated clients have its types.`;
  const sentences = [
    description && `${description}.`,
    caller,
    to && streamGuide,
    age && `Responses may be cached for ${age} s.`,
    isBulk && files,
  ];
  return sentences.filter(Boolean).join(" ");
}

function getTag({ path }: Route): string {
  const [, , segment = ""] = path.split("/");
  return Object.keys(groups).find((name) => groups[name]?.[1].includes(segment)) ?? "Service";
}
