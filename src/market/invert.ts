/** The same trade seen from the other token of its pair: a price p is 1 - p there, and a buy is a sell. */
import type { TokenId } from "../base/ids.ts";
import type { Side } from "../contracts/events.ts";
import type { Candle } from "./candle.ts";
import type { Fill } from "./fill.ts";
import type { Tick } from "./minute-candle.ts";

const onePrice = 1_000_000n;

/** Micros per share. */
export function invertPrice(price: bigint): bigint {
  return onePrice - price;
}

/** A buy is a sell, and a sell a buy. */
export function invertSide(side: Side): Side {
  return side === "BUY" ? "SELL" : "BUY";
}

/** A trade as one of `tokenId`, the other token of its pair. */
export function invertFill(fill: Fill, tokenId: TokenId): Fill {
  return { ...fill, tokenId, side: invertSide(fill.side), value: fill.size - fill.value };
}

/** A candle of a token as one of the other token of its pair. */
export function invertCandle(candle: Candle): Candle {
  return {
    open: invertTick(candle.open),
    close: invertTick(candle.close),
    high: invertPrice(candle.low),
    low: invertPrice(candle.high),
    volume: candle.volume,
    buyVolumeUsd: candle.sellVolumeUsd,
    sellVolumeUsd: candle.buyVolumeUsd,
    priceVolume: candle.volume - candle.priceVolume,
    trades: candle.trades,
  };
}

function invertTick({ seq, price }: Tick): Tick {
  return { seq, price: invertPrice(price) };
}

/** What `invertFill` makes of side and value, in SQL, where the condition `isInverted` holds. */
export function invertedSql(isInverted: string): { readonly side: string; readonly value: string } {
  return {
    side: `if(${isInverted}, if(side = 'BUY', 'SELL', 'BUY'), toString(side))`,
    value: `if(${isInverted}, size - value, value)`,
  };
}
