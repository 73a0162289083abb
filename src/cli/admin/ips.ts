import { parseBucket, showBlock } from "../../api/routes/admin/ip-block-routes.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { formatTable } from "../client/format-table.ts";
import { print, UsageError } from "../command.ts";
import { withAccess } from "./with-access.ts";

/** Prints the blocked IP addresses. */
export function listIps(options: { readonly json?: true }): Promise<number> {
  return withAccess(async ({ ipBlocks }) => {
    const blocks = await ipBlocks.list({ limit: webLimits.ipBlocksMax, after: null });
    const shown = blocks.map(showBlock);
    if (options.json === true) return print(...shown.map((block) => JSON.stringify(block)));
    if (shown.length === 0) return print("No IP address is blocked.");
    const rows = shown.map((block) => Object.values(block).map(String));
    return print(formatTable([["IP", "REASON", "OFFENSES", "SINCE", "UNTIL"], ...rows]));
  });
}

/** Unblocks an address. Throws `AppError` when it is not blocked. */
export async function unblockIp(ip: string): Promise<number> {
  await withAccess(async ({ ipBlocks }) => {
    const bucket = parseBucket(ip);
    if (bucket === null) throw new UsageError(`${ip} is not an IP address`);
    if (!(await ipBlocks.remove(bucket))) throw new AppError("NOT_FOUND", `${ip} is not blocked`);
  });
  return print("IP unblocked");
}
