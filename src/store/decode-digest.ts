/**
 * What memory needs of final blocks, read from the rows that are stored of them: nothing of it has
 * to be told between threads as objects, which would cost more there than all else.
 */
import type { Hash, Seq, TokenId } from "../base/ids.ts";
import type { DayTrade } from "../market/day-trade.ts";
import type { Digest } from "../market/digest.ts";
import type { LastTrade } from "../market/last-trades.ts";
import type { MinuteCandle, Tick } from "../market/minute-candle.ts";
import { type BatchHead, type BatchRows, bytesOf, noSeq } from "./encode-facts.ts";
import { enumCodes, placesInFill as inFill } from "./fill-layout.ts";
import { RowReader } from "./row-reader.ts";

/** Where the fields stand in a row of `minute_candles`; those of `fills` are in `fill-layout.ts`. */
const inCandle = {
  tokenId: 0,
  minute: 32,
  open: 36,
  close: 60,
  high: 84,
  low: 100,
  volume: 116,
  buyVolumeUsd: 132,
  sellVolumeUsd: 148,
  trades: 164,
  unpricedTrades: 172,
  unpricedUsd: 180,
  firstSeq: 196,
  firstTimestamp: 204,
  lastTimestamp: 208,
  generations: 212,
} as const;

/**
 * The digest of the blocks of a batch, as `digestOf` makes it of their facts; without the last trades
 * where newer ones are about to take their place.
 */
export function decodeDigest(
  batch: BatchHead & Pick<BatchRows, "fills" | "minuteCandles">,
  { withLastTrades }: { readonly withLastTrades: boolean },
): Digest {
  const { fills, minuteCandles, located, tally } = batch;
  const rows = new RowReader(fills);
  const { trades, lastRows } = decodeTrades(rows);
  return {
    events: located,
    candles: decodeCandles(new RowReader(minuteCandles)),
    trades,
    lastTrades: withLastTrades ? lastRows.map((row) => decodeLastTrade(rows, row)) : [],
    tally,
  };
}

/** The trades, and where the last one of each token stands that has a price. */
function decodeTrades(rows: RowReader): {
  readonly trades: readonly DayTrade[];
  readonly lastRows: readonly number[];
} {
  const trades: DayTrade[] = [];
  const lastOf = new Map<TokenId, number>();
  for (let row = 0; row < rows.length; row += bytesOf.fill) {
    if (rows.uint8(row + inFill.role) === enumCodes.role.taker) continue;
    const tokenId = rows.tokenId(row + inFill.token_id);
    const size = rows.int128(row + inFill.size);
    trades.push({
      seq: rows.uint64(row + inFill.seq) as Seq,
      timestamp: rows.uint32(row + inFill.timestamp),
      tokenId,
      size,
      value: rows.int128(row + inFill.value),
      isBuy: rows.uint8(row + inFill.side) === enumCodes.side.BUY,
    });
    if (size !== 0n) lastOf.set(tokenId, row);
  }
  return { trades, lastRows: [...lastOf.values()] };
}

function decodeLastTrade(rows: RowReader, row: number): LastTrade {
  return {
    seq: rows.uint64(row + inFill.seq) as Seq,
    timestamp: rows.uint32(row + inFill.timestamp),
    tokenId: rows.tokenId(row + inFill.token_id),
    side: rows.uint8(row + inFill.side) === enumCodes.side.BUY ? "BUY" : "SELL",
    size: rows.int128(row + inFill.size),
    value: rows.int128(row + inFill.value),
    txHash: rows.hash(row + inFill.tx_hash) as Hash,
  };
}

function decodeCandles(rows: RowReader): readonly MinuteCandle[] {
  const candles: MinuteCandle[] = [];
  for (let row = 0; row < rows.length; row += bytesOf.minuteCandle) {
    candles.push(decodeCandle(rows, row));
  }
  return candles;
}

function decodeCandle(rows: RowReader, row: number): MinuteCandle {
  const open = decodeTick(rows, row + inCandle.open);
  const isPriced = open !== null;
  return {
    tokenId: rows.tokenId(row + inCandle.tokenId),
    minute: rows.uint32(row + inCandle.minute),
    open,
    close: isPriced ? decodeTick(rows, row + inCandle.close) : null,
    high: isPriced ? rows.int128(row + inCandle.high) : 0n,
    low: isPriced ? rows.int128(row + inCandle.low) : 0n,
    volume: rows.int128(row + inCandle.volume),
    buyVolumeUsd: rows.int128(row + inCandle.buyVolumeUsd),
    sellVolumeUsd: rows.int128(row + inCandle.sellVolumeUsd),
    trades: rows.uint64(row + inCandle.trades),
    unpricedTrades: rows.uint64(row + inCandle.unpricedTrades),
    unpricedUsd: rows.int128(row + inCandle.unpricedUsd),
    firstSeq: rows.uint64(row + inCandle.firstSeq),
    firstTimestamp: rows.uint32(row + inCandle.firstTimestamp),
    lastTimestamp: rows.uint32(row + inCandle.lastTimestamp),
    generations: rows.uint8(row + inCandle.generations),
  };
}

function decodeTick(rows: RowReader, at: number): Tick | null {
  const seq = rows.uint64(at) as Seq;
  return seq === noSeq ? null : { seq, price: rows.int128(at + 8) };
}
