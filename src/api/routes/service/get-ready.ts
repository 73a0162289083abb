import { Type } from "typebox";
import { type Role, roles } from "../../../base/config/config.ts";
import type { Checks } from "../../../feed/indexer.ts";
import { defineRoute, type Route } from "../../http/route.ts";

const checksSchema = Type.Record(
  Type.String(),
  Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
);

/** Whether the service should be sent requests: 200 when every check is well, else 503. */
export function getReady(readChecks: () => Checks | Promise<Checks>, role: Role = "serve"): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/ready",
    access: "probe",
    summary: "Whether the service is ready for requests",
    otherStatuses: [503],
    response: Type.Object({
      status: Type.Enum(["ready", "not_ready"]),
      role: Type.Enum([...roles], { description: "What this process is of the service" }),
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
