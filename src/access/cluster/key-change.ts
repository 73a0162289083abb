import { Type } from "typebox";
import { Value } from "typebox/value";
import { isIpRange } from "../../base/ip-address.ts";
import { tryParseJson } from "../../base/json.ts";
import { nullable } from "../../rows/wire-format.ts";
import { scopes } from "../key-format.ts";
import type { KeyRecord } from "../key-record.ts";

/** A row of the log of keys. All orders that keep the `stored` rows of a key in sequence result in the same state. */
export type KeyChange =
  /** The MAC of a fixed text. It reveals a node that has another pepper, under which no key would work. */
  | { readonly kind: "pepper"; readonly check: string }
  /** A new key, or a key with a new value. */
  | { readonly kind: "stored"; readonly record: KeyRecord }
  /** A revoked key. A revocation is for good. */
  | { readonly kind: "revoked"; readonly id: string; readonly atMs: number };

const timeMs = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const mac = Type.String({ pattern: "^[0-9a-f]{64}$" });
const id = Type.String({
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
});

const recordSchema = Type.Object(
  {
    id,
    name: Type.String({ maxLength: 1000 }),
    scope: Type.Enum([...scopes]),
    prefix: Type.String({ pattern: "^ow_(read|write|admin)_[0-9A-Za-z]{4}$" }),
    allowedIps: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1000 }),
    createdAtMs: timeMs,
    expiresAtMs: nullable(timeMs),
    previousUntilMs: nullable(timeMs),
    revokedAtMs: Type.Null(),
    mac,
    previousMac: nullable(mac),
  },
  { additionalProperties: false },
);

/** Rows of another format are refused, not guessed at: a newer version of the service may have written them. */
const format = Type.Literal(1);
/** Makes the rows of two writers differ even when both make the same change. */
const nonce = Type.String({ maxLength: 100 });
const rowSchema = Type.Union([
  Type.Object({ format, nonce, kind: Type.Literal("pepper"), check: mac }),
  Type.Object({ format, nonce, kind: Type.Literal("stored"), record: recordSchema }),
  Type.Object({ format, nonce, kind: Type.Literal("revoked"), id, atMs: timeMs }),
]);

/** Formats a change as the text of a row. */
export function formatKeyChange(change: KeyChange, nonce: string): string {
  return JSON.stringify({ format: 1, nonce, ...change });
}

/** Parses the text of a row; `null` for any text that `formatKeyChange` of this version does not write. */
export function parseKeyChange(text: string): KeyChange | null {
  const row = tryParseJson(text);
  if (!Value.Check(rowSchema, row)) return null;
  const { format: _format, nonce: _nonce, ...change } = row;
  const isPlaced = change.kind !== "stored" || change.record.allowedIps.every(isIpRange);
  return isPlaced ? change : null;
}
