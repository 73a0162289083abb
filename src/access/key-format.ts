import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** What a key may do. `write` includes `read`; `admin` includes both. */
export const scopes = ["read", "write", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** The parts of a key's value that are not secret. */
export type ParsedKey = {
  readonly scope: Scope;
  /** The part that may be shown: `ow_`, the scope, and the first 4 of the 43 random characters. */
  readonly prefix: string;
};

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const shape = /^((ow_(read|write|admin)_[0-9A-Za-z]{4})[0-9A-Za-z]{39})_([0-9A-Za-z]{6})$/;

/**
 * Generates a value: `ow_<scope>_<256 random bits as 43 base62 digits>_<checksum>`. Secret scanners find leaked keys by
 * the prefix. The checksum, a CRC-32, distinguishes a mistyped key from an unknown one.
 */
export function generateKey(scope: Scope): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), 43);
  const body = `ow_${scope}_${secret}`;
  return `${body}_${getChecksum(body)}`;
}

/** What the name of a key has to be. */
export const keyNameRule = "text of 1 to 100 printable characters, without spaces around it";

/** Whether a text can name a key. Terminals and logs show names: no invisible characters, no lone surrogates. */
export function isKeyName(text: string): boolean {
  return /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u.test(text);
}

/** Returns a name as names are compared: alike for people means alike here. */
export function toComparedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** Parses a key; `null` when the text is not a key or its checksum is wrong. */
export function parseKey(text: string): ParsedKey | null {
  const match = shape.exec(text);
  if (match === null) return null;
  const [, body = "", prefix = "", scope, checksum] = match;
  return checksum === getChecksum(body) ? { scope: scope as Scope, prefix } : null;
}

function getChecksum(body: string): string {
  return base62(BigInt(crc32(body)), 6);
}

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n)
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
  return digits.padStart(length, "0");
}
