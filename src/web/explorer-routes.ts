import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../base/errors.ts";
import { defineRoute, type Route } from "./route.ts";

/** A file of the explorer as it is served. */
export type ExplorerFile = {
  /** Names its content; empty for the page itself. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
};

/** A file, and the same packed: nobody has to pack it again. */
type Packed = ExplorerFile & { readonly gzip: Buffer };

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

const yearSeconds = 31_536_000;

/** The explorer: its page at `/` and what that loads, made when it is asked for first. Needs no key. */
export function explorerRoutes(
  buildFiles: () => Promise<readonly ExplorerFile[]>,
): readonly Route[] {
  let built: Promise<ReadonlyMap<string, Packed>> | null = null;
  const answer = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    built ??= buildFiles().then(pack);
    const files = await built.catch((thrown: unknown) => {
      // The next one tries again.
      built = null;
      throw thrown;
    });
    const file = files.get(name);
    if (file === undefined) throw new AppError("NOT_FOUND");
    const { contentType, body, gzip } = file;
    reply.header("content-type", contentType);
    // Which pages may read it can depend on the origin as well.
    const { vary = [] } = reply.getHeaders();
    reply.header("vary", [vary, "Accept-Encoding"].flat().join(", "));
    reply.header("content-security-policy", contentSecurityPolicy);
    if (!acceptsGzip(request.headers["accept-encoding"])) return body;
    reply.header("content-encoding", "gzip");
    return gzip;
  };
  const common = { method: "GET", access: "public", response: Type.String() } as const;
  return [
    defineRoute({
      ...common,
      path: "/",
      summary: "The explorer",
      contentType: "text/html; charset=utf-8",
      cacheControl: "private, max-age=0",
      handler: async (request, reply) => answer("", request, reply),
    }),
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

function pack(files: readonly ExplorerFile[]): ReadonlyMap<string, Packed> {
  return new Map(
    files.map((file) => [file.name, { ...file, gzip: gzipSync(file.body, { level: 9 }) }]),
  );
}

/** RFC 9110: gzip is named, and not with a weight of 0. */
function acceptsGzip(accepted: string | string[] | undefined): boolean {
  const weights = new Map(
    String(accepted ?? "")
      .toLowerCase()
      .split(",")
      .map((one) => {
        const [coding = "", weight = "q=1"] = one.split(";").map((part) => part.trim());
        return [coding, Number(weight.replace("q=", ""))] as const;
      }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
