/**
 * Reads the delta of final blocks from their encoded rows. So trades and candles cross threads in buffers:
 * as objects, their transfer would cost more than all other work of the thread.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { Delta } from "../../market/delta.ts";
import type { DayTrade } from "../../market/fill.ts";
import { type LastTrade, lastTradeOf } from "../../market/last-trade.ts";
import type { MinuteCandle } from "../../market/minute-candle.ts";
import { type BatchHead, type BatchRows, noSeq } from "./encode-facts.ts";
import { enumCodes, fillBytes, fillOffsets } from "./fill-layout.ts";
import { minuteBytes, minuteOffsets } from "./minute-layout.ts";
import { RowReader } from "./row-reader.ts";

/** Returns the delta of a batch. It equals what `finalDeltaOf` derives from the facts of the same blocks. */
export function decodeDelta(
  batch: BatchHead & { readonly rows: Pick<BatchRows, "fills" | "minuteCandles"> },
): Delta {
  const { last, events, tally, rows } = batch;
  return {
    last,
    block: null,
    events,
    candles: decodeCandles(new RowReader(rows.minuteCandles)),
    ...decodeTrades(new RowReader(rows.fills)),
    tally,
  };
}

function decodeTrades(rows: RowReader): Pick<Delta, "trades" | "lastTrades"> {
  const trades: DayTrade[] = [];
  /** Where the row of each token's last priced trade begins. */
  const lastRows = new Map<TokenId, number>();
  for (let row = 0; row < rows.length; row += fillBytes) {
    if (rows.uint8(row + fillOffsets.role) === enumCodes.role.taker) continue;
    const trade = decodeTrade(rows, row);
    trades.push(trade);
    if (trade.size !== 0n) lastRows.set(trade.tokenId, row);
  }
  const lastTrades = new Map<TokenId, LastTrade>();
  for (const [tokenId, row] of lastRows) {
    const txHash = rows.hash(row + fillOffsets.tx_hash);
    const last = lastTradeOf({ ...decodeTrade(rows, row), txHash });
    if (last !== null) lastTrades.set(tokenId, last);
  }
  return { trades, lastTrades };
}

function decodeTrade(rows: RowReader, row: number): DayTrade {
  return {
    seq: rows.uint64(row + fillOffsets.seq) as Seq,
    timestamp: rows.uint32(row + fillOffsets.timestamp),
    tokenId: rows.tokenId(row + fillOffsets.token_id),
    size: rows.int128(row + fillOffsets.size),
    value: rows.int128(row + fillOffsets.value),
    side: rows.uint8(row + fillOffsets.side) === enumCodes.side.BUY ? "BUY" : "SELL",
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
  const open = rows.tick(row + minuteOffsets.open);
  const isPriced = open.seq !== noSeq;
  return {
    tokenId: rows.tokenId(row + minuteOffsets.token_id),
    minute: rows.uint32(row + minuteOffsets.minute),
    open: isPriced ? open : null,
    close: isPriced ? rows.tick(row + minuteOffsets.close) : null,
    high: isPriced ? rows.int128(row + minuteOffsets.high) : 0n,
    low: isPriced ? rows.int128(row + minuteOffsets.low) : 0n,
    volume: rows.int128(row + minuteOffsets.volume),
    buyVolumeUsd: rows.int128(row + minuteOffsets.buy_volume_usd),
    sellVolumeUsd: rows.int128(row + minuteOffsets.sell_volume_usd),
    trades: rows.uint64(row + minuteOffsets.trades),
    unpricedTrades: rows.uint64(row + minuteOffsets.unpriced_trades),
    unpricedUsd: rows.int128(row + minuteOffsets.unpriced_usd),
    firstSeq: rows.uint64(row + minuteOffsets.first_seq),
    firstTimestamp: rows.uint32(row + minuteOffsets.first_timestamp),
    lastTimestamp: rows.uint32(row + minuteOffsets.last_timestamp),
    generations: rows.uint8(row + minuteOffsets.generations),
  };
}
