import type { AccessStore } from "../../access/access-store.ts";
import { openAccess } from "../../access/open-access.ts";
import { readConfig } from "../../base/config/config.ts";
import { webLimits } from "../../base/config/limits.ts";
import { openLog } from "../../base/log.ts";
import { systemClock } from "../../base/time/clock.ts";

/**
 * Opens the keys and IP blocks of the data directory, or of the configured cluster, and passes them to `work`. When it
 * resolves, a service that runs on the directory has applied the changes. With `read` nothing is written.
 */
export async function withAccess<Result>(
  work: (access: AccessStore) => Promise<Result>,
  config = readConfig("administer"),
  use: "change" | "read" = "change",
): Promise<Result> {
  const log = openLog({ level: "warn" });
  const access = await openAccess(config, { use, log });
  try {
    return await work(access);
  } finally {
    await access.close();
    if (use === "change")
      await systemClock.sleep(webLimits.accessRecheckMs, new AbortController().signal);
  }
}
