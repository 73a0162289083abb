/**
 * Reads ABI words from the hex text of a log, in the bytes in which it was received. The caller must have checked the
 * lengths, as `log-decoder.ts` does. Fast paths compare eight digits together and read up to 64 bits as two numbers.
 */
import { type Address, type ConditionId, type Hash, type TokenId } from "../base/ids.ts";
import { type LogText, topicStride } from "../chain/parse/log-text.ts";
import { zeroDigits } from "../chain/parse/parse-hex.ts";
import { StringTable } from "../chain/parse/string-table.ts";

/** Caches of active wallets, recently traded tokens, and recently filled orders; together about 4 MB. */
const addresses = new StringTable({ digits: 40, slotBits: 14 });
const tokens = new StringTable({ digits: 64, slotBits: 13 });
const hashes = new StringTable({ digits: 64, slotBits: 10 });

/** Returns where the digits of word `index` of the data begin. */
function wordAt({ dataAt }: LogText, index: number): number {
  return dataAt + 2 + index * 64;
}

/** Returns where the digits of topic `index` begin. */
function topicAt({ topicsAt }: LogText, index: number): number {
  return topicsAt + 2 + index * topicStride;
}

/** Whether all bytes of word `index` are zero. */
export function isZeroWord(log: LogText, index: number): boolean {
  return isZero(log.source.view, wordAt(log, index), 64);
}

/** Reads the low byte of word `index`. */
export function readLowByte(log: LogText, index: number): number {
  return readDigits(log.source.view, wordAt(log, index) + 60) & 0xff;
}

/** Reads word `index` as a hash; `null` when all its bytes are zero. */
export function readHashOrNull(log: LogText, index: number): Hash | null {
  return isZeroWord(log, index) ? null : (hashes.read(log.source.view, wordAt(log, index)) as Hash);
}

/** Reads word `index` as an outcome token id. */
export function readTokenId(log: LogText, index: number): TokenId {
  return tokens.read(log.source.view, wordAt(log, index)) as TokenId;
}

/** Reads word `index` as an unsigned 256-bit integer. */
export function readUint(log: LogText, index: number): bigint {
  return readUintAt(log, wordAt(log, index));
}

/** Reads word `index` as a signed 256-bit integer. */
export function readInt(log: LogText, index: number): bigint {
  return BigInt.asIntN(256, readUint(log, index));
}

/** Reads an indexed signed 256-bit integer. */
export function topicInt(log: LogText, index: number): bigint {
  return BigInt.asIntN(256, topicUint(log, index));
}

/** Reads the low 160 bits of word `index` as an address. An old build of a contract left garbage in the high bits. */
export function readAddress(log: LogText, index: number): Address {
  return readAddressAt(log, wordAt(log, index));
}

/** Reads an indexed hash. */
export function topicHash(log: LogText, index: number): Hash {
  return hashes.read(log.source.view, topicAt(log, index)) as Hash;
}

/** Reads an indexed hash; `null` when all its bytes are zero. */
export function topicHashOrNull(log: LogText, index: number): Hash | null {
  return isZero(log.source.view, topicAt(log, index), 64) ? null : topicHash(log, index);
}

/** Reads an indexed address: the low 160 bits of a topic. */
export function topicAddress(log: LogText, index: number): Address {
  return readAddressAt(log, topicAt(log, index));
}

/** Reads an indexed condition id. */
export function topicConditionId(log: LogText, index: number): ConditionId {
  return hashes.read(log.source.view, topicAt(log, index)) as ConditionId;
}

/** Reads an indexed outcome token id. */
export function topicTokenId(log: LogText, index: number): TokenId {
  return tokens.read(log.source.view, topicAt(log, index)) as TokenId;
}

/** Reads an indexed unsigned 256-bit integer. */
export function topicUint(log: LogText, index: number): bigint {
  return readUintAt(log, topicAt(log, index));
}

/** Returns the size of the data in bytes. */
export function getDataBytes({ dataAt, dataEnd }: LogText): number {
  return (dataEnd - dataAt - 2) / 2;
}

/** Reads the `bytes` whose offset is in word `index`, as `0x` hex; `null` when they exceed the data. */
export function readBytes(log: LogText, index: number): string | null {
  const tail = getTail(log, index);
  if (tail === null) return null;
  const start = wordAt(log, tail.firstWord);
  const end = start + tail.length * 2;
  return end <= log.dataEnd ? `0x${log.source.text(start, end)}` : null;
}

/** Reads the `uint256[]` whose offset is in word `index`; `null` when it exceeds the data. */
export function readUints(log: LogText, index: number): readonly bigint[] | null {
  return readWords(log, index, readUint);
}

/** Reads the `uint256[]` of outcome token ids whose offset is in word `index`; `null` when it exceeds the data. */
export function readTokenIds(log: LogText, index: number): readonly TokenId[] | null {
  return readWords(log, index, readTokenId);
}

function readWords<Word>(
  log: LogText,
  index: number,
  read: (log: LogText, index: number) => Word,
): readonly Word[] | null {
  const tail = getTail(log, index);
  if (tail === null || wordAt(log, tail.firstWord + tail.length) > log.dataEnd) return null;
  return Array.from({ length: tail.length }, (_, i) => read(log, tail.firstWord + i));
}

/** Returns the first word and the length of the dynamic value whose offset is in word `index`. */
function getTail(log: LogText, index: number): { firstWord: number; length: number } | null {
  const bytes = BigInt(getDataBytes(log));
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
    // `asUintN(64)` lets the engine compute in a register, four times faster.
    return BigInt.asUintN(64, (high << 32n) | BigInt(read32(view, at + 56)));
  }
  return BigInt(`0x${source.text(at, at + 64)}`);
}

/** Whether `digits` digits, a multiple of eight, are all zero. */
function isZero(view: DataView, at: number, digits: number): boolean {
  for (let offset = 0; offset < digits; offset += 8) {
    if (view.getFloat64(at + offset, true) !== zeroDigits) return false;
  }
  return true;
}

function read32(view: DataView, at: number): number {
  return readDigits(view, at) * 0x10000 + readDigits(view, at + 4);
}

function readDigits(view: DataView, at: number): number {
  const text = view.getUint32(at);
  const nibbles = (text & 0x0f0f0f0f) + ((text >>> 6) & 0x01010101) * 9;
  const bytes = nibbles | (nibbles >>> 4);
  return ((bytes >>> 8) & 0xff00) | (bytes & 0xff);
}
