import { type Static, Type } from "typebox";
import type { AccessStore } from "../../../access/access-store.ts";
import { type ApiKey, getStatus, type IssuedKey } from "../../../access/api-key.ts";
import { scopes } from "../../../access/key-format.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nullable } from "../../../rows/wire-format.ts";
import type { Cursors } from "../../route/cursor.ts";

/** The services that the endpoints of keys and IP blocks use. */
export type AdminServices = Pick<AccessStore, "keys" | "ipBlocks" | "audit"> & {
  readonly cursors: Cursors;
  readonly clock: Clock;
};

const examples = ["0f6944c4-c339-4916-b35d-054d2ac053e8"];
const textOrNull = nullable(Type.String());
const commonFields = {
  id: Type.String({ format: "uuid", examples }),
  prefix: Type.String(),
  name: Type.String(),
  scope: Type.Enum([...scopes]),
  rate_limit: Type.Integer(),
  created_at: Type.String({ format: "date-time" }),
  expires_at: textOrNull,
};

/** A key without its value. */
export const keySchema = Type.Object({
  ...commonFields,
  status: Type.Enum(["active", "expired", "revoked"]),
  allowed_ips: Type.Array(Type.String()),
  previous_value_expires_at: nullable(Type.String(), {
    description: "Until when the value before the last rotation works; null when it does not",
  }),
  revoked_at: textOrNull,
  last_used_at: textOrNull,
  request_count: Type.Integer(),
});

/** A new key with its value, which is shown only once. */
export const issuedKeySchema = Type.Object({ ...commonFields, key: Type.String() });

/** Any text is accepted as an id. An invalid id is a key that does not exist. */
export const keyParams = Type.Object({ id: Type.String({ examples }) });

/** Returns a key without its value. Its status depends on `nowMs`. */
export function showKey(key: ApiKey, nowMs: number): Static<typeof keySchema> {
  return {
    ...showCommon(key),
    status: getStatus(key, nowMs),
    allowed_ips: [...key.allowedIps],
    previous_value_expires_at: showTime(key.previousUntilMs),
    revoked_at: showTime(key.revokedAtMs),
    last_used_at: showTime(key.lastUsedAtMs),
    request_count: key.requestCount,
  };
}

/** Returns a new key with its value. The service does not store the value. */
export function showIssuedKey({ key, value }: IssuedKey): Static<typeof issuedKeySchema> {
  return { ...showCommon(key), key: value };
}

function showCommon(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    scope: key.scope,
    rate_limit: key.requestsPerMinute,
    created_at: new Date(key.createdAtMs).toISOString(),
    expires_at: showTime(key.expiresAtMs),
  };
}

function showTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
