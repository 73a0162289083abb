import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { bodyFor, PackableBytes } from "../http/gzip.ts";
import { defineRoute, type Route } from "../http/route.ts";

/** A file of the explorer as it is served. */
export type ExplorerFile = {
  /** Names its content; empty for the page itself. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
};

type Kept = Pick<ExplorerFile, "contentType"> & { readonly packable: PackableBytes };

/** Lets the page load what comes with it, talk to the service it came from, and nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Every address that the page shows something at. */
const pagePaths = [
  "/",
  "/market/{id}",
  "/event/{id}",
  "/wallet/{id}",
  "/tx/{id}",
  "/order/{id}",
  "/trades",
  "/status",
  "/keys",
] as const;

const pageParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 300 }) });

const yearSeconds = 31_536_000;

/** The explorer: its page at every path that it shows something at, and what that loads, made when it is asked for first. Needs no key. */
export function explorerRoutes(
  buildFiles: () => Promise<readonly ExplorerFile[]>,
): readonly Route[] {
  let built: Promise<ReadonlyMap<string, Kept>> | null = null;
  const answer = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    built ??= buildFiles().then(keep);
    const files = await built.catch((thrown: unknown) => {
      // The next one tries again.
      built = null;
      throw thrown;
    });
    const file = files.get(name);
    if (file === undefined) throw new AppError("NOT_FOUND");
    const { contentType, packable } = file;
    reply.header("content-type", contentType);
    reply.header("content-security-policy", contentSecurityPolicy);
    return bodyFor({ request, reply }, packable);
  };
  const common = { method: "GET", access: "public", response: Type.String() } as const;
  return [
    ...pagePaths.map((path) =>
      defineRoute({
        ...common,
        path,
        summary: "The explorer",
        params: path.endsWith("{id}") ? pageParams : Type.Object({}),
        // The page keeps its state in the query string.
        querystring: Type.Object({}, { additionalProperties: true }),
        contentType: "text/html; charset=utf-8",
        cacheControl: "private, max-age=0",
        handler: async (request, reply) => answer("", request, reply),
      }),
    ),
    defineRoute({
      ...common,
      path: "/assets/{name}",
      summary: "What the explorer loads",
      params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
      cacheControl: `private, max-age=${yearSeconds}`,
      handler: async (request, reply) => answer(request.params.name, request, reply),
    }),
  ];
}

function keep(files: readonly ExplorerFile[]): ReadonlyMap<string, Kept> {
  return new Map(
    files.map(({ name, contentType, body }) => {
      return [name, { contentType, packable: new PackableBytes(body, { level: 9 }) }];
    }),
  );
}
