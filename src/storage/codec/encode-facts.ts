import { assert } from "../../base/assert.ts";
import { zeroHash } from "../../base/ids.ts";
import { type Coverage, toTimedBlock } from "../../chain/raw-log.ts";
import type { BlockFacts, LocatedEvent } from "../../market/block-facts.ts";
import { sumTallies, type Tally, toTally } from "../../market/delta.ts";
import { type Fill, isTrade, toTrade } from "../../market/fill.ts";
import type { BalanceChange, LedgerRow } from "../../market/ledger/ledger-row.ts";
import { type MinuteCandle, MinuteCandles } from "../../market/minute-candle.ts";
import { countNames, getCount } from "./commit-counts.ts";
import { encodeEvent, getSubject } from "./event-codec.ts";
import { enumCodes, fillBytes } from "./fill-layout.ts";
import { balanceBytes, ledgerBytes, writeBalanceChange, writeLedgerRow } from "./ledger-layout.ts";
import { RowWriter } from "./row-writer.ts";

/** Rows that are ready to insert: the bytes of each kind of row. `supplies` repeats rows of `balances` for the delta. */
export type BatchRows = Readonly<
  Record<
    "fills" | "minuteCandles" | "events" | "quarantine" | "ledger" | "balances" | "supplies",
    Uint8Array
  >
>;

/** A batch of final blocks without its rows. */
export type BatchHead = Coverage & {
  /** The events as objects, not only as rows: there are few of them. */
  readonly events: readonly LocatedEvent[];
  readonly tally: Tally;
};

/** A batch of final blocks with its rows. */
export type EncodedBatch = BatchHead & { readonly rows: BatchRows };

/** The bytes of a row of candles: what to allocate, because a writer that grows copies its buffer. */
const minuteBytes = 188;

/** The maximum of the `legs` column (UInt16). A match with that many legs would fill a block. */
const legsMax = 2 ** 16 - 1;

/**
 * Encodes the facts of a range of final blocks, with fields in the order of `schema.ts` and `fill-layout.ts`. Takes
 * blocks from an iterable, so that the facts of earlier blocks can be released. `fillsMax` is the number of fills to
 * allocate room for in advance. Pure.
 */
export function encodeFacts(
  range: Coverage,
  blocks: Iterable<BlockFacts>,
  fillsMax = 0,
): EncodedBatch {
  const fills = new RowWriter(fillsMax * fillBytes);
  const eventRows = new RowWriter();
  const quarantine = new RowWriter();
  const ledger = new RowWriter();
  const balances = new RowWriter();
  const supplies = new RowWriter();
  const candles = new MinuteCandles();
  const events: LocatedEvent[] = [];
  const tallies: Tally[] = [];
  for (const block of blocks) {
    for (const fill of block.fills) {
      writeFill(fills, fill);
      if (isTrade(fill)) candles.add(toTrade(fill));
    }
    for (const event of block.events) writeEvent(eventRows, event);
    for (const { seq, timestamp, reason, log } of block.quarantined) {
      quarantine.uint64(seq).uint32(timestamp).text(reason).text(JSON.stringify(log));
    }
    for (const row of block.ledger) writeLedgerRow(ledger, row);
    for (const change of block.balances) writeBalanceChange(balances, change);
    for (const change of block.supplies) writeBalanceChange(supplies, change);
    events.push(...block.events);
    tallies.push(toTally(block));
  }
  const { fromBlock, last } = range;
  return {
    fromBlock,
    last: toTimedBlock(last),
    rows: {
      fills: fills.finish(),
      minuteCandles: encodeMinuteCandles(candles.values()),
      events: eventRows.finish(),
      quarantine: quarantine.finish(),
      ledger: ledger.finish(),
      balances: balances.finish(),
      supplies: supplies.finish(),
    },
    events,
    tally: sumTallies(tallies),
  };
}

/**
 * Frees the memory of rows that nothing reads any more. They take megabytes outside the heap: left to the
 * garbage collector, many would pile up and trigger full collections (decision 0013).
 */
