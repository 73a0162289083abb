import { PackableBytes } from "../http/gzip.ts";
import type { Route } from "../http/route.ts";
import { getDocs } from "../routes/service/get-docs.ts";
import { getOpenapi } from "../routes/service/get-openapi.ts";
import { describeApi } from "./describe-api.ts";
import { renderDocsPage } from "./docs-page.ts";

/** These routes by name and the two that describe them, themselves included. */
export function documentRoutes(
  routes: Readonly<Record<string, Route>>,
  version: string,
): readonly Route[] {
  const named = { ...routes, getOpenapi: getOpenapi(() => document), getDocs: getDocs(() => page) };
  const documented = Object.entries(named).map(([operationId, route]) => ({
    ...route,
    operationId,
  }));
  const api = describeApi(documented, version);
  const document = new PackableBytes(Buffer.from(JSON.stringify(api)));
  const page = new PackableBytes(Buffer.from(renderDocsPage(api)));
  return documented;
}
