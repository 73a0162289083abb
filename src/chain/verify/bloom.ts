/**
 * The bloom filter of a header: 2048 bits. The address and every topic of each log in the block set three of
 * them. A clear bit proves absence. Set bits alone prove nothing.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Address, Hash } from "../../base/ids.ts";

/** The places of the three bits of one item in the `0x` text of a bloom. */
export type BloomBits = readonly { readonly digitIndex: number; readonly mask: number }[];

/** Derives the bits of an address or topic: the first three 16-bit words of its keccak hash, modulo 2048. */
export function deriveBloomBits(item: Address | Hash): BloomBits {
  const hash = Buffer.from(keccak_256(Buffer.from(item.slice(2), "hex")));
  return [0, 2, 4].map((offset) => {
    const bit = hash.readUInt16BE(offset) & 2047;
    // Bit 0 is the lowest bit of the last digit of 512.
    return { digitIndex: 2 + 511 - (bit >> 2), mask: 1 << (bit & 3) };
  });
}

/** Whether `bloom` can contain the item. */
export function mayContain(bloom: string, item: BloomBits): boolean {
  return item.every(({ digitIndex, mask }) => (digitAt(bloom, digitIndex) & mask) !== 0);
}

/** Counts how many of the 2048 bits are set. */
export function countBits(bloom: string): number {
  let count = 0;
  for (let index = 2; index < bloom.length; index += 1) {
    for (let left = digitAt(bloom, index); left !== 0; left &= left - 1) count += 1;
  }
  return count;
}

/**
 * Whether the logs account for every bit of `bloom`. If so, no log is missing that alone sets a bit. Logs that are not
 * in the bloom are allowed: Polygon leaves the logs of state-sync transactions out of it.
 */
export function isExplainedBy(
  bloom: string,
  logs: readonly { readonly address: Address; readonly topics: readonly Hash[] }[],
): boolean {
  const items = new Set<Address | Hash>();
  for (const log of logs) {
    items.add(log.address);
    for (const topic of log.topics) items.add(topic);
  }
  const left = Array.from(bloom, (_, index) => digitAt(bloom, index));
  for (const item of items) {
    for (const { digitIndex, mask } of deriveBloomBits(item)) {
      left[digitIndex] = (left[digitIndex] ?? 0) & ~mask;
    }
  }
  return left.slice(2).every((digit) => digit === 0);
}

/** Returns the value of a digit, which is in lower case. */
function digitAt(bloom: string, index: number): number {
  const code = bloom.charCodeAt(index);
  return code < 0x61 ? code - 0x30 : code - 0x57;
}
