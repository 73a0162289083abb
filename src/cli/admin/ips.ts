import type { IpBlock } from "../../access/ip-blocks.ts";
import { parseBucket, showBlock } from "../../api/routes/admin/ip-block-routes.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { formatTable } from "../client/format-table.ts";
import { exitCodes, UsageError } from "../command.ts";
import { withAccess } from "./with-access.ts";

/** Prints the blocked IP addresses. */
export function listIps(options: { readonly json?: true }): Promise<number> {
  return withAccess(async ({ ipBlocks }) => {
    const blocks = await ipBlocks.list({ limit: webLimits.ipBlocksMax, after: null });
    const lines = () => blocks.map((block) => `${JSON.stringify(showBlock(block))}\n`).join("");
    process.stdout.write(options.json === true ? lines() : formatBlocks(blocks));
    return exitCodes.done;
  });
}

/** Unblocks an address. Throws `AppError` when it is not blocked. */
export async function unblockIp(ip: string): Promise<number> {
  await withAccess(async ({ ipBlocks }) => {
    const bucket = parseBucket(ip);
    if (bucket === null) throw new UsageError(`${ip} is not an IP address`);
    if (!(await ipBlocks.remove(bucket))) throw new AppError("NOT_FOUND", `${ip} is not blocked`);
  });
  process.stdout.write("IP unblocked\n");
  return exitCodes.done;
}

function formatBlocks(blocks: readonly IpBlock[]): string {
  if (blocks.length === 0) return "No IP address is blocked.\n";
  const rows = blocks.map((block) => Object.values(showBlock(block)).map(String));
  return formatTable([["IP", "REASON", "OFFENSES", "SINCE", "UNTIL"], ...rows]);
}
