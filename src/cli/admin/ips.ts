import type { IpBlock } from "../../access/ip-blocks.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { ipBucketOf, parseIpAddress } from "../../base/ip-address.ts";
import { formatTable } from "../client/format-table.ts";
import { exitCodes, UsageError } from "../command.ts";
import { withAccess } from "./with-access.ts";

/** Prints the blocked IP addresses. */
export function listIps(options: { readonly json?: true }): Promise<number> {
  return withAccess(async ({ ipBlocks }) => {
    const blocks = await ipBlocks.list({ limit: webLimits.ipBlocksMax, after: null });
    process.stdout.write(options.json === true ? formatLines(blocks) : formatBlocks(blocks));
    return exitCodes.done;
  });
}

/** Unblocks an address. Throws `AppError` when it is not blocked. */
export async function unblockIp(ip: string): Promise<number> {
  await withAccess(async ({ ipBlocks }) => {
    const address = parseIpAddress(ip.replace(/::\/64$/, "::"));
    if (address === null) throw new UsageError(`${ip} is not an IP address`);
    if (!(await ipBlocks.remove(ipBucketOf(address))))
      throw new AppError("NOT_FOUND", `${address} is not blocked`);
  });
  process.stdout.write("IP unblocked\n");
  return exitCodes.done;
}

function formatLines(blocks: readonly IpBlock[]): string {
  return blocks
    .map((block) => {
      const { bucket: ip, reason, offenses, blockedAtMs, blockedUntilMs } = block;
      const [blocked_at, blocked_until] = [timeOf(blockedAtMs), timeOf(blockedUntilMs)];
      return `${JSON.stringify({ ip, reason, offenses, blocked_at, blocked_until })}\n`;
    })
    .join("");
}

function formatBlocks(blocks: readonly IpBlock[]): string {
  if (blocks.length === 0) return "No IP address is blocked.\n";
  const rows = blocks.map(({ bucket, reason, offenses, blockedAtMs, blockedUntilMs }) => [
    bucket,
    reason,
    String(offenses),
    timeOf(blockedAtMs),
    timeOf(blockedUntilMs),
  ]);
  return formatTable([["IP", "REASON", "OFFENSES", "SINCE", "UNTIL"], ...rows]);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
