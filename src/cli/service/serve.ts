import { saveCompiledCode } from "../../base/config/compile-cache.ts";
import { type Config, readConfig } from "../../base/config/config.ts";
import { openLog } from "../../base/log.ts";
import { RepairOrderedError } from "../../feed/auditor.ts";
import { Service } from "../../main.ts";
import { ClaimedElsewhereError } from "../../storage/server/claims.ts";
import { withAccess } from "../admin/with-access.ts";
import { type Command, exitCodes } from "../command.ts";
import { awaitSignal } from "./await-signal.ts";
import { environmentOf, settingFlags } from "./setting-flags.ts";
import { formatWelcome } from "./welcome.ts";

/** Runs until a signal, or until only a restart can help. */
export const serve: Command = {
  name: "serve",
  summary: "Index the chain and serve it",
  details: `Settings are ODDWIRE_* variables, also in a file .env; a flag wins over its variable. The first
start on a data folder makes an admin key and prints it, this once. Standard output says where it listens
(as one line of JSON unless it is a terminal); logs go to standard error. SIGTERM and SIGINT let requests
in flight finish.`,
  options: settingFlags(),
  examples: [
    "oddwire serve --rpc-url https://polygon-bor-rpc.publicnode.com --venue polymarket",
    "ODDWIRE_RPC_URLS=https://polygon-bor-rpc.publicnode.com oddwire serve",
  ],
  run: async (words) => {
    const config = readConfig("serve", environmentOf(words));
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
      if (failure instanceof RepairOrderedError || failure instanceof ClaimedElsewhereError)
        continue;
      process.stderr.write(`oddwire: indexing has stopped, start again: ${failure.message}\n`);
      return exitCodes.tryAgain;
    }
  },
};

/** An admin key for a data folder that never had any key; `null` for all others. */
async function createFirstKey(config: Config): Promise<string | null> {
  return withAccess(async ({ keys }) => {
    const [any] = await keys.list({ limit: 1, after: null });
    if (any !== undefined) return null;
    const key = { scope: "admin", expiresAtMs: null, allowedIps: [] } as const;
    return (await keys.create({ ...key, name: "first admin key" })).value;
  }, config);
}
