import { join } from "node:path";
import { webLimits } from "../../base/config/limits.ts";
import { checkKeptFile, makeDataDirectory } from "../../base/config/make-data-directory.ts";
import { toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { StoreDamagedError } from "../../storage/engine/store-errors.ts";
import { withKeptFile } from "../../storage/sqlite/sqlite-failure.ts";
import { AccessAudit } from "../access-audit.ts";
import type { AccessStore } from "../access-store.ts";
import type { KeysOptions } from "../keys.ts";
import { AccessDatabase } from "./access-database.ts";
import { LocalIpBlocks } from "./local-ip-blocks.ts";
import { LocalKeys } from "./local-keys.ts";
import { LocalWindow } from "./local-window.ts";
import { readPepper } from "./pepper.ts";

type AccessOptions = Omit<KeysOptions, "pepper"> & {
  readonly dataDir: string;
  /** The configured pepper; `null` to use the one in the data directory. */
  readonly pepper: string | null;
  readonly log: Log;
  /** With `read` nothing is written, and the pepper is not checked. `serve` by default. */
  readonly use?: AccessUse;
};

/** What keys and IP blocks are opened for. */
export type AccessUse = "serve" | "change" | "read";

/** The file of the keys and IP blocks in a data directory. */
export const accessFileName = "access.sqlite";

/**
 * The access store of one process: keys and blocked IPs are in `access.sqlite` of the data directory, request counts in
 * memory. The service and the command line can have the file open at the same time. Each applies the other's changes.
 */
export class LocalAccess implements AccessStore {
  readonly keys: LocalKeys;
  readonly ipBlocks: LocalIpBlocks;
  readonly audit: AccessAudit;
  readonly metrics = null;
  readonly refusal = null;
  readonly clockDetail = null;
  readonly keyWindow = new LocalWindow(webLimits.keyWindow);
  readonly ipWindow = new LocalWindow(webLimits.ipWindow);
  readonly offenseWindow = new LocalWindow(webLimits.offenseWindow);
  readonly #database: AccessDatabase;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #log: Log;

  private constructor(database: AccessDatabase, pepper: string, options: AccessOptions) {
    const { clock, log } = options;
    this.#database = database;
    this.#log = log;
    this.audit = new AccessAudit(log);
    this.keys = new LocalKeys({ ...options, database, pepper });
    this.ipBlocks = new LocalIpBlocks(database, clock);
    const { accessFollowMs, accessFlushMs } = webLimits;
    this.#timers = [
      setInterval(() => guarded(log, () => this.#follow()), accessFollowMs).unref(),
      setInterval(() => guarded(log, () => this.#flush()), accessFlushMs).unref(),
    ];
  }

  /** Throws `ConfigError` for a wrong pepper, `StoreDamagedError`, `DataDirectoryUnwritableError`. */
  static open(options: AccessOptions): LocalAccess {
    const { dataDir, use = "serve" } = options;
    const path = join(dataDir, accessFileName);
    const advice = "delete it: keys must then be created again";
    return withKeptFile({ path, advice }, () => {
      if (use === "read") checkKeptFile(path);
      else makeDataDirectory(dataDir, 0o700);
      const pepper = options.pepper ?? (use === "read" ? "" : readPepper(dataDir));
      const database =
        use === "read" ? AccessDatabase.openReadOnly(path) : AccessDatabase.open(path);
      try {
        if (!database.isWhole()) throw new StoreDamagedError(`${path} is damaged`, { advice });
        return new LocalAccess(database, pepper, options);
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (!this.#database.sql.isOpen) return;
    for (const timer of this.#timers) clearInterval(timer);
    guarded(this.#log, () => this.#flush());
    this.#database.close();
  }

  /** Applies changes of other processes even without requests, so that they reach open sockets. */
  #follow(): void {
    this.keys.refresh();
    this.ipBlocks.refresh();
  }

  #flush(): void {
    this.keys.flush();
    this.ipBlocks.flush();
  }
}

/** Runs `work` and logs a failure: a disk that is full for a while must not end the process. The next round retries. */
function guarded(log: Log, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    log.error({ err: toError(thrown) }, "keys or IP blocks could not be read or written; retrying");
  }
}
