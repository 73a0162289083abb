import type { AccessStore } from "../../access/access-store.ts";
import { LocalAccess } from "../../access/local/local-access.ts";
import { readConfig } from "../../base/config/config.ts";
import { openLog } from "../../base/log.ts";
import { systemClock } from "../../base/time/clock.ts";

/**
 * Lends the keys and blocks of the data folder in force. A running service follows what is changed
 * immediately.
 */
export async function withAccess<Result>(
  work: (access: AccessStore) => Promise<Result>,
  config = readConfig("administer"),
): Promise<Result> {
  const { dataDir, hmacPepper: pepper, adminKey } = config;
  const log = openLog({ level: "warn" });
  const access = LocalAccess.open({ dataDir, pepper, adminKey, clock: systemClock, log });
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}
