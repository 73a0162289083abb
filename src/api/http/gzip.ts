/** Gzip, for clients that accept it. */
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { constants, crc32, gzip } from "node:zlib";
import { assert } from "../../base/assert.ts";
import type { Exchange } from "./exchange.ts";

/** Less goes out in one piece with its headers, and packed it would save next to nothing. */
export const packedFromBytes = 8192;

/** The first part of a gzip member (RFC 1952): whole bytes, behind which more can follow. */
export type PackedStart = {
  readonly bytes: Buffer;
  /** Of what is packed. */
  readonly crc: number;
  readonly length: number;
};

type PackingOptions = {
  /** 1 to 9. By default 1: a page of trades becomes a sixth in a millisecond, others take longer and save little more. */
  readonly level?: number;
  readonly onPacked?: () => void;
};

const pack = promisify(gzip);

/** A stored block of deflate (RFC 1951, 3.2.4) says its length in 16 bits. */
const storedBytesMax = 65_535;
const blockHeadBytes = 5;
const trailerBytes = 8;

/** Of the eight threads of Node's pool: the engine is asked, and files are read and written, on them as well. */
const packedAtOnceMax = 2;

/** Bytes and their gzip, which is made once, when a client first accepts it. */
export class PackableBytes {
  static #underWay = 0;
  readonly bytes: Buffer;
  readonly #options: PackingOptions;
  #packing: Promise<PackedStart> | null = null;
  #packed: PackedStart | null = null;

  constructor(bytes: Buffer, options: PackingOptions = {}) {
    this.bytes = bytes;
    this.#options = options;
  }

  /** `null` when they have not been packed yet. */
  get packed(): PackedStart | null {
    return this.#packed;
  }

  /** Whether it takes a millisecond or two to pack them: not when others wait for that already. */
  get canBePackedSoon(): boolean {
    return this.#packing !== null || PackableBytes.#underWay < packedAtOnceMax;
  }

  /** Packs them on a thread of Node's pool, once for all who call it meanwhile. */
  async pack(): Promise<PackedStart> {
    this.#packing ??= this.#pack().catch((thrown: unknown) => {
      // The next one tries again.
      this.#packing = null;
      throw thrown;
    });
    return this.#packing;
  }

  async #pack(): Promise<PackedStart> {
    const { bytes: plain } = this;
    const { level = 1, onPacked } = this.#options;
    PackableBytes.#underWay += 1;
    try {
      const bytes = await pack(plain, { level, finishFlush: constants.Z_SYNC_FLUSH });
      this.#packed = { bytes, crc: crc32(plain), length: plain.length };
      onPacked?.();
      return this.#packed;
    } finally {
      PackableBytes.#underWay -= 1;
    }
  }
}

/** What follows a start and ends its member: the text as it is, which is shorter than packing it is worth. */
export function endOfGzip(start: Pick<PackedStart, "crc" | "length">, text: string): Buffer {
  const length = Buffer.byteLength(text);
  assert(length <= storedBytesMax, "the end of an answer is short");
  const end = Buffer.allocUnsafe(blockHeadBytes + length + trailerBytes);
  // The last block, stored; its length, and the same with all bits turned.
  end[0] = 1;
  end.writeUInt16LE(length, 1);
  end.writeUInt16LE(storedBytesMax - length, 3);
  end.write(text, blockHeadBytes);
  const sent = end.subarray(blockHeadBytes, blockHeadBytes + length);
  end.writeUInt32LE(crc32(sent, start.crc), blockHeadBytes + length);
  end.writeUInt32LE((start.length + length) % 2 ** 32, blockHeadBytes + length + 4);
  return end;
}

/** A body of these bytes and a text, compressed if the request accepts that and no queue would form. */
export async function bodyFor(
  { request, reply }: Exchange,
  start: PackableBytes,
  end = "",
): Promise<Buffer> {
  if (!start.canBePackedSoon || !acceptsGzip(request.headers))
    return end === "" ? start.bytes : Buffer.concat([start.bytes, Buffer.from(end)]);
  const packed = await start.pack();
  reply.header("content-encoding", "gzip");
  return Buffer.concat([packed.bytes, endOfGzip(packed, end)]);
}

/** Real clients need a tenth of that. */
const acceptedCharactersMax = 500;

const gzipAccepted = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]*)\s*)?(?:,|$)/i;
const anyAccepted = /(?:^|,)\s*\*\s*(?:;\s*q=([\d.]*)\s*)?(?:,|$)/;

/** Whether gzip is named, or everything is, and not with a weight of 0 (RFC 9110, 12.5.3). */
export function acceptsGzip({ "accept-encoding": accepted }: IncomingHttpHeaders): boolean {
  if (accepted === undefined || accepted.length > acceptedCharactersMax) return false;
  const found = gzipAccepted.exec(accepted) ?? anyAccepted.exec(accepted);
  return found !== null && Number(found[1] ?? 1) > 0;
}
