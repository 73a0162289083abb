/**
 * Starts a role. The modules in `roles/` wire its parts.
 */
import { closeOnError } from "./base/close-on-error.ts";
import { ConfigError } from "./base/config/config.ts";
import { areOverlapping } from "./base/config/overlapping-folders.ts";
import { Lifetime } from "./roles/lifetime.ts";
import type { RoleStart } from "./roles/open-parts.ts";
import { readContracts } from "./roles/read-contracts.ts";
import type { IndexingPosition } from "./roles/serve-role.ts";
import { lockDataDirectory, readStartBlock } from "./storage/directory/data-directory.ts";

/** A running process of the service: its base URL, and its lifetime, which ends it. */
export type Service = Opened & { readonly life: Lifetime };

/** The URL of an open role, and where it indexes. */
export type Opened = { readonly url: string; readonly indexing?: IndexingPosition };

/**
 * Opens everything and resolves when the service answers requests. Indexing continues in the background.
 * Throws `ConfigError`, `WrongChainError`, `DataDirectoryBusyError` or `StoreDamagedError`, after closing
 * everything again. A start that waits for facts throws when `stop` is aborted.
 */
export async function openService(
  start: Pick<RoleStart, "role" | "config" | "log" | "stop">,
): Promise<Service> {
  const { config } = start;
  const life = new Lifetime();
  return closeOnError(life, async () => {
    if (config.lakeDir !== null && areOverlapping(config.lakeDir, config.dataDir)) {
      throw new ConfigError([
        "ODDWIRE_LAKE_DIR and ODDWIRE_DATA_DIR overlap: give the lake a folder of its own",
      ]);
    }
    const contracts = await readContracts(config);
    life.onClose(lockDataDirectory(config.dataDir));
    const startedAt = await readStartBlock({ config, contracts });
    return { ...(await openRole({ ...start, life, contracts, startedAt })), life };
  });
}

/** Loads only the modules of the role, so that the embedded default loads no code of a cluster. */
async function openRole(start: RoleStart): Promise<Opened> {
  switch (start.role) {
    case "serve":
      return (await import("./roles/serve-role.ts")).openServe(start);
    case "index":
      return { url: await (await import("./roles/indexer-role.ts")).openIndex(start) };
    case "api":
      return { url: await (await import("./roles/api-role.ts")).openApi(start) };
  }
}
