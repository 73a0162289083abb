import { PackableBytes } from "../http/gzip.ts";
import type { Route } from "../http/route.ts";
import { getOpenapi } from "../routes/service/get-openapi.ts";
import { describeApi } from "./describe-api.ts";

/** These routes by name and the one that describes them, itself included. */
export function documentRoutes(
  routes: Readonly<Record<string, Route>>,
  version: string,
): readonly Route[] {
  const named = { ...routes, getOpenapi: getOpenapi(() => document) };
  const documented = Object.entries(named).map(([operationId, route]) => ({
    ...route,
    operationId,
  }));
  const api = describeApi(documented, version);
  const document = new PackableBytes(Buffer.from(JSON.stringify(api)));
  return documented;
}
