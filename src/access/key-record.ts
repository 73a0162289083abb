import { assert } from "../base/assert.ts";
import { ConfigError } from "../base/config/config.ts";
import { webLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import type { ApiKey, NewKey } from "./api-key.ts";
import { parseKey } from "./key-format.ts";

/** A key as it is stored. Its values are stored only as MACs, each of 64 hex digits. */
export type KeyRecord = Omit<ApiKey, "requestsPerMinute" | "lastUsedAtMs" | "requestCount"> & {
  readonly mac: string;
  /** The MAC of the value before the last rotation; `null` without a rotation or when it had no grace period. */
  readonly previousMac: string | null;
};

/** How often a key was used, and when last. */
export type KeyUse = { readonly requests: number; readonly lastUsedAtMs: number | null };

/** The result of importing the configured admin key. `dead`: the key was issued once and no longer works. */
export type AdminKeyImport =
  | { readonly kind: "imported"; readonly keyId: string }
  | { readonly kind: "known" | "dead" };

/** Whether a key is neither revoked nor expired. */
export function isActive({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);
}

/** Throws `CONFLICT` when an active key has the name, which people distinguish keys by, or when there are too many. */
export function checkKeyCounts(keys: { readonly active: number; readonly named: number }): void {
  const { active, named } = keys;
  if (named > 0) throw new AppError("CONFLICT", "An active key has this name already");
  if (active >= webLimits.activeKeysMax)
    throw new AppError("CONFLICT", `There are ${active} active keys already`);
}

/** The error for another pepper. Without it, every key would be refused with no visible reason. */
export const otherPepper =
  "The pepper is not the one under which the stored keys were made; restore that one: ODDWIRE_HMAC_PEPPER, or the file pepper of the data directory";

/** The error for an id that has no active key. */
export function noActiveKey(): AppError {
  return new AppError("NOT_FOUND", "There is no active key with this id");
}

/** Returns the key to import for the configured admin key. Throws `ConfigError` when the value is not an admin key. */
export function getAdminKey(value: string): NewKey {
  const parsed = parseKey(value);
  if (parsed?.scope !== "admin")
    throw new ConfigError(["ODDWIRE_ADMIN_KEY must be an admin key, ow_admin_..."]);
  const name = `from ODDWIRE_ADMIN_KEY (${parsed.prefix})`;
  return { name, scope: "admin", expiresAtMs: null, allowedIps: [] };
}

/** Returns the part of a key's value that may be shown. */
export function getPrefix(value: string): string {
  const parsed = parseKey(value);
  assert(parsed !== null, "a key we made must parse");
  return parsed.prefix;
}
