/**
 * What memory needs of final blocks, read from the rows that are stored of them: nothing of it has
 * to be told between threads as objects, which would cost more there than all else.
 */
import type { Hash, Seq, TokenId } from "../base/ids.ts";
import type { DayTrade } from "../market/day-trade.ts";
import type { Digest } from "../market/digest.ts";
import type { LastTrade } from "../market/last-trades.ts";
import type { MinuteCandle, Tick } from "../market/minute-candle.ts";
import { type BatchHead, type BatchRows, noSeq } from "./encode-facts.ts";
import { enumCodes, fillBytes, placesInFill as inFill } from "./fill-layout.ts";
import { placesInMinute as inMinute, minuteBytes } from "./minute-layout.ts";
import { RowReader } from "./row-reader.ts";

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
  for (let row = 0; row < rows.length; row += fillBytes) {
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
  for (let row = 0; row < rows.length; row += minuteBytes) {
    candles.push(decodeCandle(rows, row));
  }
  return candles;
}

function decodeCandle(rows: RowReader, row: number): MinuteCandle {
  const open = decodeTick(rows, row + inMinute.open);
  const isPriced = open !== null;
  return {
    tokenId: rows.tokenId(row + inMinute.token_id),
    minute: rows.uint32(row + inMinute.minute),
    open,
    close: isPriced ? decodeTick(rows, row + inMinute.close) : null,
    high: isPriced ? rows.int128(row + inMinute.high) : 0n,
    low: isPriced ? rows.int128(row + inMinute.low) : 0n,
    volume: rows.int128(row + inMinute.volume),
    buyVolumeUsd: rows.int128(row + inMinute.buy_volume_usd),
    sellVolumeUsd: rows.int128(row + inMinute.sell_volume_usd),
    trades: rows.uint64(row + inMinute.trades),
    unpricedTrades: rows.uint64(row + inMinute.unpriced_trades),
    unpricedUsd: rows.int128(row + inMinute.unpriced_usd),
    firstSeq: rows.uint64(row + inMinute.first_seq),
    firstTimestamp: rows.uint32(row + inMinute.first_timestamp),
    lastTimestamp: rows.uint32(row + inMinute.last_timestamp),
    generations: rows.uint8(row + inMinute.generations),
  };
}

function decodeTick(rows: RowReader, at: number): Tick | null {
  const seq = rows.uint64(at) as Seq;
  return seq === noSeq ? null : { seq, price: rows.int128(at + 8) };
}
