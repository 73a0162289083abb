import { Type } from "typebox";
import type { IpBlock } from "../../../access/ip-blocks.ts";
import { AppError } from "../../../base/errors.ts";
import { parsedText } from "../../../base/input/client-texts.ts";
import { parseIpAddress, toIpBucket } from "../../../base/ip-address.ts";
import { cursor } from "../../http/parameters.ts";
import type { CursorPosition } from "../../route/cursor.ts";
import { answerPage, toListShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";
import type { AdminServices } from "./key-routes.ts";

const path = "/v1/ip-blocks";
const blockSchema = Type.Object({
  ip: Type.String({ description: "An IPv4 address or an IPv6 /64" }),
  reason: Type.Enum(["failed_authentication", "abuse"]),
  offenses: Type.Integer({ description: "How often the address has been blocked in a row" }),
  blocked_at: Type.String({ format: "date-time" }),
  blocked_until: Type.String({ format: "date-time" }),
});

const bucket = parsedText({
  parse: parseBucket,
  expected: "an IP address, or an IPv6 /64 as the list shows it",
});

/** Lists the blocks in force. */
export function listIpBlocks({ ipBlocks, cursors }: AdminServices): Route {
  return defineRoute({
    path,
    access: "unblock",
    summary: "List blocked IPs",
    description: "IP addresses that are blocked now, newest first",
    querystring: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
      cursor: Type.Optional(cursor),
    }),
    response: toListShape(blockSchema),
    handler: async ({ query }) => {
      const [atMs, ip] = cursors.decode(path, query) ?? [];
      const after = atMs === undefined ? null : { blockedAtMs: Number(atMs), bucket: String(ip) };
      const read = await ipBlocks.list({ limit: query.limit + 1, after });
      return answerPage(cursors, { path, query, read, toPosition }, showBlock);
    },
  });
}

function toPosition({ blockedAtMs, bucket: ip }: IpBlock): CursorPosition {
  return [blockedAtMs, ip];
}

/** Returns the public shape of a block. */
export function showBlock(block: IpBlock) {
  return {
    ip: block.bucket,
    reason: block.reason,
    offenses: block.offenses,
    blocked_at: new Date(block.blockedAtMs).toISOString(),
    blocked_until: new Date(block.blockedUntilMs).toISOString(),
  };
}

/** Unblocks an IP before its block ends. */
export function unblockIp({ ipBlocks, audit }: AdminServices): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/ip-blocks/{ip}",
    access: "unblock",
    summary: "Unblock an IP",
    description: "Ends the block of an IP address immediately",
    params: Type.Object({ ip: bucket }),
    response: Type.Object({
      message: Type.Literal("IP unblocked", { description: "What was done" }),
    }),
    handler: async ({ params, caller }) => {
      if (!(await ipBlocks.remove(params.ip)))
        throw new AppError("NOT_FOUND", "This IP is not blocked");
      audit.record({ action: "ip_unblocked", ip: params.ip, by: caller.key?.id ?? null });
      return { message: "IP unblocked" } as const;
    },
  });
}

/** Parses an IP address or an IPv6 /64. Any address in a /64 names the block of that /64. */
export function parseBucket(text: string): string | null {
  const address = parseIpAddress(text.replace(/::\/64$/, "::"));
  return address === null ? null : toIpBucket(address);
}
