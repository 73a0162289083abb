import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Hash } from "../../base/ids.ts";

/** Computes the keccak256 of bytes, the hash that the chain uses (not NIST SHA3-256). */
export function toKeccak(bytes: Uint8Array): Hash {
  return `0x${Buffer.from(keccak_256(bytes)).toString("hex")}` as Hash;
}

/** Computes the keccak256 of `0x` hex values joined without padding, as by `abi.encodePacked`. */
export function keccakOfPacked(...values: readonly string[]): Hash {
  return toKeccak(Buffer.from(values.map((value) => value.slice(2)).join(""), "hex"));
}

/** Formats an unsigned integer below 2^256 as a 32-byte ABI word, in `0x` hex. */
export function toWord(value: bigint | number): Hash {
  return `0x${value.toString(16).padStart(64, "0")}` as Hash;
}
