import type { Seq } from "../base/ids.ts";
import type { Codec } from "./depot.ts";
import type { TokenTotals } from "./market.ts";
import type { MinuteCandle } from "./minute-candle.ts";

/** What was never traded. */
export const noTotals: TokenTotals = {
  trades: 0,
  volumeUsd: 0n,
  volumeShares: 0n,
  lastPrice: null,
  firstTimestamp: 0,
  lastTimestamp: 0,
  firstMinute: null,
  generations: 0,
};

/** Adds a minute; minutes come in any order. */
export function addCandle(before: TokenTotals, candle: MinuteCandle): TokenTotals {
  return addTotals(before, {
    trades: candle.trades + candle.unpricedTrades,
    volumeUsd: candle.buyVolumeUsd + candle.sellVolumeUsd + candle.unpricedUsd,
    volumeShares: candle.volume,
    lastPrice: candle.close,
    firstTimestamp: candle.firstTimestamp,
    lastTimestamp: candle.lastTimestamp,
    firstMinute: candle.trades > 0 ? candle.minute : null,
    generations: candle.generations,
  });
}

/** The totals of two stretches. */
export function addTotals(before: TokenTotals, more: TokenTotals): TokenTotals {
  const { lastPrice } = more;
  const isNewer = lastPrice !== null && lastPrice.seq > (before.lastPrice?.seq ?? (-1 as Seq));
  return {
    trades: before.trades + more.trades,
    volumeUsd: before.volumeUsd + more.volumeUsd,
    volumeShares: before.volumeShares + more.volumeShares,
    lastPrice: isNewer ? lastPrice : before.lastPrice,
    firstTimestamp:
      before.trades === 0
        ? more.firstTimestamp
        : Math.min(before.firstTimestamp, more.firstTimestamp),
    lastTimestamp: Math.max(before.lastTimestamp, more.lastTimestamp),
    firstMinute: earlierOf(before.firstMinute, more.firstMinute),
    generations: before.generations | more.generations,
  };
}

function earlierOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Written often: as few characters as it takes. */
export const totalsCodec: Codec<TokenTotals> = {
  encode: ({ trades, volumeUsd, volumeShares, lastPrice, lastTimestamp, ...rest }) => {
    const price = lastPrice === null ? "0,0" : `${lastPrice.seq},${lastPrice.price}`;
    const sums = `${trades},${volumeUsd},${volumeShares}`;
    const times = `${rest.firstTimestamp},${lastTimestamp},${rest.firstMinute ?? 0}`;
    return `${sums},${price},${times},${rest.generations}`;
  },
  decode: (text) => {
    const [trades, usd, shares, seq, price, ...rest] = text.split(",");
    const [firstTimestamp, lastTimestamp, firstMinute, generations] = rest.map(Number);
    return {
      trades: Number(trades),
      volumeUsd: BigInt(usd ?? 0),
      volumeShares: BigInt(shares ?? 0),
      lastPrice: seq === "0" ? null : { seq: Number(seq) as Seq, price: BigInt(price ?? 0) },
      firstTimestamp: firstTimestamp ?? 0,
      lastTimestamp: lastTimestamp ?? 0,
      firstMinute: firstMinute === 0 ? null : (firstMinute ?? null),
      generations: generations ?? 0,
    };
  },
};
