import { join } from "node:path";
import { type Config, ConfigError } from "../../base/config/config.ts";
import { AppError } from "../../base/errors.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Engine, OpenedEngine } from "../engine/engine.ts";
import { identityOf } from "../identity.ts";
import { type Coverage, readCoverage } from "../recover.ts";
import { targetOf } from "../schema/schema-target.ts";
import {
  type Database,
  prepareDatabase,
  readSchemaVersion,
  refuseOldServer,
  refuseOtherDatabase,
} from "./prepare-database.ts";
import { ServerEngine, type ServerSettings } from "./server-engine.ts";
import { readReplicated } from "./until-replicated.ts";

/** A database on a ClickHouse server, and the facts that it is for. */
export type ServerPlace = Database & Omit<ServerSettings, "spoolDir" | "queryTimeoutMs">;

/** Facts, and what of them the commit records commit. */
export type CommittedFacts = { readonly engine: Engine; readonly coverage: Coverage | null };

/** The database that a configuration names, on whatever server. */
export function databaseOf(config: Config, contracts: Contracts): Database {
  return {
    database: config.clickhouseDatabase,
    cluster: config.clickhouseCluster,
    identity: identityOf(config.chainId, contracts),
  };
}

/** The database and its server that a configuration names. Throws `ConfigError` when it names none. */
export function serverPlaceOf(config: Config, contracts: Contracts): ServerPlace {
  const { clickhouseUrl: url, clickhouseUser: user } = config;
  if (url === null) {
    throw new ConfigError(["ODDWIRE_CLICKHOUSE_URL is required: the server to use"]);
  }
  const password = config.clickhousePassword ?? "";
  return { url, user, password, ...databaseOf(config, contracts) };
}

/** Connects. `dataDir` is a folder of ours: rows of an insert are in it until they are sent. Throws `SERVICE_UNAVAILABLE`. */
export async function connectToServer(place: ServerPlace, dataDir: string): Promise<Engine> {
  return ServerEngine.open(settingsOf(place, dataDir));
}

/**
 * Connects, and makes the database and its tables when there are none. Throws `SERVICE_UNAVAILABLE` without the server,
 * and `ConfigError` when the database is for other facts.
 */
export async function openDatabase(place: ServerPlace, dataDir: string): Promise<OpenedEngine> {
  const engine = await ServerEngine.openOrMake(settingsOf(place, dataDir));
  try {
    await prepareDatabase(engine, place);
    return { engine, kind: targetOf(place).kind };
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}

/**
 * Connects to a database that is only read: nothing is made or written there, so the right to `SELECT` suffices. Waits
 * for replicas that are behind, as `readReplicated` does. Throws as `openDatabase` does, and `NOT_FOUND` when it has no
 * tables.
 */
export async function openDatabaseToRead(
  place: ServerPlace,
  dataDir: string,
  onWaiting: (reason: string) => void,
): Promise<CommittedFacts> {
  const engine = await connectToServer(place, dataDir);
  try {
    await refuseOldServer(engine);
    if ((await readSchemaVersion(engine)) === 0) {
      const publicMessage = `the database ${place.database} has no tables yet`;
      throw new AppError("NOT_FOUND", { publicMessage });
    }
    await refuseOtherDatabase(engine, place);
    const coverage =
      place.cluster === null
        ? await readCoverage(engine)
        : await readReplicated(engine, { onWaiting });
    return { engine, coverage };
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}

function settingsOf(place: ServerPlace, dataDir: string): ServerSettings {
  return { ...place, spoolDir: join(dataDir, "spool") };
}
