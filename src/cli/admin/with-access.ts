import type { AccessStore } from "../../access/access-store.ts";
import { openAccess } from "../../access/open-access.ts";
import { readConfig } from "../../base/config/config.ts";
import { webLimits } from "../../base/config/limits.ts";
import { openLog } from "../../base/log.ts";
import { systemClock } from "../../base/time/clock.ts";

/**
 * Lends the keys and blocks in force: those of the data folder, or of the cluster that is configured. When it resolves,
 * a service that runs on the folder follows what was changed.
 */
export async function withAccess<Result>(
  work: (access: AccessStore) => Promise<Result>,
  config = readConfig("administer"),
): Promise<Result> {
  const log = openLog({ level: "warn" });
  const access = await openAccess(config, { isNode: false, log });
  try {
    return await work(access);
  } finally {
    await access.close();
    await systemClock.sleep(webLimits.accessRecheckMs, new AbortController().signal);
  }
}
