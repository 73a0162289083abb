import { Type } from "typebox";
import { type Role, roles } from "../../../base/config/config.ts";
import { version } from "../../../base/config/version.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { Checks } from "../../../feed/intake.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const checksSchema = Type.Record(
  Type.String(),
  Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
);

/** Reports that the process is alive. It reads nothing else, so a slow store does not look like a dead process. */
export function getHealth(clock: Clock): Route {
  const startedAtMs = clock.monotonicMs();
  return defineRoute({
    path: "/v1/health",
    access: "probe",
    summary: "Check health",
    description: "200 while the process responds",
    response: Type.Object({
      status: Type.Literal("ok", { description: "The process responds" }),
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

/** Reports whether the service is ready for requests: 200 when every check is ok, otherwise 503. */
export function getReady(readChecks: () => Checks | Promise<Checks>, role: Role = "serve"): Route {
  return defineRoute({
    path: "/v1/ready",
    access: "probe",
    summary: "Check readiness",
    description: "200 when every check is ok, otherwise 503 with the reasons",
    statuses: [200, 503],
    response: Type.Object({
      status: Type.Enum(["ready", "not_ready"], { description: "ready when every check is ok" }),
      role: Type.Enum([...roles], { description: "The role of this process in the service" }),
      checks: checksSchema,
    }),
    handler: async (_request, reply) => {
      const checks = await readChecks();
      const isReady = Object.values(checks).every(({ ok }) => ok);
      reply.code(isReady ? 200 : 503);
      return { status: isReady ? "ready" : "not_ready", role, checks } as const;
    },
  });
}
