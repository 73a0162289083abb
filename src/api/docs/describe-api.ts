import type { TObject } from "typebox";
import { isAdministrative, takesNoKey } from "../../access/admission.ts";
import { version } from "../../base/config/version.ts";
import type { Route } from "../http/route.ts";
import type { Content, Parameter, Response } from "./api-document.ts";
import { describedHeaders, describeResponses } from "./describe-responses.ts";
import { describeComponents, describeParameter, describeSchema, refTo } from "./describe-schema.ts";
import { guide } from "./guide.ts";

/** The OpenAPI 3.1 document of the API. */
export type ApiDocument = ReturnType<typeof describeApi>;
export type Operation = ReturnType<typeof describeOperation>;
type Responses = ReturnType<typeof describeResponses>["responses"];
/** Alternative ways to authenticate; empty for endpoints without a key. */
type Security = readonly Readonly<Record<string, readonly string[]>>[];

const keyScheme = "ApiKey";
const bearerScheme = "Bearer";

const tags = [
  {
    name: "Data",
    description: "Markets, trades, prices and everything else derived from the chain",
  },
  { name: "Service", description: "Health, readiness and metrics" },
  { name: "Administration", description: "API keys and IP blocks; needs an admin key" },
] as const;

const requestId: Parameter = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description:
    "An id of your own: returned with the response and logged. An invalid one is replaced",
  schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
};

const ifNoneMatch: Parameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "ETags of the responses you have, separated by commas, or *",
  schema: { type: "string" },
};

const upgrade: Parameter = {
  name: "Upgrade",
  in: "header",
  required: true,
  description: "Part of the WebSocket handshake (RFC 6455); clients send its headers automatically",
  schema: { type: "string", const: "websocket" },
};

/** Describes the whole API from the schemas that the service runs on, by the names of its operations. Pure. */
export function describeApi(routes: Readonly<Record<string, Route>>) {
  const paths: Record<string, Record<string, Operation>> = {};
  const errors: Record<string, Response> = {};
  for (const [operationId, route] of Object.entries(routes)) {
    const { responses, components } = describeResponses(operationId, route);
    Object.assign(errors, components);
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = describeOperation(operationId, route, responses);
  }
  return {
    openapi: "3.1.0" as const,
    info: {
      title: "Oddwire",
      version,
      description: guide,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags,
    paths,
    components: {
      schemas: describeComponents(),
      parameters: { RequestId: requestId, IfNoneMatch: ifNoneMatch, Upgrade: upgrade },
      headers: describedHeaders,
      responses: errors,
      securitySchemes: {
        [keyScheme]: { type: "apiKey", in: "header", name: "X-API-Key" },
        [bearerScheme]: { type: "http", scheme: "bearer" },
      },
    },
  };
}

function describeOperation(operationId: string, route: Route, responses: Responses) {
  const { summary, params, querystring, body } = route;
  return {
    operationId,
    tags: [tagOf(route)],
    summary,
    description: explain(route),
    security: securityOf(route),
    parameters: [
      ...describeParameters(route, "path", params),
      ...describeParameters(route, "query", querystring),
      refTo("parameters", "RequestId"),
      ...(route.upgrade === undefined ? [] : [refTo("parameters", "Upgrade")]),
      ...(route.isTagged === undefined ? [] : [refTo("parameters", "IfNoneMatch")]),
    ],
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses,
  };
}

/** Returns the security of a route: no key, any key, or an admin key, in either header. */
function securityOf({ access, upgrade: to }: Route): Security {
  const roles = isAdministrative(access) ? ["admin"] : [];
  const key: Security = [{ [keyScheme]: roles }, { [bearerScheme]: roles }];
  // Browsers cannot set headers on a WebSocket, so they send the key in the first frame.
  if (to !== undefined) return [...key, {}];
  return takesNoKey(access) ? [] : key;
}

function describeParameters(
  { path }: Route,
  place: "path" | "query",
  schema: TObject,
): Parameter[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    return describeParameter(name, property, { in: place, isRequired, path });
  });
}

/** Describes a body. A field with a default is optional, and so is a body without required fields. */
function describeBody(body: TObject) {
  const described = describeSchema(body);
  const required = (described.required ?? []).filter(
    (name) => described.properties?.[name]?.default === undefined,
  );
  const schema = { ...described, required, additionalProperties: false };
  const content: Content = { "application/json": { schema } };
  return { required: required.length > 0, content };
}

const streamGuide = `

Send a subscription once the connection is open; browsers send an \`auth\` frame first.

\`\`\`json
{ "action": "auth", "api_key": "ow_read_..." }
{ "action": "subscribe", "channel": { "type": "trades" }, "resume_from": 0 }
\`\`\`

Channels: \`trades\`, \`token_trades\`, \`resolutions\`, \`markets\`, \`cancellations\`, \`candles\`, \`price\` and \`orderbook\`. The frames that the service sends are the models whose names begin with \`Stream\`; [the guide](/guide/stream) explains them.`;

/** Returns the description of an endpoint: who can call it, how long to cache it, and whether it exports files. */
function explain({ summary, access, cacheControl, isBulk, upgrade: to }: Route): string {
  const caller =
    takesNoKey(access) && to === undefined
      ? "Needs no key."
      : isAdministrative(access)
        ? "Needs an admin key."
        : "Needs a key of any scope.";
  const age = /max-age=(\d+)/.exec(cacheControl ?? "")?.[1];
  return [
    `${summary}.`,
    caller,
    ...(to === undefined ? [] : [streamGuide]),
    ...(age === undefined ? [] : [`Responses may be cached for ${age} s.`]),
    ...(isBulk ? ["`format` exports all rows as NDJSON, CSV, Parquet or Arrow."] : []),
  ].join(" ");
}

function tagOf({ access, path, upgrade: to }: Route): (typeof tags)[number]["name"] {
  if (isAdministrative(access)) return "Administration";
  if (to !== undefined) return "Data";
  return takesNoKey(access) || path.startsWith("/v1/metrics") ? "Service" : "Data";
}
