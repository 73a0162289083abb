import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { fileRoute, pagePolicy, StaticFile } from "../docs/static-file.ts";
import { defineRoute, type Route } from "../http/route.ts";

/** A file of the explorer as it is served. */
export type ExplorerFile = {
  /** Names its content; empty for the page itself. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
};

/** Lets the page load what comes with it, talk to the service it came from, and nothing else. */
const contentSecurityPolicy = pagePolicy([
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
]);

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
  let built: Promise<ReadonlyMap<string, StaticFile>> | null = null;
  const answer = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    built ??= buildFiles().then(keep);
    const files = await built.catch((thrown: unknown) => {
      // The next one tries again.
      built = null;
      throw thrown;
    });
    const file = files.get(name);
    if (file === undefined) throw new AppError("NOT_FOUND");
    return file.answer(request, reply);
  };
  return [
    ...pagePaths.map((path) =>
      defineRoute({
        ...fileRoute,
        path,
        summary: "The explorer",
        params: path.endsWith("{id}") ? pageParams : Type.Object({}),
        // The page keeps its state in the query string.
        querystring: Type.Object({}, { additionalProperties: true }),
        cacheControl: "private, max-age=0",
        handler: async (request, reply) => answer("", request, reply),
      }),
    ),
    defineRoute({
      ...fileRoute,
      path: "/assets/{name}",
      summary: "What the explorer loads",
      params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
      cacheControl: `private, max-age=${yearSeconds}`,
      handler: async (request, reply) => answer(request.params.name, request, reply),
    }),
  ];
}

function keep(files: readonly ExplorerFile[]): ReadonlyMap<string, StaticFile> {
  return new Map(
    files.map(({ name, contentType, body }) => {
      return [name, new StaticFile(body, contentType, contentSecurityPolicy)];
    }),
  );
}
