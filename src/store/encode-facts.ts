import { assert } from "../base/assert.ts";
import { formatMicros } from "../base/decimal.ts";
import type { BlockRef } from "../chain/log.ts";
import { zeroHash } from "../decode/words.ts";
import type { BlockFacts, LocatedEvent } from "../market/block-facts.ts";
import { type Digest, digestOf, mergeDigests } from "../market/digest.ts";
import type { Fill } from "../market/fill.ts";
import type { MinuteCandle } from "../market/minute-candle.ts";
import { encodeEvent, subjectOf } from "./event-codec.ts";
import { TsvWriter } from "./tsv-writer.ts";

/** The stretch of final blocks a batch covers, and where it ends. */
export type Stretch = {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly last: BlockRef & { readonly timestamp: number };
};

/** Final blocks as rows ready to insert, one buffer a table, and as what memory keeps of them. */
export type EncodedBatch = Stretch & {
  readonly fills: Buffer;
  readonly minuteCandles: Buffer;
  readonly events: Buffer;
  readonly quarantine: Buffer;
  readonly digest: Digest;
};

/** Neutral values of min and max, for a minute that has no price yet: merging ignores them. */
const lastOpen = "(18446744073709551615,0)";
const firstClose = "(0,0)";
const lowestPrice = `-${"9".repeat(32)}.999999`;
const highestPrice = `${"9".repeat(32)}.999999`;

/** Encodes the facts of a stretch of final blocks, in the column order of `schema.ts`. Pure. */
export function encodeFacts(stretch: Stretch, blocks: readonly BlockFacts[]): EncodedBatch {
  const fills = new TsvWriter();
  const events = new TsvWriter();
  const quarantine = new TsvWriter();
  for (const block of blocks) {
    for (const fill of block.fills) writeFill(fills, fill);
    for (const event of block.events) writeEvent(events, event);
    for (const { seq, timestamp, reason, log } of block.quarantined) {
      quarantine.plain(seq).plain(timestamp).text(reason).text(JSON.stringify(log)).endRow();
    }
  }
  const digest = digestOf(blocks);
  const { fromBlock, toBlock, last } = stretch;
  return {
    fromBlock,
    toBlock,
    last: { number: last.number, hash: last.hash, timestamp: last.timestamp },
    fills: fills.finish(),
    minuteCandles: encodeMinuteCandles(digest.candles),
    events: events.finish(),
    quarantine: quarantine.finish(),
    digest,
  };
}

/** One batch of several that follow each other, at least one. */
export function mergeBatches(parts: readonly EncodedBatch[]): EncodedBatch {
  const [first, last] = [parts[0], parts.at(-1)];
  assert(first !== undefined && last !== undefined, "there is a batch to merge");
  if (first === last) return first;
  return {
    fromBlock: first.fromBlock,
    toBlock: last.toBlock,
    last: last.last,
    fills: Buffer.concat(parts.map((part) => part.fills)),
    minuteCandles: Buffer.concat(parts.map((part) => part.minuteCandles)),
    events: Buffer.concat(parts.map((part) => part.events)),
    quarantine: Buffer.concat(parts.map((part) => part.quarantine)),
    digest: mergeDigests(parts.map((part) => part.digest)),
  };
}

/** The marker that vouches for the rows of a batch. */
export function encodeMarker({
  fromBlock,
  toBlock,
  last,
  digest: { tally },
}: EncodedBatch): Buffer {
  const marker = new TsvWriter();
  marker.plain(fromBlock).plain(toBlock).hex(last.hash).plain(last.timestamp);
  marker.plain(tally.fills).plain(tally.events);
  marker.plain(tally.quarantined.length).plain(tally.anomalies.length).endRow();
  return marker.finish();
}

/** Minute candles as rows to insert; parts of one minute may be inserted apart. */
export function encodeMinuteCandles(candles: readonly MinuteCandle[]): Buffer {
  const rows = new TsvWriter();
  for (const candle of candles) writeMinuteCandle(rows, candle);
  return rows.finish();
}

function writeFill(row: TsvWriter, fill: Fill): void {
  row.plain(fill.seq).plain(fill.timestamp).hex(fill.blockHash).hex(fill.txHash);
  row.hex(fill.exchange.address).plain(fill.exchange.exchange).plain(fill.exchange.generation);
  row.plain(fill.role).hex(fill.orderHash).hex(fill.maker).hex(fill.taker);
  row.plain(fill.makerSide).hex(fill.makerTokenId);
  row.plain(fill.makerAmount).plain(fill.takerAmount);
  row.plain(formatMicros(fill.fee)).plain(formatMicros(fill.feeRefund));
  row.hex(fill.builder ?? zeroHash).hex(fill.metadata ?? zeroHash);
  row.hex(fill.tokenId).plain(fill.side);
  row.plain(formatMicros(fill.size)).plain(formatMicros(fill.value));
  row.plain(fill.matchType ?? "none").hex(fill.takerOrderHash ?? zeroHash);
  row
    .plain(fill.matchSeq ?? 0)
    .plain(fill.legs)
    .endRow();
}

function writeMinuteCandle(row: TsvWriter, candle: MinuteCandle): void {
  const { open, close, high, low } = candle;
  row.hex(candle.tokenId).plain(candle.minute);
  row.plain(open === null ? lastOpen : `(${open.seq},${formatMicros(open.price)})`);
  row.plain(close === null ? firstClose : `(${close.seq},${formatMicros(close.price)})`);
  row.plain(open === null ? lowestPrice : formatMicros(high));
  row.plain(open === null ? highestPrice : formatMicros(low));
  row.plain(formatMicros(candle.volume));
  row.plain(formatMicros(candle.buyVolumeUsd)).plain(formatMicros(candle.sellVolumeUsd));
  row.plain(candle.trades).plain(candle.unpricedTrades).plain(formatMicros(candle.unpricedUsd));
  row.plain(candle.firstSeq).plain(candle.firstTimestamp).plain(candle.lastTimestamp);
  row.plain(candle.generations).endRow();
}

function writeEvent(row: TsvWriter, located: LocatedEvent): void {
  row.plain(located.seq).plain(located.timestamp).hex(located.blockHash).hex(located.txHash);
  row.hex(located.address).plain(located.event.kind).hex(subjectOf(located.event));
  row.text(encodeEvent(located.event)).endRow();
}
