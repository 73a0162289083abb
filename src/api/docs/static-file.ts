import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { bodyFor, PackableBytes } from "../http/gzip.ts";

/** What the routes of all files for browsers have in common: they need no key. */
export const fileRoute = { method: "GET", access: "public", response: Type.String() } as const;

/** A file for browsers, packed as small as possible when it is first requested. */
export class StaticFile {
  readonly #contentType: string;
  readonly #policy: string;
  readonly #packable: PackableBytes;

  constructor(body: Buffer, contentType: string, policy: string) {
    this.#contentType = contentType;
    this.#policy = policy;
    this.#packable = new PackableBytes(body, { level: 9 });
  }

  /** The body of an answer, whose headers are set. */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    reply.header("content-type", this.#contentType);
    reply.header("content-security-policy", this.#policy);
    return bodyFor({ request, reply }, this.#packable);
  }
}

/** Lets a page load what `sources` name, as directives, and nothing else. */
export function pagePolicy(sources: readonly string[]): string {
  return [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Names an inline script in a policy. */
export function scriptHash(script: string): string {
  return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
}
