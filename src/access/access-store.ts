import { createHmac } from "node:crypto";
import { join } from "node:path";
import { webLimits } from "../base/config/limits.ts";
import { makeDataFolder } from "../base/config/make-data-folder.ts";
import { toError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/time/clock.ts";
import { withKeptFile } from "../storage/sqlite/sqlite-failure.ts";
import { AccessAudit } from "./access-audit.ts";
import { AccessDatabase } from "./access-database.ts";
import { IpBlocks } from "./ip-blocks.ts";
import type { Scope } from "./key-format.ts";
import { KeyStore } from "./key-store.ts";
import { readPepper } from "./pepper.ts";

type AccessOptions = {
  readonly dataDir: string;
  /** From the configuration; `null` for the one in the data folder. */
  readonly pepper: string | null;
  /** From the configuration. */
  readonly adminKey: string | null;
  /** Of keys, by scope; see `KeyStore`. */
  readonly requestsPerMinute?: Readonly<Record<Scope, number>>;
  readonly clock: Clock;
  readonly log: Log;
};

const deadAdminKey =
  "ODDWIRE_ADMIN_KEY is a key that was revoked or rotated or has expired here; it stays invalid. " +
  "Remove it, or set a new one.";

/**
 * Who may call: keys and blocked IPs, in `access.sqlite` of the data folder. The service and the
 * command line may have it open at the same time; what one changes, the other follows immediately.
 */
export class AccessStore {
  readonly keys: KeyStore;
  readonly ipBlocks: IpBlocks;
  readonly audit: AccessAudit;
  readonly #database: AccessDatabase;
  readonly #pepper: string;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #log: Log;

  private constructor(database: AccessDatabase, pepper: string, options: AccessOptions) {
    const { adminKey, clock, log, requestsPerMinute } = options;
    this.#database = database;
    this.#pepper = pepper;
    this.#log = log;
    this.audit = new AccessAudit(log);
    this.keys = KeyStore.open({
      database,
      pepper,
      clock,
      ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    });
    if (adminKey !== null) this.#importAdminKey(adminKey);
    this.ipBlocks = IpBlocks.open({ database, clock });
    const { accessFollowMs, accessFlushMs } = webLimits;
    this.#timers = [
      setInterval(() => guarded(log, () => this.#follow()), accessFollowMs).unref(),
      setInterval(() => guarded(log, () => this.#flush()), accessFlushMs).unref(),
    ];
  }

  /**
   * Throws `ConfigError` when the pepper or the admin key does not fit, `DataFolderDamagedError` and
   * `DataFolderUnwritableError`.
   */
  static open(options: AccessOptions): AccessStore {
    const path = join(options.dataDir, "access.sqlite");
    return withKeptFile(path, () => AccessStore.#open(path, options));
  }

  static #open(path: string, options: AccessOptions): AccessStore {
    const { dataDir } = options;
    makeDataFolder(dataDir, 0o700);
    const pepper = options.pepper ?? readPepper(dataDir);
    const database = AccessDatabase.open(path);
    try {
      return new AccessStore(database, pepper, options);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #importAdminKey(value: string): void {
    const { kind, keyId } = this.keys.ensureAdminKey(value);
    if (kind === "imported") this.audit.record({ action: "key_imported", keyId, by: null });
    if (kind === "dead") this.#log.warn(deadAdminKey);
  }

  /** A 32-byte secret for another purpose, the same on every start and on every node. */
  deriveSecret(purpose: string): Buffer {
    return createHmac("sha256", this.#pepper).update(`oddwire ${purpose}`).digest();
  }

  /** Writes what is still in memory, if the disk lets it. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    guarded(this.#log, () => this.#flush());
    this.#database.close();
  }

  /** Also without requests, changes from outside must reach the sockets that are open. */
  #follow(): void {
    this.keys.refresh();
    this.ipBlocks.refresh();
  }

  #flush(): void {
    this.keys.flush();
    this.ipBlocks.flush();
  }
}

/** A disk that is full for a while must not end the process; the next round tries again. */
function guarded(log: Log, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    log.error({ err: toError(thrown) }, "keys and blocks could not be synchronised");
  }
}
