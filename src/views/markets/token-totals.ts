import type { Hash, Seq } from "../../base/ids.ts";
import type { Trade } from "../../market/fill.ts";
import type { TokenSupply } from "../../market/ledger/holder.ts";
import {
  generationBit,
  getLastTrade,
  type LastTrade,
  type TokenTotals,
} from "../../market/market.ts";
import { toMinute } from "../../market/minute-candle.ts";
import type { Codec } from "../disk/state-store.ts";

/** The totals of a token that was never traded. */
export const noTotals: TokenTotals = totalsOfTrades([]);

/** Returns the totals of trades of one token, which are in chain order. */
export function totalsOfTrades(trades: readonly Trade[]): TokenTotals {
  const priced = trades.filter(({ size }) => size !== 0n);
  const [firstPriced, lastPriced] = [priced[0], priced.at(-1)];
  return {
    trades: trades.length,
    volumeUsd: trades.reduce((sum, { value }) => sum + value, 0n),
    volumeShares: trades.reduce((sum, { size }) => sum + size, 0n),
    lastTrade: lastPriced === undefined ? null : getLastTrade(lastPriced),
    firstTimestamp: trades[0]?.timestamp ?? 0,
    lastTimestamp: trades.at(-1)?.timestamp ?? 0,
    firstMinute: firstPriced === undefined ? null : toMinute(firstPriced.timestamp),
    generations: trades.reduce((bits, { generation }) => bits | generationBit(generation), 0),
  };
}

/** Adds up the totals of two ranges. */
export function addTotals(before: TokenTotals, more: TokenTotals): TokenTotals {
  const { lastTrade } = more;
  const isNewer = lastTrade !== null && lastTrade.seq > (before.lastTrade?.seq ?? -1);
  return {
    trades: before.trades + more.trades,
    volumeUsd: before.volumeUsd + more.volumeUsd,
    volumeShares: before.volumeShares + more.volumeShares,
    lastTrade: isNewer ? lastTrade : before.lastTrade,
    firstTimestamp:
      before.trades === 0
        ? more.firstTimestamp
        : Math.min(before.firstTimestamp, more.firstTimestamp),
    lastTimestamp: Math.max(before.lastTimestamp, more.lastTimestamp),
    firstMinute: getEarlier(before.firstMinute, more.firstMinute),
    generations: before.generations | more.generations,
  };
}

function getEarlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Encodes totals in few characters, because they are written often. */
export const totalsCodec: Codec<TokenTotals> = {
  encode: ({ trades, volumeUsd, volumeShares, lastTrade, ...rest }) => {
    const times = `${rest.firstTimestamp},${rest.lastTimestamp},${rest.firstMinute ?? 0}`;
    const sums = `${trades},${volumeUsd},${volumeShares},${times},${rest.generations}`;
    return lastTrade === null ? sums : `${sums},${encodeLastTrade(lastTrade)}`;
  },
  decode: (text) => {
    const [trades, usd, shares, first, last, firstMinute, generations, ...lastTrade] =
      text.split(",");
    return {
      trades: Number(trades),
      volumeUsd: BigInt(usd ?? 0),
      volumeShares: BigInt(shares ?? 0),
      lastTrade: lastTrade.length === 0 ? null : decodeLastTrade(lastTrade),
      firstTimestamp: Number(first),
      lastTimestamp: Number(last),
      firstMinute: firstMinute === "0" ? null : Number(firstMinute),
      generations: Number(generations),
    };
  },
};

/** Encodes a supply. */
export const supplyCodec: Codec<TokenSupply> = {
  encode: ({ seq, minted, burnt, withdrawn }) => `${seq},${minted},${burnt},${withdrawn}`,
  decode: (text) => {
    const [seq, minted = 0n, burnt = 0n, withdrawn = 0n] = text.split(",").map(BigInt);
    return { seq: Number(seq), minted, burnt, withdrawn };
  },
};

function encodeLastTrade({ seq, timestamp, side, size, value, txHash }: LastTrade): string {
  const hash = Buffer.from(txHash.slice(2), "hex").toString("base64url");
  return `${seq},${timestamp},${side === "BUY" ? "B" : "S"},${size},${value},${hash}`;
}

function decodeLastTrade(fields: readonly string[]): LastTrade | null {
  const [seq, timestamp, side, size, value, hash] = fields;
  return getLastTrade({
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    side: side === "B" ? "BUY" : "SELL",
    size: BigInt(size ?? 0),
    value: BigInt(value ?? 0),
    txHash: `0x${Buffer.from(hash ?? "", "base64url").toString("hex")}` as Hash,
  });
}
