import { Type } from "typebox";
import { Value } from "typebox/value";
import { isIpRange } from "../../base/ip-address.ts";
import { tryParseJson } from "../../base/json.ts";
import { nullable } from "../../rows/wire-format.ts";
import { scopes } from "../key-format.ts";
import type { KeyRecord } from "../key-record.ts";

/** A row of the log of keys. Two rows are equal only if their writers make the same change. */
export type KeyChange =
  /** The MAC of a fixed text. It reveals a node that has another pepper, under which no key would work. */
  | { readonly kind: "pepper"; readonly check: string }
  /** A new key, or a key with a new value or its revocation. */
  | { readonly kind: "stored"; readonly record: KeyRecord };

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
    revokedAtMs: nullable(timeMs),
    mac,
    previousMac: nullable(mac),
  },
  { additionalProperties: false },
);

/** The version of the rows. Those of another one are refused, not guessed at. */
const formatVersion = 2;
const format = Type.Literal(formatVersion);
const rowSchema = Type.Union([
  Type.Object({ format, kind: Type.Literal("pepper"), check: mac }),
  Type.Object({ format, kind: Type.Literal("stored"), record: recordSchema }),
]);

/** Formats a change as the text of a row. */
export function formatKeyChange(change: KeyChange): string {
  return JSON.stringify({ format: formatVersion, ...change });
}

/** Parses the text of a row; `null` for any text that `formatKeyChange` of this version does not write. */
export function parseKeyChange(text: string): KeyChange | null {
  const row = tryParseJson(text);
  if (!Value.Check(rowSchema, row)) return null;
  const { format: _format, ...change } = row;
  const isValid = change.kind !== "stored" || change.record.allowedIps.every(isIpRange);
  return isValid ? change : null;
}
