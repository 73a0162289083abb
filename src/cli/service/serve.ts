import { saveCompiledCode } from "../../base/config/compile-cache.ts";
import { type Config, readConfig } from "../../base/config/config.ts";
import { openLog } from "../../base/log.ts";
import { RepairOrderedError } from "../../feed/auditor.ts";
import { Service } from "../../main.ts";
import { ClaimedElsewhereError } from "../../storage/server/claims.ts";
import { withAccess } from "../admin/with-access.ts";
import { exitCodes } from "../command.ts";
import { awaitSignal } from "./await-signal.ts";
import { environmentOf, type FlagValues } from "./setting-flags.ts";
import { formatWelcome } from "./welcome.ts";

/** Runs until a signal, or until only a restart can help. */
export async function serve(options: FlagValues): Promise<number> {
  const config = readConfig("serve", environmentOf(options));
  const log = openLog({ level: config.logLevel });
  const stopped = awaitSignal();
  let { port } = config;
  for (;;) {
    const service = await Service.open({ ...config, port }, log);
    const adminKey = await createFirstKey(config);
    const isTerminal = process.stdout.isTTY;
    process.stdout.write(formatWelcome({ config, url: service.url, adminKey, isTerminal }));
    saveCompiledCode();
    // A service that starts again is found where it was.
    port = Number(new URL(service.url).port);
    const failure = await Promise.race([stopped, service.failed]);
    await service.close();
    if (failure === null) return exitCodes.done;
    if (failure instanceof RepairOrderedError || failure instanceof ClaimedElsewhereError) continue;
    process.stderr.write(`oddwire: indexing has stopped, start again: ${failure.message}\n`);
    return exitCodes.tryAgain;
  }
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
