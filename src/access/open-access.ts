import { join } from "node:path";
import { type Config, ConfigError } from "../base/config/config.ts";
import { accessLimits } from "../base/config/limits.ts";
import { makeDataFolder } from "../base/config/make-data-folder.ts";
import type { Log } from "../base/log.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import { LocalAccess } from "./local/local-access.ts";

/**
 * Opens the keys, limits and blocks that a configuration names: those of the cluster when it has a ClickHouse and a
 * Redis, else those of the data folder. `isNode` is for processes that answer requests, which a revocation waits for.
 * Throws `ConfigError`, and `SERVICE_UNAVAILABLE` without ClickHouse.
 */
export async function openAccess(
  config: Config,
  { isNode, log }: { readonly isNode: boolean; readonly log: Log },
): Promise<AccessStore> {
  const { dataDir, hmacPepper: pepper, adminKey, clickhouseUrl: url, redisUrl } = config;
  const { rateLimitRead: read, rateLimitWrite: write, rateLimitAdmin: admin } = config;
  const common = { adminKey, requestsPerMinute: { read, write, admin }, clock, log };
  if (url === null || redisUrl === null) return LocalAccess.open({ dataDir, pepper, ...common });
  if (pepper === null) throw new ConfigError([pepperRequired]);
  // The cluster's code, and the clients of its servers, are loaded only where there is one.
  const { ServerEngine } = await import("../storage/server/server-engine.ts");
  const { ClusterAccess } = await import("./cluster/cluster-access.ts");
  makeDataFolder(dataDir, 0o700);
  const engine = await ServerEngine.open({
    url,
    user: config.clickhouseUser,
    password: config.clickhousePassword ?? "",
    database: config.clickhouseDatabase,
    cluster: config.clickhouseCluster,
    spoolDir: join(dataDir, "spool"),
    queryTimeoutMs: accessLimits.queryTimeoutMs,
  });
  try {
    const { limitsWithoutRedis } = config;
    const redisPrefix = `oddwire:${config.clickhouseDatabase}`;
    const cluster = { engine, redisUrl, redisPrefix, pepper, limitsWithoutRedis, isNode };
    return await ClusterAccess.open({ ...cluster, ...common });
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}

const pepperRequired =
  "ODDWIRE_HMAC_PEPPER is required with ODDWIRE_REDIS_URL: the same on every node of the cluster";
