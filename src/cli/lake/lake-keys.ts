import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { UsageError } from "../command.ts";

/** Reads a private key (Ed25519, PEM) for `--sign-key`; `null` without one. Throws `UsageError`. */
export function readSignKey(path: string | undefined): KeyObject | null {
  return readKey(path, "--sign-key", createPrivateKey);
}

/** Reads a public key (Ed25519, PEM) for `--verify-key`; `null` without one. Throws `UsageError`. */
export function readVerifyKey(path: string | undefined): KeyObject | null {
  return readKey(path, "--verify-key", createPublicKey);
}

function readKey(
  path: string | undefined,
  flag: string,
  parse: (pem: string) => KeyObject,
): KeyObject | null {
  if (path === undefined) return null;
  try {
    const key = parse(readFileSync(path, "utf8"));
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `${flag} needs the path of an Ed25519 key in PEM: openssl genpkey -algorithm ed25519`,
  );
}
