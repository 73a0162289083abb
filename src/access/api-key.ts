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

/** Whether a key works, and if not, why. */
export type KeyStatus = "active" | "expired" | "revoked";

/** Returns the status of a key. A key that is both revoked and expired is `revoked`. */
export function getStatus(key: ApiKey, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return "revoked";
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active";
}
