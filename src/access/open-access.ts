import { closeOnError } from "../base/close-on-error.ts";
import { type Config, ConfigError } from "../base/config/config.ts";
import { accessLimits } from "../base/config/limits.ts";
import { makeDataDirectory } from "../base/config/make-data-directory.ts";
import type { Log } from "../base/log.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import { type AccessUse, LocalAccess } from "./local/local-access.ts";

type OpenOptions = {
  /** `serve`: this process serves requests, so that revocations wait for it. `read`: nothing is written. */
  readonly use: AccessUse;
  readonly log: Log;
};

/**
 * Opens the configured keys, limits and IP blocks, and imports the configured admin key. Throws `ConfigError`, and
 * `SERVICE_UNAVAILABLE` when the cluster's ClickHouse cannot be reached.
 */
export async function openAccess(config: Config, options: OpenOptions): Promise<AccessStore> {
  const { adminKey } = config;
  const access = await openStore(config, options);
  return closeOnError(access, async () => {
    if (adminKey !== null && options.use !== "read")
      access.audit.recordImport(await access.keys.ensureAdminKey(adminKey));
    return access;
  });
}

/** Opens the store of the cluster when Redis is configured, else the one in the data directory. */
async function openStore(config: Config, { use, log }: OpenOptions): Promise<AccessStore> {
  const { dataDir, hmacPepper: pepper, clickhouseUrl: url, redisUrl } = config;
  const { rateLimitRead: read, rateLimitWrite: write, rateLimitAdmin: admin } = config;
  const common = { requestsPerMinute: { read, write, admin }, clock, log };
  if (redisUrl === null) return LocalAccess.open({ dataDir, pepper, use, ...common });
  if (url === null) throw new ConfigError([clickhouseRequired]);
  if (pepper === null) throw new ConfigError([pepperRequired]);
  // The code of the cluster is loaded only when there is a cluster.
  const { ServerEngine, getServerSettings } = await import("../storage/server/server-engine.ts");
  const { ClusterAccess } = await import("./cluster/cluster-access.ts");
  makeDataDirectory(dataDir, 0o700);
  const { queryTimeoutMs } = accessLimits;
  const engine = await ServerEngine.open({ ...getServerSettings(config), queryTimeoutMs });
  const { limitsWithoutRedis, clickhouseDatabase: database } = config;
  const cluster = {
    engine,
    redisUrl,
    database,
    pepper,
    limitsWithoutRedis,
    isNode: use === "serve",
  };
  return closeOnError(engine, () => ClusterAccess.open({ ...cluster, ...common }));
}

const clickhouseRequired =
  "ODDWIRE_CLICKHOUSE_URL is required with ODDWIRE_REDIS_URL: the keys of a cluster are on its ClickHouse server";
const pepperRequired =
  "ODDWIRE_HMAC_PEPPER is required with ODDWIRE_REDIS_URL: the same on every node of the cluster";
