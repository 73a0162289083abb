import { Type } from "typebox";
import { docsContentSecurityPolicy } from "../../docs/docs-page.ts";
import { bodyFor, type PackableBytes } from "../../http/gzip.ts";
import { defineRoute, type Route } from "../../http/route.ts";

/** The API as a page for people; it needs nothing from anywhere else. */
export function getDocs(readPage: () => PackableBytes): Route {
  return defineRoute({
    method: "GET",
    path: "/docs",
    access: "public",
    summary: "This API as a page",
    response: Type.String(),
    contentType: "text/html; charset=utf-8",
    cacheControl: "private, max-age=300",
    handler: async (request, reply) => {
      reply.header("content-security-policy", docsContentSecurityPolicy);
      return bodyFor({ request, reply }, readPage());
    },
  });
}
