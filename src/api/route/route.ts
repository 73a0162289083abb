import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Access, Caller } from "../../access/admission.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { jsonContentType } from "./error-answer.ts";
import type { PackableBytes } from "./gzip.ts";
import type { Meta } from "./list-answer.ts";
import type { AnswerBody, CachePolicy, WrittenJson } from "./response-cache.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
  }
}

/** The result of a handler: the object of the schema, one with `data` as written JSON, a text, bytes, or a stream. */
type Answer<Body> = Content<Body> | WrittenAnswer | string | PackableBytes | Readable;

/** The server adds the request id and the freshness to `meta`. */
type Content<Body> = Body extends { readonly meta: infer Shown }
  ? Omit<Body, "meta"> & { readonly meta?: Omit<Shown, keyof Meta> }
  : Body;

type WrittenAnswer = AnswerBody & { readonly data: WrittenJson };

type RouteRequest<
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
> = FastifyRequest<{
  Params: Static<Params>;
  Querystring: Static<Query>;
  Body: Static<Body>;
}>;

/** The definition of an endpoint. One schema per shape gives the types, the validation and the documentation. */
export type RouteOptions<
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
  Response extends TSchema,
> = {
  /** `GET` by default. */
  readonly method?: "GET" | "POST" | "DELETE";
  /** The path with parameters in braces, such as `/v1/keys/{id}`. */
  readonly path: `/${string}`;
  /** `read` by default: any key. */
  readonly access?: Exclude<Access, "optional" | "upgrade" | "preflight">;
  /** Name in the documentation, such as `List trades`. */
  readonly summary: string;
  /** One or two sentences for the documentation, without a period at the end. */
  readonly description?: string;
  readonly params?: Params;
  readonly querystring?: Query;
  /** The schema of the body. Without one, a request with a body is refused. */
  readonly body?: Body;
  readonly response: Response;
  /** The statuses with the shape of `response`; the first is that of success. 200 by default. */
  readonly statuses?: readonly [number, ...number[]];
  /** Error codes beyond the ones that every endpoint of this access and shape has. */
  readonly errors?: readonly ErrorCode[];
  /** Whether the list can be exported in the file formats. */
  readonly isBulk?: boolean;
  /** Whether the endpoint is there only with `ODDWIRE_WALLETS`. */
  readonly needsWallets?: boolean;
  /** The protocol that a request must upgrade to. The handler refuses a request without an upgrade. */
  readonly upgrade?: "websocket";
  /** Content type of success; JSON by default. */
  readonly contentType?: string;
  /** `Cache-Control` of success; `no-store` by default. */
  readonly cacheControl?: string;
  /** If set, responses are cached as bytes (`response-cache.ts`) under this policy. */
  readonly getCachePolicy?: (request: RouteRequest<Params, Query, Body>) => CachePolicy;
  /** Whether the response is a file, of which parts can be requested and which has an `ETag`. */
  readonly isFile?: boolean;
  /** Whether a response has an `ETag`, and is 304 for a client that has it already. */
  readonly isTagged?: (body: AnswerBody) => boolean;
  /** A promise to wait for before the handler reads anything; `null` when there is nothing to wait for. */
  readonly whenReady?: (request: FastifyRequest) => Promise<void> | null;
  readonly handler: (
    request: RouteRequest<Params, Query, Body>,
    reply: FastifyReply,
  ) => Answer<Static<Response>> | Promise<Answer<Static<Response>>>;
};

/** An endpoint as the server takes it, without the types of its shapes. */
export type Route = Omit<
  RouteOptions<TObject, TObject, TObject, TSchema>,
  "method" | "access" | "params" | "querystring" | "getCachePolicy" | "handler"
> & {
  readonly method: "GET" | "POST" | "DELETE";
  readonly access: Access;
  readonly params: TObject;
  readonly querystring: TObject;
  readonly getCachePolicy?: (request: FastifyRequest) => CachePolicy;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
};

/** Defines an endpoint. The types of the request and of the result follow from the schemas. */
export function defineRoute<
  Response extends TSchema,
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
>(options: RouteOptions<Params, Query, Body, Response>): Route {
  const { params = Type.Object({}), querystring = Type.Object({}) } = options;
  const untyped = options as Omit<Route, "method" | "access" | "params" | "querystring">;
  return { method: "GET", access: "read", ...untyped, params, querystring };
}

/** Returns a path with the values of its parameters. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
}

/** Returns the media type of success, without parameters. */
export function getMediaType({
  contentType = jsonContentType,
}: Pick<Route, "contentType">): string {
  return contentType.replace(/;.*/, "");
}
