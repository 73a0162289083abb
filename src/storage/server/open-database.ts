import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../base/config/config.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Engine, OpenedEngine } from "../engine/engine.ts";
import { type FactsIdentity, identityOf } from "../identity.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { ServerEngine, type ServerSettings } from "./server-engine.ts";

/** A database on a ClickHouse server, and the facts that it is for. */
export type ServerPlace = {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly identity: FactsIdentity;
};

/** The database that a configuration names; `null` for the engine in the process. */
export function serverPlaceOf(config: Config, contracts: Contracts): ServerPlace | null {
  const { clickhouseUrl: url, chainId } = config;
  if (url === null) return null;
  return {
    url,
    user: config.clickhouseUser,
    password: config.clickhousePassword ?? "",
    database: config.clickhouseDatabase,
    identity: identityOf(chainId, contracts),
  };
}

/** Connects. `dataDir` is a folder of ours: rows of an insert are in it until they are sent. Throws `SERVICE_UNAVAILABLE`. */
export async function connectToServer(place: ServerPlace, dataDir: string): Promise<Engine> {
  return ServerEngine.open(await settingsOf(place, dataDir));
}

/**
 * Connects, and makes the database and its tables when there are none. Throws `SERVICE_UNAVAILABLE` without the server,
 * and `ConfigError` when the database is for other facts.
 */
export async function openDatabase(place: ServerPlace, dataDir: string): Promise<OpenedEngine> {
  const engine = await ServerEngine.openOrMake(await settingsOf(place, dataDir));
  try {
    await prepareDatabase(engine, place);
    return { engine, isShared: true };
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}

async function settingsOf(place: ServerPlace, dataDir: string): Promise<ServerSettings> {
  const { url, user, password, database } = place;
  const spoolDir = join(dataDir, "spool");
  await mkdir(spoolDir, { recursive: true });
  return { url, user, password, database, spoolDir };
}
