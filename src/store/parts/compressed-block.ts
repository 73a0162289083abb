/**
 * The compressed blocks that the engine's files are made of: a checksum of 16 bytes, the method, the length with
 * the method and both lengths, the length unpacked, and the packed bytes.
 */
import { constants, zstdDecompressSync } from "node:zlib";
import { cityHash128 } from "./city-hash.ts";
import { unpackLz4 } from "./lz4.ts";
import { mustBe } from "./part-unreadable-error.ts";

const checksumBytes = 16;
const headBytes = 1 + 4 + 4;

/** What precedes the packed bytes. */
const blockHeadBytes = checksumBytes + headBytes;

const methods = { none: 0x02, lz4: 0x82, zstd: 0x90 } as const;

/** Many times what the engine makes (1 MiB): a length above it is not to be believed. */
const blockBytesMax = 16 * 1024 ** 2;

/** A block where it stands. */
export type CompressedBlock = {
  readonly from: number;
  readonly end: number;
  readonly unpackedBytes: number;
};

/** The block that begins at a place. Its head must be there. */
export function blockAt(bytes: Buffer, from: number): CompressedBlock {
  mustBe(from + blockHeadBytes <= bytes.length, "the head of a block is whole");
  const packedBytes = bytes.readUInt32LE(from + checksumBytes + 1);
  const unpackedBytes = bytes.readUInt32LE(from + checksumBytes + 5);
  mustBe(packedBytes >= headBytes && packedBytes <= blockBytesMax, "a block has a sane length");
  mustBe(unpackedBytes <= blockBytesMax, "a block has a sane length unpacked");
  return { from, end: from + checksumBytes + packedBytes, unpackedBytes };
}

/** Unpacks the first bytes of a block, as many as `target` holds. The checksum is of all of it. */
export function unpackBlock(bytes: Buffer, { from, end }: CompressedBlock, target: Buffer): void {
  mustBe(end <= bytes.length, "a block is whole");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hash = cityHash128(view, from + checksumBytes, end);
  const isIntact = hash.every((half, index) => half === view.getInt32(from + 4 * index, true));
  mustBe(isIntact, "a block has its checksum");
  const packed = bytes.subarray(from + blockHeadBytes, end);
  switch (bytes[from + checksumBytes]) {
    case methods.lz4:
      return unpackLz4(packed, target);
    case methods.none:
      mustBe(packed.length >= target.length, "a block is as long as it says");
      packed.copy(target, 0, 0, target.length);
      return;
    case methods.zstd:
      return unpackZstd(packed, target);
    default:
      mustBe(false, "a block is packed in a known way");
  }
}

function unpackZstd(packed: Buffer, target: Buffer): void {
  const unpacked = zstdDecompressSync(packed, {
    maxOutputLength: blockBytesMax,
    params: { [constants.ZSTD_d_windowLogMax]: 27 },
  });
  mustBe(unpacked.length >= target.length, "a block is as long as it says");
  unpacked.copy(target, 0, 0, target.length);
}

/** All that a file of such blocks holds. */
export function unpackFile(bytes: Buffer): Buffer {
  const blocks: CompressedBlock[] = [];
  for (let at = 0; at < bytes.length; ) {
    const block = blockAt(bytes, at);
    blocks.push(block);
    at = block.end;
  }
  const whole = Buffer.alloc(blocks.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0));
  let to = 0;
  for (const block of blocks) {
    unpackBlock(bytes, block, whole.subarray(to, to + block.unpackedBytes));
    to += block.unpackedBytes;
  }
  return whole;
}
