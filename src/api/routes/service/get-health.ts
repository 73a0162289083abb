import { Type } from "typebox";
import type { Clock } from "../../../base/time/clock.ts";
import { defineRoute, type Route } from "../../http/route.ts";

/** Whether the process lives; it touches nothing else, so that a slow store is not a dead service. */
export function getHealth(options: { version: string; clock: Clock }): Route {
  const { version, clock } = options;
  const startedAtMs = clock.monotonicMs();
  return defineRoute({
    method: "GET",
    path: "/v1/health",
    access: "probe",
    summary: "Whether the service is alive",
    response: Type.Object({
      status: Type.Literal("ok"),
      version: Type.String(),
      uptime_seconds: Type.Integer(),
    }),
    handler: () => ({
      status: "ok" as const,
      version,
      uptime_seconds: Math.floor((clock.monotonicMs() - startedAtMs) / 1000),
    }),
  });
}
