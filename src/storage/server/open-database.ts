import { closeOnError } from "../../base/close-on-error.ts";
import type { Config } from "../../base/config/config.ts";
import { AppError } from "../../base/errors.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { toIdentity } from "../directory/identity.ts";
import type { Engine } from "../engine/engine.ts";
import {
  type Database,
  prepareDatabase,
  readSchemaVersion,
  refuseOtherDatabase,
} from "./prepare-database.ts";
import { getServerSettings, ServerEngine, type ServerSettings } from "./server-engine.ts";

/** A database on a ClickHouse server, how to connect to it, and the identity of its facts. */
export type ServerDatabase = Database & ServerSettings;

/** Returns the database that a configuration names, without its server. */
export function getDatabase(config: Config, contracts: Contracts): Database {
  return {
    database: config.clickhouseDatabase,
    cluster: config.clickhouseCluster,
    identity: toIdentity(config.chainId, contracts),
  };
}

/** Returns the database and server that a configuration names. Throws `ConfigError` when it names no server. */
export function getServerDatabase(config: Config, contracts: Contracts): ServerDatabase {
  return { ...getServerSettings(config), ...getDatabase(config, contracts) };
}

/**
 * Connects, and creates or migrates the database and its tables. Throws `SERVICE_UNAVAILABLE` when the server cannot be
 * used, and `ConfigError` as `prepareDatabase` does.
 */
export async function openDatabase(target: ServerDatabase): Promise<Engine> {
  const engine = await ServerEngine.openOrMake(target);
  await closeOnError(engine, () => prepareDatabase(engine, target));
  return engine;
}

/**
 * Connects to an existing database. Nothing is created or written, so the right to `SELECT` suffices. Throws as
 * `openDatabase` does, and `NOT_FOUND` when the database has no tables.
 */
export async function openExistingDatabase(target: ServerDatabase): Promise<Engine> {
  const engine = await ServerEngine.open(target);
  return closeOnError(engine, async () => {
    if ((await readSchemaVersion(engine)) === 0) {
      const publicMessage = `the database ${target.database} has no tables yet`;
      throw new AppError("NOT_FOUND", { publicMessage });
    }
    await refuseOtherDatabase(engine, target);
    return engine;
  });
}
