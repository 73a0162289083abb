import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { AppError } from "../../base/errors.ts";

/** The place of the last row of a page in the order of the list: keys of the row, never a count. */
export type CursorPosition = readonly (string | number)[];

const macBytes = 16;

/** Parameters that choose how many rows are sent and in which format, not which rows. */
const unboundNames: ReadonlySet<string> = new Set(["limit", "cursor", "format", "min_seq"]);

/**
 * Opaque cursors: the position after the last row, signed together with the list it belongs to,
 * so that a cursor works with the filters and the order it was made with, and with no others.
 */
export class Cursors {
  readonly #secret: KeyObject;
  readonly #readSeq: () => number;

  /** The same `secret` everywhere keeps cursors valid; `readSeq` is the last position indexed. */
  constructor(secret: Buffer, readSeq: () => number) {
    this.#secret = createSecretKey(secret);
    this.#readSeq = readSeq;
  }

  /** `list` is the path; `query` its parameters, of which `limit`, `cursor`, `format` and `min_seq` may change. */
  encode(list: string, query: object, position: CursorPosition): string {
    const payload = Buffer.from(JSON.stringify([this.#readSeq(), ...position]));
    return Buffer.concat([this.#sign(list, query, payload), payload]).toString("base64url");
  }

  /** Throws `INVALID_CURSOR` unless it was made for this list with these parameters. */
  decode(list: string, query: object, cursor: string): CursorPosition {
    const bytes = Buffer.from(cursor, "base64url");
    const payload = payloadOf(cursor);
    const mac = bytes.subarray(0, macBytes);
    // Base64 has several spellings of the same bytes; only ours is a cursor.
    const isOurs = bytes.length > macBytes && bytes.toString("base64url") === cursor;
    if (!isOurs || !timingSafeEqual(mac, this.#sign(list, query, payload)))
      throw new AppError("INVALID_CURSOR");
    return (JSON.parse(payload.toString()) as CursorPosition).slice(1);
  }

  /** The position that was indexed when a cursor was made; not verified, so good for nothing but to wait for. */
  static seqOf(cursor: string): number {
    const [, seq] = /^\[(\d{1,16}),/.exec(payloadOf(cursor).toString()) ?? [];
    return Number(seq ?? -1);
  }

  #sign(list: string, query: object, payload: Buffer): Buffer {
    const bound = Object.entries(query)
      .filter(([name]) => !unboundNames.has(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    const context = JSON.stringify([list, bound], (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    return createHmac("sha256", this.#secret)
      .update(`${context}\n`)
      .update(payload)
      .digest()
      .subarray(0, macBytes);
  }
}

function payloadOf(cursor: string): Buffer {
  return Buffer.from(cursor, "base64url").subarray(macBytes);
}
