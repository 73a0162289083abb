import { flushCompileCache } from "node:module";
import { resolve } from "node:path";
import { type Config, type Role, readConfig } from "../../base/config/config.ts";
import { serverLimits } from "../../base/config/limits.ts";
import { version } from "../../base/config/version.ts";
import { StartAgainError } from "../../base/errors.ts";
import { openLog } from "../../base/log.ts";
import { type Opened, openService } from "../../main.ts";
import { DataDirectoryUnwritableError } from "../../storage/engine/store-errors.ts";
import { withAccess } from "../admin/with-access.ts";
import { closeBeforeExit, endIn, exitCodes, printOnce } from "../command.ts";
import { awaitSignal, signalToStop } from "./await-signal.ts";
import { type FlagValues, toEnvironment } from "./setting-flags.ts";
import { formatWelcome } from "./welcome.ts";

/** Runs a role until a signal, or until a failure that only a new process can repair. */
export async function runService(role: Role, options: FlagValues): Promise<number> {
  const config = readConfig(role, toEnvironment(options));
  const log = openLog({ level: config.logLevel });
  const stopped = awaitSignal();
  const stop = signalToStop();
  if (config.clickhouseUrl !== null) boundStop(stop);
  let { port } = config;
  for (;;) {
    const start = { role, config: { ...config, port }, log, stop };
    const service = await openService(start).catch((thrown: unknown) => {
      if (stop.aborted) return null;
      throw thrown;
    });
    if (service === null) return exitCodes.done;
    const release = closeBeforeExit(() => service.life.close());
    // A reader that has left, as `head` does, is no reason to stop a service that has started.
    if (process.stdout.writable) await printOnce(await welcome(config, service), lostKey);
    // Saves the compiled code now, for a start after a crash. The first time this blocks for some tenths of a second.
    flushCompileCache();
    // A service that starts again keeps its port.
    port = Number(new URL(service.url).port);
    const failure = await Promise.race([stopped, service.life.failed]);
    await service.life.close();
    release();
    if (failure === null) return exitCodes.done;
    if (failure instanceof StartAgainError) continue;
    const advice =
      failure instanceof DataDirectoryUnwritableError && failure.isDiskFull
        ? ` Free space in ${resolve(config.dataDir)}`
        : " Fix this";
    process.stderr.write(
      `oddwire: ${role} has stopped: ${failure.message}.${advice}, then start it again.\n`,
    );
    return exitCodes.tryAgain;
  }
}

const lostKey =
  "the start could not be reported; if it made the first admin key, `oddwire keys create --scope admin` makes another";

/** Returns what a start prints: the URL, and for `serve` all that an operator needs first. */
async function welcome(config: Config, { url, indexing }: Opened): Promise<string> {
  if (indexing === undefined) return `${JSON.stringify({ listening: url, version })}\n`;
  const adminKey = await createFirstKey(config);
  return formatWelcome({ config, url, indexing, adminKey, isTerminal: process.stdout.isTTY });
}

/** Creates an admin key in a data directory that never had a key; `null` when there are keys. */
async function createFirstKey(config: Config): Promise<string | null> {
  return withAccess(async ({ keys }) => {
    const [any] = await keys.list({ limit: 1, after: null });
    if (any !== undefined) return null;
    const key = { scope: "admin", expiresAtMs: null, allowedIps: [] } as const;
    return (await keys.create({ ...key, name: "first admin key" })).value;
  }, config);
}

/**
 * Ends the process some time after a signal, even if it still waits for a server. A query of a server that does not
 * respond takes up to a minute, and an append ten. Stored blocks stay, as after a kill.
 */
function boundStop(stop: AbortSignal): void {
  const why = "ends without waiting longer for the ClickHouse server";
  stop.addEventListener("abort", () => endIn(serverLimits.stopMsMax, why));
}
