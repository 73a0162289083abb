import { AccessStore } from "../../access/access-store.ts";
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
  const access = AccessStore.open({ dataDir, pepper, adminKey, clock: systemClock, log });
  try {
    return await work(access);
  } finally {
    access.close();
  }
}
