import type { Address, Hash, Seq, TokenId } from "../../base/ids.ts";
import { TokenTexts } from "./token-texts.ts";

const two32 = 2 ** 32;
/** Shared by all readers: consecutive batches have nearly the same tokens. */
const texts = new TokenTexts();

/** Reads fields from the rows of a `RowWriter`, each by the offset of its first byte. */
export class RowReader {
  readonly #rows: Buffer;
  readonly #view: DataView;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#rows = Buffer.from(buffer, byteOffset, byteLength);
    this.#view = new DataView(buffer, byteOffset, byteLength);
  }

  /** In bytes. */
  get length(): number {
    return this.#rows.length;
  }

  uint8(at: number): number {
    return this.#view.getUint8(at);
  }

  uint16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  uint32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  uint64(at: number): number {
    return this.#view.getUint32(at + 4, true) * two32 + this.#view.getUint32(at, true);
  }

  int128(at: number): bigint {
    const view = this.#view;
    const low = view.getBigInt64(at, true);
    const sign = view.getInt32(at + 4, true) >> 31;
    // Nearly all values fit into 64 bits.
    if (view.getInt32(at + 8, true) === sign && view.getInt32(at + 12, true) === sign) return low;
    return (view.getBigInt64(at + 8, true) << 64n) | BigInt.asUintN(64, low);
  }

  int256(at: number): bigint {
    const high = this.int128(at + 16);
    const low = this.int128(at);
    // Nearly all values fit into 128 bits.
    return high === low >> 127n ? low : (high << 128n) | BigInt.asUintN(128, low);
  }

  /** The `tick` of `minute-layout.ts`. */
  tick(at: number): { readonly seq: Seq; readonly price: bigint } {
    return { seq: this.uint64(at + 16) as Seq, price: this.int128(at) };
  }

  /** 20 bytes as `0x` hex. */
  address(at: number): Address {
    return `0x${this.#rows.toString("hex", at, at + 20)}` as Address;
  }

  tokenId(at: number): TokenId {
    return texts.at(this.#view, at);
  }

  /** 32 bytes as `0x` hex. */
  hash(at: number): Hash {
    return `0x${this.#rows.toString("hex", at, at + 32)}` as Hash;
  }
}
