import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../base/config/config.ts";
import { requireFacts } from "../../base/config/make-data-directory.ts";
import { openLog } from "../../base/log.ts";
import { exportFacts } from "../../roles/export-facts.ts";
import { Lifetime } from "../../roles/lifetime.ts";
import {
  openReadFacts,
  openState,
  openWrittenFacts,
  type RoleStart,
} from "../../roles/open-parts.ts";
import { readContracts } from "../../roles/read-contracts.ts";
import { lockDataDirectory, readStartBlock } from "../../storage/directory/data-directory.ts";
import { exitCodes, print, UsageError } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { toEnvironment } from "../service/setting-flags.ts";
import { readSignKey } from "./lake-keys.ts";
import { refuseOverlap } from "./refuse-overlap.ts";

/** Two cores are busy with three: one of them waits for the disk. */
const tablesAtOnce = 3;

/** The options of `export` for a lake. */
export type LakeOptions = {
  readonly lake?: string;
  readonly from?: string;
  readonly to?: string;
  readonly signKey?: string;
  readonly dataDir?: string;
};

/** Adds final days to the lake in a folder, from the data directory or the ClickHouse server. */
export async function exportLakeCommand(options: LakeOptions): Promise<number> {
  const { lake: folder = "", from, to } = options;
  for (const [flag, text] of Object.entries({ from, to })) refuseOtherThanDay(flag, text);
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError("--from is after --to");
  const signKey = readSignKey(options.signKey);
  const stop = signalToStop();
  const life = new Lifetime();
  try {
    const start = await openStart(options, { life, stop });
    const { config } = start;
    const facts =
      config.clickhouseUrl === null ? await openWrittenFacts(start) : await openReadFacts(start);
    const state = await openState(start, facts);
    const manifest = await exportFacts(start, {
      folder,
      facts,
      state,
      signKey,
      tablesAtOnce,
      from,
      to,
      signal: stop,
      onDay: ({ date, rows }) => process.stderr.write(`${date}: ${rows} facts\n`),
    });
    const { first_block: first, last_block: last } = manifest;
    return print(`${folder} has blocks ${first} to ${last.number}`);
  } catch (thrown) {
    // The same command adds the days that are missing.
    if (stop.aborted) return exitCodes.tryAgain;
    throw thrown;
  } finally {
    await life.close();
  }
}

async function openStart(
  options: LakeOptions,
  { life, stop }: Pick<RoleStart, "life" | "stop">,
): Promise<RoleStart> {
  const configured = readConfig("administer", toEnvironment({ dataDir: options.dataDir }));
  refuseOverlap(options.lake ?? "", configured.dataDir);
  const isServer = configured.clickhouseUrl !== null;
  // With a server the folder is a cache, which a service on this machine can have locked.
  const dataDir = isServer ? await makeTemporaryFolder(life) : configured.dataDir;
  const config = { ...configured, dataDir };
  const contracts = await readContracts(config);
  if (!isServer) requireFacts(dataDir);
  life.onClose(lockDataDirectory(dataDir));
  const startedAt = await readStartBlock({ config, contracts });
  return {
    role: "serve",
    config,
    contracts,
    startedAt,
    log: openLog({ level: "error" }),
    life,
    stop,
  };
}

async function makeTemporaryFolder(life: Lifetime): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-export-"));
  life.onClose(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function refuseOtherThanDay(flag: string, text: string | undefined): void {
  if (text === undefined) return;
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // JavaScript reads February 31 as March 3.
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
  if (!isDay) throw new UsageError(`--${flag} is a day, such as 2026-11-01`);
}
