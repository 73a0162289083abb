import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Access, Caller } from "../../access/admission.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { AnswerBody, CachePolicy, WrittenJson } from "../cache/response-cache.ts";
import type { Meta } from "../lists/list-answer.ts";
import { jsonContentType } from "./error-answer.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
  }
}

/** What a handler answers: the object of the schema, its rows or all of it as JSON already, or a stream. */
type Answer<Body> = Content<Body> | WrittenAnswer | string | Buffer | Readable;

/** The server adds the request id and the freshness to `meta`. */
type Content<Body> = Body extends { readonly meta: infer Shown }
  ? Omit<Body, "meta"> & { readonly meta?: Omit<Shown, keyof Meta> }
  : Body;

type WrittenAnswer = AnswerBody & { readonly data: WrittenJson };

type Nothing = TObject;

/** One endpoint. One schema a shape gives the types, the validation and the documentation. */
export type RouteOptions<
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
  Response extends TSchema,
> = {
  /** GET unless given. */
  readonly method?: "GET" | "POST" | "DELETE";
  /** With parameters in braces, as in `/v1/keys/{id}`. */
  readonly path: `/${string}`;
  readonly access: Exclude<Access, "optional" | "preflight">;
  /** Its name in the documentation, such as `listMarkets`; `routes.ts` gives it. */
  readonly operationId?: string;
  /** One line for the documentation. */
  readonly summary: string;
  readonly params?: Params;
  readonly querystring?: Query;
  /** Without it a request with a body is refused. */
  readonly body?: Body;
  readonly response: Response;
  /** Of success; 200 unless given. */
  readonly status?: number;
  /** Further statuses of `response`, such as 503 of the readiness check. */
  readonly otherStatuses?: readonly number[];
  /** Errors of its own, beyond those that any endpoint of this access and shape has. */
  readonly errors?: readonly ErrorCode[];
  /** Whether the list can be had in the formats of files too. */
  readonly isBulk?: boolean;
  /** Asked for as another protocol; a request that asks for none is refused by the handler. */
  readonly upgrade?: "websocket";
  /** Of success; JSON unless given. */
  readonly contentType?: string;
  /** Of success; `no-store` unless given. */
  readonly cacheControl?: string;
  /** Its answers are cached as bytes (`response-cache.ts`). */
  readonly cachePolicyOf?: (request: FastifyRequest) => CachePolicy;
  /** Which of its answers have an `ETag`, and are 304 for clients that have them already. */
  readonly isTagged?: (body: AnswerBody) => boolean;
  /** What an answer waits for, before anything is read for it; `null` when it need not wait. */
  readonly whenReady?: (request: FastifyRequest) => Promise<void> | null;
  readonly handler: (
    request: FastifyRequest<{
      Params: Static<Params>;
      Querystring: Static<Query>;
      Body: Static<Body>;
    }>,
    reply: FastifyReply,
  ) => Answer<Static<Response>> | Promise<Answer<Static<Response>>>;
};

/** An endpoint as the server takes it, whatever its shapes are. */
export type Route = Omit<
  RouteOptions<TObject, TObject, TObject, TSchema>,
  "method" | "params" | "querystring" | "handler"
> & {
  readonly method: "GET" | "POST" | "DELETE";
  readonly params: TObject;
  readonly querystring: TObject;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
};

/** Defines an endpoint; the types of `request` and of the answer follow from the schemas. */
export function defineRoute<
  Response extends TSchema,
  Params extends TObject = Nothing,
  Query extends TObject = Nothing,
  Body extends TObject = Nothing,
>(options: RouteOptions<Params, Query, Body, Response>): Route {
  return {
    method: "GET",
    ...options,
    params: options.params ?? Type.Object({}),
    querystring: options.querystring ?? Type.Object({}),
    handler: options.handler as Route["handler"],
  };
}

/** The media type of success, without its parameters. */
export function mediaTypeOf({ contentType = jsonContentType }: Pick<Route, "contentType">): string {
  return contentType.replace(/;.*/, "");
}
