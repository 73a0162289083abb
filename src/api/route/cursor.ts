import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { AppError } from "../../base/errors.ts";

/** The position of the last row of a page in the order of the list: keys of the row, never an offset. */
export type CursorPosition = readonly (string | number)[];

type CursorParameters = { readonly cursor?: string | undefined; readonly [name: string]: unknown };

const macBytes = 16;

/** Parameters that can change between pages, because they do not select rows. */
const unboundNames: ReadonlySet<string> = new Set([
  "limit",
  "cursor",
  "fields",
  "format",
  "min_seq",
]);

/**
 * Encodes and decodes cursors, which are opaque to clients. A cursor has the position of the last row of a page. It is
 * signed together with its list, so that it works only with the filters and the order that it was made with.
 */
export class Cursors {
  readonly #secret: KeyObject;
  readonly #readSeq: () => number;

  /** A cursor is valid on every node with the same `secret`. `readSeq` returns the last indexed position. */
  constructor(secret: Buffer, readSeq: () => number) {
    this.#secret = createSecretKey(secret);
    this.#readSeq = readSeq;
  }

  /** `list` is a path, `query` its parameters, of which only those in `unboundNames` can change. */
  encode(list: string, query: object, position: CursorPosition): string {
    const payload = Buffer.from(JSON.stringify([this.#readSeq(), ...position]));
    return Buffer.concat([this.#sign(list, query, payload), payload]).toString("base64url");
  }

  /**
   * Returns the position in the cursor of a query; `null` without one. Throws `INVALID_CURSOR` unless the cursor was
   * made for this list with these parameters.
   */
  decode(list: string, query: CursorParameters): CursorPosition | null {
    const { cursor } = query;
    if (cursor === undefined) return null;
    const bytes = Buffer.from(cursor, "base64url");
    const mac = bytes.subarray(0, macBytes);
    const payload = bytes.subarray(macBytes);
    // Base64 can write the same bytes in several ways. Only the one that `encode` returns is accepted.
    const isOurs = bytes.length > macBytes && bytes.toString("base64url") === cursor;
    if (!isOurs || !timingSafeEqual(mac, this.#sign(list, query, payload)))
      throw new AppError("INVALID_CURSOR");
    return (JSON.parse(payload.toString()) as CursorPosition).slice(1);
  }

  /** Returns the last indexed position when a cursor was made; -1 if unreadable. Not verified, so only wait for it. */
  static toSeq(cursor: string): number {
    const payload = Buffer.from(cursor, "base64url").subarray(macBytes);
    const [, seq] = /^\[(\d{1,16}),/.exec(payload.toString()) ?? [];
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
