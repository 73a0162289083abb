import type { IpBlock } from "../../access/ip-blocks.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { ipBucketOf, parseIpAddress } from "../../base/ip-address.ts";
import { formatTable } from "../client/format-table.ts";
import { type Command, exitCodes, UsageError } from "../command.ts";
import { withAccess } from "./with-access.ts";

const listIps: Command = {
  name: "ips list",
  summary: "List the blocked IPs, the newest block first",
  details: "A running service writes new blocks down every 5 seconds.",
  options: { json: { description: "One JSON object a line" } },
  examples: ["oddwire ips list"],
  run: (words) =>
    withAccess(async ({ ipBlocks }) => {
      const blocks = ipBlocks.list({ limit: webLimits.ipBlocksMax, after: null });
      process.stdout.write(words.isOn("json") ? formatLines(blocks) : formatBlocks(blocks));
      return exitCodes.done;
    }),
};

const unblockIp: Command = {
  name: "ips unblock",
  summary: "Let a blocked IP in again, immediately",
  details: "Any address of a blocked IPv6 /64 names its block.",
  argument: { name: "IP" },
  options: {},
  examples: ["oddwire ips unblock 203.0.113.7", "oddwire ips unblock 2001:db8::/64"],
  run: ({ argument }) =>
    withAccess(async ({ ipBlocks }) => {
      const address = parseIpAddress((argument ?? "").replace(/::\/64$/, "::"));
      if (address === null) throw new UsageError(`${argument} is not an IP address`);
      if (!ipBlocks.remove(ipBucketOf(address)))
        throw new AppError("NOT_FOUND", { publicMessage: `${address} is not blocked` });
      process.stdout.write("IP unblocked\n");
      return exitCodes.done;
    }),
};

/** What can be done with blocked IPs without the service, or next to it. */
export const ipCommands: readonly Command[] = [listIps, unblockIp];

function formatLines(blocks: readonly IpBlock[]): string {
  return blocks
    .map((block) => {
      const { bucket: ip, reason, offences, blockedAtMs, blockedUntilMs } = block;
      const [blocked_at, blocked_until] = [timeOf(blockedAtMs), timeOf(blockedUntilMs)];
      return `${JSON.stringify({ ip, reason, offences, blocked_at, blocked_until })}\n`;
    })
    .join("");
}

function formatBlocks(blocks: readonly IpBlock[]): string {
  const rows = blocks.map(({ bucket, reason, offences, blockedAtMs, blockedUntilMs }) => [
    bucket,
    reason,
    String(offences),
    timeOf(blockedAtMs),
    timeOf(blockedUntilMs),
  ]);
  return formatTable([["IP", "REASON", "OFFENCES", "SINCE", "UNTIL"], ...rows]);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
