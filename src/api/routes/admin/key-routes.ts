import { type Static, Type } from "typebox";
import type { AccessStore } from "../../../access/access-store.ts";
import { type ApiKey, getStatus, type IssuedKey } from "../../../access/api-key.ts";
import { isKeyName, keyNameRule, scopes } from "../../../access/key-format.ts";
import { webLimits } from "../../../base/config/limits.ts";
import { AppError } from "../../../base/errors.ts";
import { parsedText } from "../../../base/input/client-texts.ts";
import { invalid } from "../../../base/input/compile-reader.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nullable, nullableText } from "../../../rows/wire-format.ts";
import { cursor, ipRange, time } from "../../http/parameters.ts";
import type { CursorPosition, Cursors } from "../../route/cursor.ts";
import { answerPage, toListShape, toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** The services that the endpoints of keys and IP blocks use. */
export type AdminServices = Pick<AccessStore, "keys" | "ipBlocks" | "audit"> & {
  readonly cursors: Cursors;
  readonly clock: Clock;
};

const examples = ["0f6944c4-c339-4916-b35d-054d2ac053e8"];
const commonFields = {
  id: Type.String({ format: "uuid", examples }),
  prefix: Type.String(),
  name: Type.String(),
  scope: Type.Enum([...scopes]),
  rate_limit: Type.Integer(),
  created_at: Type.String({ format: "date-time" }),
  expires_at: nullableText,
};

/** A key without its value. */
export const keySchema = Type.Object({
  ...commonFields,
  status: Type.Enum(["active", "expired", "revoked"]),
  allowed_ips: Type.Array(Type.String()),
  previous_value_expires_at: nullable(Type.String(), {
    description: "Until when the value before the last rotation works; null when it does not",
  }),
  revoked_at: nullableText,
  last_used_at: nullableText,
  request_count: Type.Integer(),
});

/** A new key with its value, which is shown only once. */
export const issuedKeySchema = Type.Object({ ...commonFields, key: Type.String() });

/** Any text is accepted as an id. An invalid id is a key that does not exist. */
const keyParams = Type.Object({ id: Type.String({ examples }) });

const path = "/v1/keys";
const daySeconds = 86_400;

const name = parsedText({
  parse: (text) => (isKeyName(text) ? text : null),
  expected: keyNameRule,
  keywords: { minLength: 1, maxLength: 100 },
});

/** Creates a key. */
export function createKey({ keys, audit, clock }: AdminServices): Route {
  return defineRoute({
    method: "POST",
    path,
    access: "admin",
    summary: "Create a key",
    description: "The value of the key is returned only once",
    body: Type.Object({
      name,
      scope: Type.Enum([...scopes], { default: "read" }),
      expires_at: Type.Optional(time),
      allowed_ips: Type.Optional(
        Type.Array(ipRange, {
          description: "Addresses and CIDR ranges the key may be used from; any if left out",
          minItems: 1,
          maxItems: webLimits.allowedIpsMax,
        }),
      ),
    }),
    statuses: [201],
    response: toObjectShape(issuedKeySchema),
    errors: ["CONFLICT"],
    handler: async ({ body, caller }) => {
      const { expires_at: expiresAtMs = null, allowed_ips: allowedIps = [], ...named } = body;
      if (expiresAtMs !== null && expiresAtMs <= clock.nowMs())
        throw invalid("expires_at", "must be in the future");
      const issued = await keys.create({ ...named, expiresAtMs, allowedIps });
      const by = caller.key?.id ?? null;
      audit.record({ action: "key_created", keyId: issued.key.id, by });
      return { data: showIssuedKey(issued) };
    },
  });
}

/** Lists all keys, including revoked and expired ones. */
export function listKeys({ keys, clock, cursors }: AdminServices): Route {
  return defineRoute({
    path,
    access: "admin",
    summary: "List keys",
    description: "Newest first, including revoked keys",
    querystring: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
      cursor: Type.Optional(cursor),
    }),
    response: toListShape(keySchema),
    handler: async ({ query }) => {
      const [atMs, id] = cursors.decode(path, query) ?? [];
      const after = atMs === undefined ? null : { createdAtMs: Number(atMs), id: String(id) };
      const read = await keys.list({ limit: query.limit + 1, after });
      const nowMs = clock.nowMs();
      const page = { path, query, read, toPosition };
      return answerPage(cursors, page, (key) => showKey(key, nowMs));
    },
  });
}

function toPosition({ createdAtMs, id }: ApiKey): CursorPosition {
  return [createdAtMs, id];
}

/** Returns one key by its id, even if it is revoked. */
export function getKey({ keys, clock }: AdminServices): Route {
  return defineRoute({
    path: "/v1/keys/{id}",
    access: "admin",
    summary: "Get a key",
    description: "A key without its value",
    params: keyParams,
    response: toObjectShape(keySchema),
    handler: async ({ params }) => {
      const key = await keys.get(params.id.toLowerCase());
      if (key === null) throw new AppError("NOT_FOUND", "There is no such key");
      return { data: showKey(key, clock.nowMs()) };
    },
  });
}

/** Gives a key a new value under the same id. */
export function rotateKey({ keys, audit }: AdminServices): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    access: "admin",
    summary: "Rotate a key",
    description:
      "Gives the key a new value. The old value stops working immediately or after the grace period",
    params: keyParams,
    body: Type.Object({
      grace_seconds: Type.Integer({ minimum: 0, maximum: daySeconds, default: 0 }),
    }),
    response: toObjectShape(issuedKeySchema),
    handler: async ({ params, body, caller }) => {
      const issued = await keys.rotate(params.id.toLowerCase(), body.grace_seconds * 1000);
      const by = caller.key?.id ?? null;
      audit.record({ action: "key_rotated", keyId: issued.key.id, by });
      return { data: showIssuedKey(issued) };
    },
  });
}

/** Revokes a key. The specification fixes its response, which has no `data` and `meta`. */
export function revokeKey({ keys, audit }: AdminServices): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/keys/{id}",
    access: "admin",
    summary: "Revoke a key",
    description: "The key stops working immediately and cannot be restored",
    params: keyParams,
    response: Type.Object({
      message: Type.Literal("Key revoked", { description: "What was done" }),
    }),
    handler: async ({ params, caller }) => {
      const keyId = params.id.toLowerCase();
      await keys.revoke(keyId);
      audit.record({ action: "key_revoked", keyId, by: caller.key?.id ?? null });
      return { message: "Key revoked" } as const;
    },
  });
}

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
function showIssuedKey({ key, value }: IssuedKey): Static<typeof issuedKeySchema> {
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
