/** Gzip, for clients that accept it. */
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { constants, crc32, gzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import { assert } from "../../base/assert.ts";

/** Shorter bodies are sent in one write with their headers. Compressing them would save almost nothing. */
export const packedFromBytes = 8192;

/** The first part of a gzip member (RFC 1952). It ends at a byte boundary, so that more data can follow. */
export type PackedStart = {
  readonly bytes: Buffer;
  /** CRC-32 and length of the uncompressed bytes. */
  readonly crc: number;
  readonly length: number;
};

const pack = promisify(gzip);

/** A stored block of deflate (RFC 1951, 3.2.4) has a 16-bit length. */
const storedBytesMax = 65_535;
const blockHeadBytes = 5;
const trailerBytes = 8;

/** Threads used for compression, of the eight in Node's pool. Engine queries and file access need the others. */
const packedAtOnceMax = 2;

/** Bytes and their gzip form, which is made once, when a client first accepts it. */
export class PackableBytes {
  static #underWay = 0;
  readonly bytes: Buffer;
  /** The headers of a response with these bytes. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #level: number;
  #packing: Promise<PackedStart> | null = null;
  #packed: PackedStart | null = null;

  /** A `level` of 1 shrinks a page of trades to a sixth in 1 ms. Levels up to 9 are slower and save little. */
  constructor(bytes: Buffer, { level = 1, headers = {} } = {}) {
    this.bytes = bytes;
    this.headers = headers;
    this.#level = level;
  }

  /** The compressed bytes; `null` until `pack` has finished. */
  get packed(): PackedStart | null {
    return this.#packed;
  }

  /** Whether packing takes only 1 or 2 ms: false when it would have to wait for other packings. */
  get canBePackedSoon(): boolean {
    return this.#packing !== null || PackableBytes.#underWay < packedAtOnceMax;
  }

  /** Compresses the bytes on a thread of Node's pool. Calls during and after that share the result. */
  async pack(): Promise<PackedStart> {
    this.#packing ??= this.#pack().catch((thrown: unknown) => {
      // The next call tries again.
      this.#packing = null;
      throw thrown;
    });
    return this.#packing;
  }

  async #pack(): Promise<PackedStart> {
    const { bytes: plain } = this;
    const options = { level: this.#level, finishFlush: constants.Z_SYNC_FLUSH };
    PackableBytes.#underWay += 1;
    try {
      const bytes = await pack(plain, options);
      this.#packed = { bytes, crc: crc32(plain), length: plain.length };
      return this.#packed;
    } finally {
      PackableBytes.#underWay -= 1;
    }
  }
}

/** Returns the end of a gzip member: the text, uncompressed because it is short, and the trailer. */
export function endOfGzip(start: Pick<PackedStart, "crc" | "length">, text: string): Buffer {
  const length = Buffer.byteLength(text);
  assert(length <= storedBytesMax, "the end of an answer is short");
  const end = Buffer.allocUnsafe(blockHeadBytes + length + trailerBytes);
  // The header of a last, stored block: its length, and the one's complement of the length.
  end[0] = 1;
  end.writeUInt16LE(length, 1);
  end.writeUInt16LE(storedBytesMax - length, 3);
  end.write(text, blockHeadBytes);
  const sent = end.subarray(blockHeadBytes, blockHeadBytes + length);
  end.writeUInt32LE(crc32(sent, start.crc), blockHeadBytes + length);
  end.writeUInt32LE((start.length + length) % 2 ** 32, blockHeadBytes + length + 4);
  return end;
}

/** Sets the headers of the bytes. Returns them with a text, compressed if the client accepts gzip and packing need not wait. */
export async function bodyFor(
  reply: FastifyReply,
  start: PackableBytes,
  end = "",
): Promise<Buffer> {
  reply.headers(start.headers);
  if (!start.canBePackedSoon || !acceptsGzip(reply.request.headers))
    return end === "" ? start.bytes : Buffer.concat([start.bytes, Buffer.from(end)]);
  const packed = await start.pack();
  reply.header("content-encoding", "gzip");
  return Buffer.concat([packed.bytes, endOfGzip(packed, end)]);
}

/** Longer headers are ignored. Real clients need a tenth of this. */
const acceptedCharactersMax = 500;

const gzipAccepted = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]*)\s*)?(?:,|$)/i;
const anyAccepted = /(?:^|,)\s*\*\s*(?:;\s*q=([\d.]*)\s*)?(?:,|$)/;

/** Returns whether `gzip` or `*` is accepted with a weight above 0 (RFC 9110, 12.5.3). */
export function acceptsGzip({ "accept-encoding": accepted }: IncomingHttpHeaders): boolean {
  if (accepted === undefined || accepted.length > acceptedCharactersMax) return false;
  const found = gzipAccepted.exec(accepted) ?? anyAccepted.exec(accepted);
  return found !== null && Number(found[1] ?? 1) > 0;
}
