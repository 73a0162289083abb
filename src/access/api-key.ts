import type { Scope } from "./key-format.ts";

/** What is known of a key; its value is not. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly prefix: string;
  /** Of its scope, in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** Addresses and CIDR ranges it works from; empty means everywhere. */
  readonly allowedIps: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** Until when the value before the last rotation works; `null` when it does not. */
  readonly previousUntilMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly requestCount: number;
};

/** What is asked for when a key is made. */
export type NewKey = Pick<ApiKey, "name" | "scope" | "expiresAtMs" | "allowedIps">;

/** A key at the one moment its value is known. */
export type IssuedKey = { readonly key: ApiKey; readonly value: string };

/** The caller of a request: which key, through which of its values. */
export type VerifiedKey = {
  readonly id: string;
  readonly scope: Scope;
  readonly requestsPerMinute: number;
  /** Names the value that was shown without revealing it. */
  readonly fingerprint: string;
};

/** A place in the list of keys, which runs from the newest to the oldest. */
export type KeyPosition = { readonly createdAtMs: number; readonly id: string };

/**
 * The keys of the service, in SQLite or shared by the nodes of a cluster. What changes keys resolves only once the
 * change is durable and in force, on every node.
 */
export type Keys = {
  /** Whether what is known of keys is current. `verify` throws `SERVICE_UNAVAILABLE` while it is not; in one process it always is. */
  readonly isVerified: boolean;
  /** The live key of a presented value; `null`, after the same work, for every kind of bad one. */
  verify(value: string | undefined, ip: string): VerifiedKey | null;
  /** Whether the value that was verified still works; for sockets, which outlive one request. */
  isLive(key: VerifiedKey): boolean;
  /** `CONFLICT` when an active key has the name, or when there are too many. */
  create(input: NewKey): Promise<IssuedKey>;
  /** Newest first, revoked ones included. */
  list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]>;
  get(id: string): Promise<ApiKey | null>;
  /** A new value; the old one works for `graceMs` more. `NOT_FOUND` unless the key is active. */
  rotate(id: string, graceMs: number): Promise<IssuedKey>;
  /** For good. `NOT_FOUND` for an unknown or a revoked id. */
  revoke(id: string): Promise<void>;
  /** Calls back, before the change is answered, whenever values may have died: ask `isLive`. */
  onEnded(listener: () => void): void;
};

/** Whether a key works, and why not. */
export type KeyStatus = "active" | "expired" | "revoked";

/** A key that is both revoked and expired is reported as revoked, the stronger of the two. */
export function statusOf(key: ApiKey, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return "revoked";
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active";
}
