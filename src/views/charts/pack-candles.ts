/**
 * Candles as bytes, some 30 each: numbers in groups of 7 bits, the lowest first, the last byte of each
 * below 128. Prices are distinguished from the lowest on; what can be negative, as when a match takes more than it
 * gives, has its sign in the lowest bit.
 */
import { assert } from "../../base/assert.ts";
import type { Seq } from "../../base/ids.ts";
import { resolutionSeconds } from "../../market/candle.ts";
import type { BucketCandle } from "../recent/recent-candles.ts";

const minuteSeconds = resolutionSeconds["1m"];
const safeMax = BigInt(Number.MAX_SAFE_INTEGER);
/** So many groups are a safe integer whatever they hold. */
const safeGroups = 7;
/** The longest: four positions and counts of 8 bytes, seven amounts of 19. */
const bytesMax = 4 * 8 + 7 * 19;

/** The bytes of candles in their order; buckets are whole minutes. */
export function packCandles(candles: readonly BucketCandle[]): Buffer {
  const writer = new PackWriter(candles.length);
  for (const { bucket, candle } of candles) {
    const { open, close, low } = candle;
    writer.integer(bucket / minuteSeconds);
    writer.integer(candle.trades);
    writer.integer(open.seq);
    writer.integer(close.seq - open.seq);
    writer.signed(low);
    writer.amount(candle.high - low);
    writer.amount(open.price - low);
    writer.amount(close.price - low);
    writer.signed(candle.volume);
    writer.signed(candle.buyVolumeUsd);
    writer.signed(candle.sellVolumeUsd);
  }
  return writer.finish();
}

/** What `packCandles` was given. */
export function* unpackCandles(bytes: Uint8Array): Generator<BucketCandle, void, undefined> {
  const reader = new PackReader(bytes);
  while (!reader.isAtEnd) {
    const bucket = reader.integer() * minuteSeconds;
    const trades = reader.integer();
    const openSeq = reader.integer();
    const closeSeq = openSeq + reader.integer();
    const low = reader.signed();
    const high = low + reader.amount();
    const open = { seq: openSeq as Seq, price: low + reader.amount() };
    const close = { seq: closeSeq as Seq, price: low + reader.amount() };
    const volume = reader.signed();
    const buyVolumeUsd = reader.signed();
    const sellVolumeUsd = reader.signed();
    const priceVolume = buyVolumeUsd + sellVolumeUsd;
    const sums = { volume, buyVolumeUsd, sellVolumeUsd, priceVolume, trades };
    yield { bucket, candle: { open, close, high, low, ...sums } };
  }
}

class PackWriter {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(candles: number) {
    this.#bytes = Buffer.allocUnsafe(candles * bytesMax);
  }

  integer(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, "what is packed is a count or a position");
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#at++] = 128 + (rest % 128);
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
  }

  amount(value: bigint): void {
    if (value <= safeMax) return this.integer(Number(value));
    let rest = value;
    while (rest >= 128n) {
      this.#bytes[this.#at++] = 128 + Number(rest & 127n);
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  signed(value: bigint): void {
    this.amount(value < 0n ? -2n * value - 1n : 2n * value);
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }
}

class PackReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  integer(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#next();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  amount(): bigint {
    const begin = this.#at;
    const value = this.integer();
    return this.#at - begin <= safeGroups ? BigInt(value) : this.#exact(begin);
  }

  /** The integer between a place and this one. */
  #exact(begin: number): bigint {
    let exact = 0n;
    for (let at = this.#at - 1; at >= begin; at -= 1) {
      exact = (exact << 7n) | BigInt((this.#bytes[at] ?? 0) & 127);
    }
    return exact;
  }

  signed(): bigint {
    const begin = this.#at;
    const short = this.integer();
    // Nearly all are: a third of the objects.
    if (this.#at - begin <= safeGroups) {
      return BigInt(short % 2 === 0 ? short / 2 : (-1 - short) / 2);
    }
    const value = this.#exact(begin);
    return (value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n;
  }

  #next(): number {
    const byte = this.#bytes[this.#at];
    assert(byte !== undefined, "packed candles are not cut short");
    this.#at += 1;
    return byte;
  }
}
