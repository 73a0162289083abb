import { Type } from "typebox";
import { PackableBytes } from "../http/gzip.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { describeApi } from "./describe-api.ts";

/** Returns the routes and a route of the OpenAPI document, which describes all of them including itself. */
export function documentRoutes(routes: Readonly<Record<string, Route>>): readonly Route[] {
  const named = { ...routes, getOpenapi: getOpenapi(() => document) };
  const documented = Object.entries(named).map(([operationId, route]) => ({
    ...route,
    operationId,
  }));
  const api = describeApi(documented);
  const document = new PackableBytes(Buffer.from(JSON.stringify(api)));
  return documented;
}

/** The route of the OpenAPI document, which is made once from the schemas that the service runs on. */
function getOpenapi(readDocument: () => PackableBytes): Route {
  return defineRoute({
    path: "/v1/openapi.json",
    access: "public",
    summary: "This API as an OpenAPI 3.1 document",
    response: Type.Record(Type.String(), Type.Unknown()),
    cacheControl: "private, max-age=300",
    handler: readDocument,
  });
}
