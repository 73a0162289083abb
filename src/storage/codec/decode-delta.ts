/**
 * Reads the delta of final blocks from their encoded rows. So trades and candles cross threads in buffers:
 * as objects, their transfer would cost more than all other work of the thread.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { DayTrade } from "../../market/day-trade.ts";
import type { Delta } from "../../market/delta.ts";
import { type LastTrade, lastTradeOf } from "../../market/last-trade.ts";
import type { MinuteCandle, Tick } from "../../market/minute-candle.ts";
import { type BatchHead, type BatchRows, noSeq } from "./encode-facts.ts";
import { enumCodes, fillBytes, placesInFill as inFill } from "./fill-layout.ts";
import { placesInMinute as inMinute, minuteBytes } from "./minute-layout.ts";
import { RowReader } from "./row-reader.ts";

/** Returns the delta of a batch. It equals what `deltaOf` derives from the facts of the same blocks. */
export function decodeDelta(batch: BatchHead & Pick<BatchRows, "fills" | "minuteCandles">): Delta {
  const { fills, minuteCandles, located, tally, last } = batch;
  return {
    last,
    isFinal: true,
    block: null,
    events: located,
    candles: decodeCandles(new RowReader(minuteCandles)),
    ...decodeTrades(new RowReader(fills)),
    tally,
  };
}

function decodeTrades(rows: RowReader): Pick<Delta, "trades" | "lastTrades"> {
  const trades: DayTrade[] = [];
  /** Where the row of each token's last priced trade begins. */
  const lastRows = new Map<TokenId, number>();
  for (let row = 0; row < rows.length; row += fillBytes) {
    if (rows.uint8(row + inFill.role) === enumCodes.role.taker) continue;
    const trade = decodeTrade(rows, row);
    trades.push(trade);
    if (trade.size !== 0n) lastRows.set(trade.tokenId, row);
  }
  const lastTrades = new Map<TokenId, LastTrade>();
  for (const [tokenId, row] of lastRows) {
    const { isBuy, ...trade } = decodeTrade(rows, row);
    const txHash = rows.hash(row + inFill.tx_hash);
    const last = lastTradeOf({ ...trade, side: isBuy ? "BUY" : "SELL", txHash });
    if (last !== null) lastTrades.set(tokenId, last);
  }
  return { trades, lastTrades };
}

function decodeTrade(rows: RowReader, row: number): DayTrade {
  return {
    seq: rows.uint64(row + inFill.seq) as Seq,
    timestamp: rows.uint32(row + inFill.timestamp),
    tokenId: rows.tokenId(row + inFill.token_id),
    size: rows.int128(row + inFill.size),
    value: rows.int128(row + inFill.value),
    isBuy: rows.uint8(row + inFill.side) === enumCodes.side.BUY,
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
