import type { Scope } from "./key-format.ts";

/** A key as the service reports it, without its value. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly prefix: string;
  /** The limit of its scope, in requests in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** IP addresses and CIDR ranges that the key works from; empty for all. */
  readonly allowedIps: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** Until when the value before the last rotation works; `null` when it no longer works. */
  readonly previousUntilMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly requestCount: number;
};

/** The parameters of a new key. */
export type NewKey = Pick<ApiKey, "name" | "scope" | "expiresAtMs" | "allowedIps">;

/** A new or rotated key with its value, which is returned only once. */
export type IssuedKey = { readonly key: ApiKey; readonly value: string };

/** The key of a request, and which of its values was presented. */
export type VerifiedKey = {
  readonly id: string;
  readonly scope: Scope;
  readonly requestsPerMinute: number;
  /** Identifies the presented value without revealing it. */
  readonly fingerprint: string;
};

/** A position in the list of keys, which is ordered from newest to oldest. */
export type KeyPosition = { readonly createdAtMs: number; readonly id: string };

/**
 * The keys of the service, in SQLite or shared by the nodes of a cluster. A method that changes keys resolves only when
 * the change is durable and in force on every node.
 */
export type Keys = {
  /** Whether the keys in memory are known to be current; else no key works. Always true in one process. */
  readonly isVerified: boolean;
  /** Returns the live key of a presented value; `null` for any invalid value, after the same work. */
  verify(value: string | undefined, ip: string): VerifiedKey | null;
  /** Whether a verified value still works; for sockets, which outlive one request. */
  isLive(key: VerifiedKey): boolean;
  /** Creates a key. Throws `CONFLICT` when an active key has the name, or when there are too many active keys. */
  create(input: NewKey): Promise<IssuedKey>;
  /** Lists keys from newest to oldest, including revoked ones. */
  list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]>;
  get(id: string): Promise<ApiKey | null>;
  /** Gives a key a new value; the old one works for another `graceMs`. Throws `NOT_FOUND` unless the key is active. */
  rotate(id: string, graceMs: number): Promise<IssuedKey>;
  /** Revokes a key for good. Throws `NOT_FOUND` for an unknown or revoked id. */
  revoke(id: string): Promise<void>;
  /** Calls `listener` when values may have stopped working, before the change is acknowledged. Check `isLive` then. */
  onEnded(listener: () => void): void;
  /** Returns a 32-byte secret for another purpose. It is the same after every start and on every node. */
  deriveSecret(purpose: string): Buffer;
};

/** Whether a key works, and if not, why. */
export type KeyStatus = "active" | "expired" | "revoked";

/** Returns the status of a key. A key that is both revoked and expired is `revoked`. */
export function statusOf(key: ApiKey, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return "revoked";
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active";
}
