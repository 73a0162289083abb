import type { AccessStore } from "../../access/access-store.ts";
import { openAccess } from "../../access/open-access.ts";
import { readConfig } from "../../base/config/config.ts";
import { openLog } from "../../base/log.ts";

/**
 * Lends the keys and blocks in force: those of the data folder, or of the cluster that is configured. Running services
 * follow what is changed immediately.
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
  }
}