export function releaseRows(rows: Partial<BatchRows>): void {
  for (const { buffer } of Object.values(rows)) {
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
}

/** Encodes the commit record of consecutive batches, of which there must be at least one. */
export function encodeCommit(batches: readonly BatchHead[]): Buffer {
  const [first, last] = [batches[0], batches.at(-1)];
  assert(first !== undefined && last !== undefined, "there is a batch to commit");
  const { anomalies, ...counted } = sumTallies(batches.map(({ tally }) => tally));
  const commit = new RowWriter();
  commit.uint64(first.fromBlock).uint64(last.last.number);
  commit.hex(last.last.hash).uint32(last.last.timestamp);
  for (const name of countNames) commit.uint64(getCount(counted, name));
  commit.uint64(anomalies.length);
  return commit.finish();
}

/** Encodes minute candles as rows to insert. A minute may come in several rows, which the engine merges. */
export function encodeMinuteCandles(candles: readonly MinuteCandle[]): Buffer {
  return encodeEach(candles, minuteBytes, writeMinuteCandle);
}

/** Encodes fills as the rows of `fill-layout.ts`. */
export function encodeFills(fills: readonly Fill[]): Buffer {
  return encodeEach(fills, fillBytes, writeFill);
}

/** Encodes rows of `ledger`. */
export function encodeLedger(ledger: readonly LedgerRow[]): Buffer {
  return encodeEach(ledger, ledgerBytes, writeLedgerRow);
}

/** Encodes rows of `balance_changes`. */
export function encodeBalances(balances: readonly BalanceChange[]): Buffer {
  return encodeEach(balances, balanceBytes, writeBalanceChange);
}

function encodeEach<Item>(
  items: readonly Item[],
  bytes: number,
  write: (rows: RowWriter, item: Item) => void,
): Buffer {
  const rows = new RowWriter(items.length * bytes);
  for (const item of items) write(rows, item);
  return rows.finish();
}

/** Encodes an event as a row of `events`. */
export function encodeEventRow(located: LocatedEvent): Buffer {
  const row = new RowWriter();
  writeEvent(row, located);
  return row.finish();
}

function writeFill(row: RowWriter, fill: Fill): void {
  const { exchange, role, side, matchType } = enumCodes;
  row.uint64(fill.seq).uint32(fill.timestamp).repeated(0, fill.tokenId);
  row.uint8(role[fill.role]).hex(fill.maker).repeated(1, fill.taker);
  row.int128(fill.size).int128(fill.value);
  row.uint8(side[fill.side]).uint8(fill.exchange.generation);
  row.hex(fill.orderHash).repeated(2, fill.txHash);
  row.repeated(3, fill.blockHash).repeated(4, fill.exchange.address);
  row.uint8(exchange[fill.exchange.exchange]);
  row.uint8(side[fill.makerSide]).repeated(5, fill.makerTokenId);
  row.int128(fill.makerAmount).int128(fill.takerAmount);
  row.int128(fill.fee).int128(fill.feeRefund);
  row.repeated(6, fill.builder ?? zeroHash).repeated(7, fill.metadata ?? zeroHash);
  row.uint8(matchType[fill.matchType ?? "none"]).repeated(8, fill.takerOrderHash ?? zeroHash);
  row.uint64(fill.matchSeq ?? 0).uint16(Math.min(fill.legs, legsMax));
}

function writeMinuteCandle(row: RowWriter, { tokenId, minute, candle }: MinuteCandle): void {
  const { open, close } = candle;
  row.hex(tokenId).uint32(minute);
  row.tick(open.seq, open.price).tick(close.seq, close.price);
  row.int128(candle.high).int128(candle.low);
  row.int128(candle.volume).int128(candle.buyVolumeUsd).int128(candle.sellVolumeUsd);
  row.uint64(candle.trades);
}

function writeEvent(row: RowWriter, located: LocatedEvent): void {
  row.uint64(located.seq).uint32(located.timestamp).hex(located.blockHash).hex(located.txHash);
  row.hex(located.address).text(located.event.kind).hex(getSubject(located.event));
  row.text(encodeEvent(located.event));
}
