import type { Config } from "../../base/config/config.ts";
import { withAccess } from "../admin/with-access.ts";
import { runService } from "./run-service.ts";
import type { FlagValues } from "./setting-flags.ts";
import { formatWelcome } from "./welcome.ts";

/** Runs until a signal, or until only a restart can help. */
export async function serve(options: FlagValues): Promise<number> {
  return runService("serve", options, async (config, url) => {
    const adminKey = await createFirstKey(config);
    return formatWelcome({ config, url, adminKey, isTerminal: process.stdout.isTTY });
  });
}

/** An admin key for a data folder that never had any key; `null` for all others. */
async function createFirstKey(config: Config): Promise<string | null> {
  return withAccess(async ({ keys }) => {
    const [any] = await keys.list({ limit: 1, after: null });
    if (any !== undefined) return null;
    const key = { scope: "admin", expiresAtMs: null, allowedIps: [] } as const;
    return (await keys.create({ ...key, name: "first admin key" })).value;
  }, config);
}
