import type { Log } from "../base/log.ts";
import { KindCounts } from "../base/metrics/kind-counts.ts";
import type { AdminKeyImport } from "./key-record.ts";

/** A change of who may call. `by` is the id of the acting key; `null` for the service itself. */
type AccessChange = { readonly by: string | null } & (
  | {
      readonly action: "key_created" | "key_rotated" | "key_revoked" | "key_imported";
      readonly keyId: string;
    }
  | { readonly action: "ip_blocked" | "ip_unblocked"; readonly ip: string }
);

/** What the nodes of a cluster agree on, as one of them knows it. */
export type ClusterStatus = {
  /** The newest change of keys that is in force. */
  readonly version: number;
  readonly isVerified: boolean;
  readonly liveNodes: number;
  /** Seconds since the start in which limits were not exact. */
  readonly inexactSeconds: number;
};

/** The audit trail: one log line for each change, which never has the value of a key. */
export class AccessAudit {
  readonly counts = new KindCounts<AccessChange["action"]>();
  readonly #log: Log;

  /** `null` in one process. */
  readonly readCluster: (() => ClusterStatus) | null;

  constructor(log: Log, readCluster: (() => ClusterStatus) | null = null) {
    this.#log = log;
    this.readCluster = readCluster;
  }

  /** What became of the admin key of the configuration. */
  recordImport({ kind, keyId }: AdminKeyImport): void {
    if (kind === "imported") this.record({ action: "key_imported", keyId, by: null });
    if (kind === "dead") this.#log.warn(endedAdminKey);
  }

  record(change: AccessChange): void {
    this.counts.add(change.action);
    const target = "ip" in change ? { ip: change.ip } : { key_id: change.keyId };
    this.#log.info({ audit: change.action, by_key_id: change.by, ...target }, "access changed");
  }
}

/** What is logged when the admin key of the configuration no longer works. */
const endedAdminKey =
  "ODDWIRE_ADMIN_KEY is a key that was revoked or rotated or has expired here; it stays invalid. " +
  "Remove it, or set a new one.";
