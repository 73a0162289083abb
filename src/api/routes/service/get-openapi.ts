import { Type } from "typebox";
import type { Clock } from "../../../base/time/clock.ts";
import type { Backend } from "../../backend.ts";
import { describeApi } from "../../docs/describe-api.ts";
import { type LiveExamples, readLiveExamples } from "../../docs/live-examples.ts";
import { PackableBytes } from "../../route/gzip.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** How long the examples of a document are used, and how long clients may cache it. */
const documentSeconds = 300;

/** Returns the OpenAPI document of `readRoutes`, made from the schemas that the service runs on. */
export function getOpenapi(
  backend: Backend,
  { clock, readRoutes }: { clock: Clock; readRoutes: () => Readonly<Record<string, Route>> },
): Route {
  let made: { readonly document: Promise<PackableBytes>; readonly atMs: number } | null = null;
  const read = (): Promise<PackableBytes> => {
    const nowMs = clock.monotonicMs();
    if (made === null || nowMs - made.atMs >= documentSeconds * 1000)
      made = { document: makeDocument(backend, readRoutes()), atMs: nowMs };
    return made.document;
  };
  return defineRoute({
    path: "/v1/openapi.json",
    access: "public",
    summary: "Get this document",
    description: "This API as an OpenAPI 3.1 document",
    response: Type.Record(Type.String(), Type.Unknown()),
    cacheControl: `private, max-age=${documentSeconds}`,
    handler: read,
  });
}

async function makeDocument(
  backend: Backend,
  routes: Readonly<Record<string, Route>>,
): Promise<PackableBytes> {
  // A document with the examples of the samples is better than none while the engine does not answer.
  const live = await readLiveExamples(backend).catch((): LiveExamples => ({}));
  return new PackableBytes(Buffer.from(JSON.stringify(describeApi(routes, live))));
}
