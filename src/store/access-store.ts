import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { toError } from "../base/errors.ts";
import { webLimits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { AccessDatabase } from "./access-database.ts";
import { IpBlocks } from "./ip-blocks.ts";
import { KeyStore } from "./key-store.ts";
import { readPepper } from "./pepper.ts";

/**
 * Who may call: keys and blocked IPs, in `access.sqlite` of the data folder. The service and the
 * command line may have it open at the same time; what one changes, the other follows at once.
 */
export class AccessStore {
  readonly keys: KeyStore;
  readonly ipBlocks: IpBlocks;
  readonly #database: AccessDatabase;
  readonly #pepper: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(options: {
    database: AccessDatabase;
    pepper: string;
    clock: Clock;
    log: Log;
  }) {
    const { database, pepper, clock, log } = options;
    this.#database = database;
    this.#pepper = pepper;
    this.keys = KeyStore.open({ database, pepper, clock });
    this.ipBlocks = IpBlocks.open({ database, clock });
    this.#timer = setInterval(() => this.#tick(log), webLimits.accessFlushMs);
    this.#timer.unref();
  }

  /** `pepper` and `adminKey` come from the configuration. Throws `ConfigError` when they do not fit. */
  static open(options: {
    dataDir: string;
    pepper: string | null;
    adminKey: string | null;
    clock: Clock;
    log: Log;
  }): AccessStore {
    const { dataDir, clock, log } = options;
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const pepper = options.pepper ?? readPepper(dataDir);
    const database = AccessDatabase.open(join(dataDir, "access.sqlite"));
    try {
      const store = new AccessStore({ database, pepper, clock, log });
      if (options.adminKey !== null) store.keys.ensureAdminKey(options.adminKey);
      return store;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** A 32-byte secret for another purpose, the same on every start and on every node. */
  deriveSecret(purpose: string): Buffer {
    return createHmac("sha256", this.#pepper).update(`oddwire ${purpose}`).digest();
  }

  /** Writes what is still in memory. */
  close(): void {
    clearInterval(this.#timer);
    this.keys.flush();
    this.ipBlocks.flush();
    this.#database.close();
  }

  /** Also without requests, changes from outside must reach the sockets that are open. */
  #tick(log: Log): void {
    try {
      this.keys.refresh();
      this.keys.flush();
      this.ipBlocks.refresh();
      this.ipBlocks.flush();
    } catch (thrown) {
      log.error({ err: toError(thrown) }, "keys and blocks were not saved; trying again");
    }
  }
}
