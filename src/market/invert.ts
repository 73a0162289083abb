/** Converts trades to the other token of their pair: a price p becomes 1 - p, and a buy becomes a sell. */
import type { TokenId } from "../base/ids.ts";
import type { Side } from "../contracts/events.ts";
import type { Candle, Tick } from "./candle.ts";
import type { Fill } from "./fill.ts";

const onePrice = 1_000_000n;

/** Inverts a price, in micros per share. */
export function invertPrice(price: bigint): bigint {
  return onePrice - price;
}

/** Returns the opposite side. */
export function invertSide(side: Side): Side {
  return side === "BUY" ? "SELL" : "BUY";
}

/** Converts a trade to one of `tokenId`, the other token of its pair. */
export function invertFill(fill: Fill, tokenId: TokenId): Fill {
  return { ...fill, tokenId, side: invertSide(fill.side), value: fill.size - fill.value };
}

/** Converts a candle of a token to one of the other token of its pair. */
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
