import type { FastifyReply, FastifyRequest } from "fastify";

/** A request and what its answer is written to. */
export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };
