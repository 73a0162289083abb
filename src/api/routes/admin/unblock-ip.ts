import { Type } from "typebox";
import type { AccessAudit } from "../../../access/access-audit.ts";
import type { IpBlocks } from "../../../access/ip-blocks.ts";
import { AppError } from "../../../base/errors.ts";
import { ipBucketOf, parseIpAddress } from "../../../base/ip-address.ts";
import { parsedText } from "../../http/parameters.ts";
import { defineRoute, type Route } from "../../http/route.ts";

const bucket = parsedText({
  parse: parseBucket,
  expected: "an IP address, or an IPv6 /64 as the list shows it",
});

/** Lets an IP in again before its time. */
export function unblockIp(services: { ipBlocks: IpBlocks; audit: AccessAudit }): Route {
  const { ipBlocks, audit } = services;
  return defineRoute({
    method: "DELETE",
    path: "/v1/ip-blocks/{ip}",
    access: "unblock",
    summary: "Unblock an IP address",
    params: Type.Object({ ip: bucket }),
    response: Type.Object({ message: Type.Literal("IP unblocked") }),
    errors: ["NOT_FOUND"],
    handler: async ({ params, caller }) => {
      if (!(await ipBlocks.remove(params.ip)))
        throw new AppError("NOT_FOUND", { publicMessage: "This IP is not blocked" });
      audit.record({ action: "ip_unblocked", ip: params.ip, by: caller.key?.id ?? null });
      return { message: "IP unblocked" } as const;
    },
  });
}

/** Any address of a blocked /64 names its block. */
function parseBucket(text: string): string | null {
  const address = parseIpAddress(text.replace(/::\/64$/, "::"));
  return address === null ? null : ipBucketOf(address);
}
