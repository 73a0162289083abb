/**
 * Reads ABI words from the bytes that a log came in, as hex text. Callers have checked the lengths (`log-decoder.ts`
 * does). Eight digits are read together, and a word of up to 64 bits without a `BigInt` of 256.
 */
import { type Address, type ConditionId, type Hash, type TokenId } from "../base/ids.ts";
import { type LogText, topicStride } from "../chain/parse/log-text.ts";
import { zeroDigits } from "../chain/parse/parse-hex.ts";
import { StringTable } from "./string-table.ts";

/** Wallets that trade much, tokens traded lately, and orders just filled; together some 4 MB. */
const addresses = new StringTable({ digits: 40, placeBits: 14 });
const tokens = new StringTable({ digits: 64, placeBits: 13 });
const hashes = new StringTable({ digits: 64, placeBits: 10 });

/** Where the digits of word `index` of the data begin. */
function wordAt({ dataAt }: LogText, index: number): number {
  return dataAt + 2 + index * 64;
}

/** Where the digits of topic `index` begin. */
function topicAt({ topicsAt }: LogText, index: number): number {
  return topicsAt + 2 + index * topicStride;
}

/** Whether all bytes of word `index` are zero. */
export function isZeroWord(log: LogText, index: number): boolean {
  return isZero(log.source.view, wordAt(log, index), 64);
}

/** The low byte of word `index`. */
export function readLowByte(log: LogText, index: number): number {
  return readDigits(log.source.view, wordAt(log, index) + 60) & 0xff;
}

/** Word `index` as a hash, `null` when all its bytes are zero. */
export function readHashOrNull(log: LogText, index: number): Hash | null {
  return isZeroWord(log, index) ? null : (hashes.read(log.source.view, wordAt(log, index)) as Hash);
}

/** Word `index` as an outcome token id. */
export function readTokenId(log: LogText, index: number): TokenId {
  return tokens.read(log.source.view, wordAt(log, index)) as TokenId;
}

/** Word `index` as an unsigned 256-bit integer. */
export function readUint(log: LogText, index: number): bigint {
  return readUintAt(log, wordAt(log, index));
}

/** Word `index` as an address; only the low 160 bits count (an old build left dirty high bits). */
export function readAddress(log: LogText, index: number): Address {
  return readAddressAt(log, wordAt(log, index));
}

/** An indexed hash. */
export function topicHash(log: LogText, index: number): Hash {
  return hashes.read(log.source.view, topicAt(log, index)) as Hash;
}

/** An indexed address: the low 160 bits of a topic. */
export function topicAddress(log: LogText, index: number): Address {
  return readAddressAt(log, topicAt(log, index));
}

/** An indexed condition id. */
export function topicConditionId(log: LogText, index: number): ConditionId {
  return hashes.read(log.source.view, topicAt(log, index)) as ConditionId;
}

/** An indexed outcome token id. */
export function topicTokenId(log: LogText, index: number): TokenId {
  return tokens.read(log.source.view, topicAt(log, index)) as TokenId;
}

/** An indexed unsigned 256-bit integer. */
export function topicUint(log: LogText, index: number): bigint {
  return readUintAt(log, topicAt(log, index));
}

/** How many bytes the data holds. */
export function dataBytesOf({ dataAt, dataEnd }: LogText): number {
  return (dataEnd - dataAt - 2) / 2;
}

/** The `bytes` whose offset is in word `index`, as `0x` hex; `null` when they are outside of the data. */
export function readBytes(log: LogText, index: number): string | null {
  const tail = tailOf(log, index);
  if (tail === null) return null;
  const start = wordAt(log, tail.firstWord);
  const end = start + tail.length * 2;
  return end <= log.dataEnd ? `0x${log.source.text(start, end)}` : null;
}

/** The dynamic `uint256[]` whose offset is in word `index`; `null` when out of bounds. */
export function readUints(log: LogText, index: number): readonly bigint[] | null {
  const tail = tailOf(log, index);
  if (tail === null || wordAt(log, tail.firstWord + tail.length) > log.dataEnd) return null;
  return Array.from({ length: tail.length }, (_, i) => readUint(log, tail.firstWord + i));
}

/** First word and length (elements) of the dynamic value whose offset is in word `index`. */
function tailOf(log: LogText, index: number): { firstWord: number; length: number } | null {
  const bytes = BigInt(dataBytesOf(log));
  const offset = readUint(log, index);
  if (offset % 32n !== 0n || offset + 32n > bytes) return null;
  const lengthWord = Number(offset) / 32;
  const length = readUint(log, lengthWord);
  if (length > bytes) return null;
  return { firstWord: lengthWord + 1, length: Number(length) };
}

function readAddressAt({ source }: LogText, at: number): Address {
  return addresses.read(source.view, at + 24) as Address;
}

function readUintAt({ source }: LogText, at: number): bigint {
  const { view } = source;
  if (isZero(view, at, 48)) {
    const high = BigInt(read32(view, at + 48));
    // Said to be of 64 bits, it is put together in a register, four times faster than of a float.
    return BigInt.asUintN(64, (high << 32n) | BigInt(read32(view, at + 56)));
  }
  return BigInt(`0x${source.text(at, at + 64)}`);
}

/** Whether so many digits, a multiple of eight, are zeros. */
function isZero(view: DataView, at: number, digits: number): boolean {
  for (let offset = 0; offset < digits; offset += 8) {
    if (view.getFloat64(at + offset, true) !== zeroDigits) return false;
  }
  return true;
}

/** What eight lower-case digits stand for. */
function read32(view: DataView, at: number): number {
  return readDigits(view, at) * 0x10000 + readDigits(view, at + 4);
}

/** The same of four, read together. */
function readDigits(view: DataView, at: number): number {
  const text = view.getUint32(at);
  const nibbles = (text & 0x0f0f0f0f) + ((text >>> 6) & 0x01010101) * 9;
  const bytes = nibbles | (nibbles >>> 4);
  return ((bytes >>> 8) & 0xff00) | (bytes & 0xff);
}
