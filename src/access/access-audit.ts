import type { Log } from "../base/log.ts";
import { KindCounts } from "../base/metrics/kind-counts.ts";
import type { AdminKeyImport } from "./key-record.ts";

/** A change to keys or IP blocks. `by` is the id of the key that made it; `null` for the service itself. */
type AccessChange = { readonly by: string | null } & (
  | {
      readonly action: "key_created" | "key_rotated" | "key_revoked" | "key_imported";
      readonly keyId: string;
    }
  | { readonly action: "ip_blocked" | "ip_unblocked"; readonly ip: string }
);

/** The audit trail: one log line for each change. It never contains the value of a key. */
export class AccessAudit {
  readonly counts = new KindCounts<AccessChange["action"]>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Logs the import of the configured admin key, or warns that the key no longer works. */
  recordImport(made: AdminKeyImport): void {
    if (made.kind === "imported")
      this.record({ action: "key_imported", keyId: made.keyId, by: null });
    if (made.kind === "dead") this.#log.warn(endedAdminKey);
  }

  record(change: AccessChange): void {
    this.counts.add(change.action);
    const target = "ip" in change ? { ip: change.ip } : { key_id: change.keyId };
    const [noun, verb] = change.action.split("_");
    const message = `${noun === "ip" ? "IP" : "API key"} ${verb}`;
    this.#log.info({ audit: change.action, by_key_id: change.by, ...target }, message);
  }
}

const endedAdminKey =
  "ODDWIRE_ADMIN_KEY is a key that was revoked or rotated or has expired here; it stays invalid. " +
  "Remove it, or set a new one.";
