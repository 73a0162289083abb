import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { ipBucketOf, parseIpAddress } from "../../base/ip-address.ts";
import type { IpBlocks } from "../../store/ip-blocks.ts";
import { parsedText } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const bucket = parsedText({
  parse: parseBucket,
  expected: "an IP address, or an IPv6 /64 as the list shows it",
});

/** Lets an IP in again before its time. */
export function liftIpBlock({ ipBlocks }: { ipBlocks: IpBlocks }): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/ip-blocks/{ip}",
    access: "admin",
    summary: "Lift the block of an IP",
    params: Type.Object({ ip: bucket }),
    response: Type.Object({ message: Type.Literal("IP block lifted") }),
    errors: ["NOT_FOUND"],
    handler: ({ params }) => {
      if (!ipBlocks.lift(params.ip))
        throw new AppError("NOT_FOUND", { publicMessage: "This IP is not blocked" });
      return { message: "IP block lifted" } as const;
    },
  });
}

/** Any address of a blocked /64 names its block. */
function parseBucket(text: string): string | null {
  const address = parseIpAddress(text.replace(/::\/64$/, "::"));
  return address === null ? null : ipBucketOf(address);
}
