import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Hash } from "../../base/ids.ts";

/** The keccak256 of bytes, as the chain hashes them (not NIST SHA3-256). */
export function keccakOf(bytes: Uint8Array): Hash {
  return `0x${Buffer.from(keccak_256(bytes)).toString("hex")}` as Hash;
}

/** The keccak256 of `0x` hex values joined without padding, as `abi.encodePacked` joins them. */
export function keccakOfPacked(...values: readonly string[]): Hash {
  return keccakOf(Buffer.from(values.map((value) => value.slice(2)).join(""), "hex"));
}

/** An unsigned integer below 2^256 as a 32-byte word of the ABI, in `0x` hex. */
export function wordOf(value: bigint | number): Hash {
  return `0x${value.toString(16).padStart(64, "0")}` as Hash;
}
