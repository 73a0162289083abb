import { Type } from "typebox";
import { bodyFor, type PackableBytes } from "../../http/gzip.ts";
import { defineRoute, type Route } from "../../http/route.ts";

/** The API as a document for tools; made once, from the schemas the service runs on. */
export function getOpenapi(readDocument: () => PackableBytes): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/openapi.json",
    access: "public",
    summary: "This API as an OpenAPI 3.1 document",
    response: Type.Record(Type.String(), Type.Unknown()),
    cacheControl: "private, max-age=300",
    handler: async (request, reply) => bodyFor({ request, reply }, readDocument()),
  });
}
