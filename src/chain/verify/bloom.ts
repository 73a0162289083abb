/**
 * The bloom filter of a header: 2048 bits, as an integer. The address and every topic of each log in the block set
 * three of them. A clear bit proves absence. Set bits alone prove nothing.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Address, Hash } from "../../base/ids.ts";

/**
 * From this block on, Madhugiri (2025-12-09), receipts, receipts root and bloom of a block of Polygon contain the logs
 * of its state syncs, which are the last transaction, of type 0x7f (PIP-74). Before it only the log index has them.
 * Other chains have no such logs.
 */
export const allLogsInBloomFrom = 80_084_800;

/** Derives the bits of an address or topic: the first three 16-bit words of its keccak hash, modulo 2048. */
export function deriveBloomBits(item: Address | Hash): bigint {
  const hash = Buffer.from(keccak_256(Buffer.from(item.slice(2), "hex")));
  const bits = [0, 2, 4].map((offset) => 1n << BigInt(hash.readUInt16BE(offset) & 2047));
  return bits.reduce((all, bit) => all | bit);
}

/** Whether `bloom` can contain an item with these bits. */
export function mayContain(bloom: bigint, bits: bigint): boolean {
  return (bloom & bits) === bits;
}

/** Counts how many of the 2048 bits are set. */
export function countBits(bloom: bigint): number {
  return bloom.toString(2).replaceAll("0", "").length;
}

type BloomItems = { readonly address: Address; readonly topics: readonly Hash[] };

/**
 * Whether the logs account for every bit of `bloom`. If so, no log is missing that alone sets a bit. Logs that are not
 * in the bloom are allowed here: before block `allLogsInBloomFrom` Polygon has such logs.
 */
export function isExplainedBy(bloom: bigint, logs: readonly BloomItems[]): boolean {
  return (bloom & ~getBloom(logs)) === 0n;
}

/** Whether the bloom contains every address and topic of the logs. If not, a log is not of this block. */
export function containsLogs(bloom: bigint, logs: readonly BloomItems[]): boolean {
  return mayContain(bloom, getBloom(logs));
}

function getBloom(logs: readonly BloomItems[]): bigint {
  const items = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]));
  return items.values().reduce((bloom, item) => bloom | deriveBloomBits(item), 0n);
}
