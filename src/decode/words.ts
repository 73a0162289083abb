/**
 * Reading of ABI words straight from the hex text of a log. All functions assume that the caller
 * has checked lengths once (`log-decoder.ts` does), and are written for speed: a word whose upper
 * part is zero is read as a number, which is several times cheaper than a 256-bit `BigInt`.
 */
import { type Address, type ConditionId, type Hash, type TokenId } from "../base/ids.ts";
import { readDigits } from "./hex-digits.ts";

const zeros51 = "0".repeat(51);
const zeros64 = "0".repeat(64);
export const zeroHash = `0x${zeros64}` as Hash;

/** Word `index` as a 32-byte hash. */
function readHash(data: string, index: number): Hash {
  return `0x${data.slice(2 + index * 64, 66 + index * 64)}` as Hash;
}

/** Whether all bytes of word `index` are zero. */
export function isZeroWord(data: string, index: number): boolean {
  return data.startsWith(zeros64, 2 + index * 64);
}

/** Word `index` as a hash, `null` when all its bytes are zero. */
export function readHashOrNull(data: string, index: number): Hash | null {
  return isZeroWord(data, index) ? null : readHash(data, index);
}

/** Word `index` as an outcome token id. */
export function readTokenId(data: string, index: number): TokenId {
  return readHash(data, index) as string as TokenId;
}

/** Word `index` as an unsigned 256-bit integer. */
export function readUint(data: string, index: number): bigint {
  const start = 2 + index * 64;
  // 13 hex digits are 52 bits: the largest count of digits that is always a safe integer.
  if (data.startsWith(zeros51, start)) {
    const high = readDigits(data, start + 51, start + 57);
    const low = readDigits(data, start + 57, start + 64);
    return BigInt(high * 2 ** 28 + low);
  }
  return BigInt(`0x${data.slice(start, start + 64)}`);
}

/** Word `index` as an address; only the low 160 bits count (an old build left dirty high bits). */
export function readAddress(data: string, index: number): Address {
  return `0x${data.slice(26 + index * 64, 66 + index * 64)}` as Address;
}

/** An indexed address: the low 160 bits of a topic. */
export function topicAddress(topic: Hash | undefined): Address {
  return `0x${(topic ?? zeroHash).slice(26)}` as Address;
}

/** An indexed condition id. */
export function topicConditionId(topic: Hash | undefined): ConditionId {
  return (topic ?? zeroHash) as string as ConditionId;
}

/** How many bytes the data holds. */
export function dataBytesOf(data: string): number {
  return (data.length - 2) / 2;
}

/**
 * The dynamic `bytes` whose offset stands in word `index`, as `0x` hex; `null` when offset or
 * length point outside the data.
 */
export function readBytes(data: string, index: number): string | null {
  const tail = tailOf(data, index);
  if (tail === null) return null;
  const end = tail.start + tail.length * 2;
  return end <= data.length ? `0x${data.slice(tail.start, end)}` : null;
}

/** The dynamic `uint256[]` whose offset stands in word `index`; `null` when out of bounds. */
export function readUints(data: string, index: number): readonly bigint[] | null {
  const tail = tailOf(data, index);
  if (tail === null || tail.start + tail.length * 64 > data.length) return null;
  const firstWord = (tail.start - 2) / 64;
  return Array.from({ length: tail.length }, (_, i) => readUint(data, firstWord + i));
}

/** Start (character) and length (elements) of the dynamic value whose offset is in word `index`. */
function tailOf(data: string, index: number): { start: number; length: number } | null {
  const offset = readUint(data, index);
  if (offset % 32n !== 0n || offset + 32n > BigInt(dataBytesOf(data))) return null;
  const lengthWord = Number(offset) / 32;
  const length = readUint(data, lengthWord);
  if (length > BigInt(data.length)) return null;
  return { start: 2 + (lengthWord + 1) * 64, length: Number(length) };
}
