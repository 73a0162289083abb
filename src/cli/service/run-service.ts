import { saveCompiledCode } from "../../base/config/compile-cache.ts";
import { type Config, type Role, readConfig } from "../../base/config/config.ts";
import { openLog } from "../../base/log.ts";
import { RepairOrderedError } from "../../feed/auditor.ts";
import { Service } from "../../main.ts";
import { SupersededError } from "../../roles/lifetime.ts";
import { ClaimedElsewhereError } from "../../storage/server/claims.ts";
import { RepairedElsewhereError } from "../../storage/server/repairs.ts";
import { exitCodes } from "../command.ts";
import { awaitSignal } from "./await-signal.ts";
import { environmentOf, type FlagValues } from "./setting-flags.ts";

/** After these a new start in the same process goes on. */
const startsAgain = [
  RepairOrderedError,
  RepairedElsewhereError,
  ClaimedElsewhereError,
  SupersededError,
];

/** Runs a role until a signal, or until only a restart can help. `welcome` is printed with each start. */
export async function runService(
  role: Role,
  options: FlagValues,
  welcome: (config: Config, url: string) => Promise<string>,
): Promise<number> {
  const config = readConfig(role, environmentOf(options));
  const log = openLog({ level: config.logLevel });
  const stopped = awaitSignal();
  let { port } = config;
  for (;;) {
    const service = await Service.open(role, { ...config, port }, log);
    process.stdout.write(await welcome(config, service.url));
    saveCompiledCode();
    // A service that starts again is found where it was.
    port = Number(new URL(service.url).port);
    const failure = await Promise.race([stopped, service.failed]);
    await service.close();
    if (failure === null) return exitCodes.done;
    if (startsAgain.some((kind) => failure instanceof kind)) continue;
    process.stderr.write(`oddwire: ${role} has stopped; start it again: ${failure.message}\n`);
    return exitCodes.tryAgain;
  }
}
