/** The price of a token computed directly from all trades: slow, and without a sliding window. */
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import type { Fill } from "../../src/market/fill.ts";
import type { MarketState } from "../../src/views/markets/market-state.ts";
import { naiveCandles } from "./naive-candles.ts";
import { toMicros } from "./naive-filters.ts";
import type { Row } from "./open-data-server.ts";
import { amount, ratio } from "./recorded/exact.ts";

const daySeconds = 86_400;
const one = 1_000_000n;

/** The row that `/v1/price` must return. `fills` are all fills, in order. */
export function naivePrice(tokenId: TokenId, fills: readonly Fill[], state: MarketState): Row {
  const { directory } = state;
  const now = state.dayWindow.now;
  const complement = directory.getComplement(tokenId);
  const day = getCandle(fills.filter(({ timestamp }) => timestamp > now - daySeconds));
  const before = getCandle(fills.filter(({ timestamp }) => timestamp <= now - daySeconds));
  const last = fills.findLast(
    (fill) =>
      fill.role !== "taker" &&
      fill.size > 0n &&
      (fill.tokenId === tokenId || fill.tokenId === complement),
  );
  const settlement = getSettlement(tokenId, state);
  const price = settlement ?? (day ?? before)?.close.price ?? null;
  const source = (own: TokenId) => {
    if (settlement !== null) return "settlement";
    if (last === undefined) return null;
    return last.tokenId === own ? "last_trade" : "complement";
  };
  return {
    token_id: formatTokenId(tokenId),
    price: orNull(price),
    price_source: source(tokenId),
    last_trade: last === undefined ? null : tradeRow(last, tokenId),
    best_bid: null,
    best_ask: null,
    mid: null,
    spread: null,
    stats_24h: statsRow(day, before?.close.price ?? null, now),
    complement:
      complement === null
        ? null
        : {
            token_id: formatTokenId(complement),
            outcome: directory.getToken(complement).outcome,
            price: orNull(price === null ? null : one - price),
            price_source: source(complement),
          },
    resolved: settlement !== null,
    settlement_price: orNull(settlement),
    ...timeRow(now),
  };

  function getCandle(some: readonly Fill[]) {
    const inverted = complement === null ? [] : [complement];
    const requested = { same: [tokenId], inverted, bucketSeconds: Number.MAX_SAFE_INTEGER };
    return naiveCandles(some, requested).get(0);
  }
}

function getSettlement(tokenId: TokenId, { directory }: MarketState): bigint | null {
  const slot = directory.getSlot(tokenId);
  const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
  if (slot === null || resolution === null) return null;
  const { numerators } = resolution;
  const sum = numerators.reduce((total, numerator) => total + numerator, 0n);
  return toMicros(ratio(numerators[slot.outcomeIndex] ?? 0n, sum) ?? "0");
}

function tradeRow(fill: Fill, tokenId: TokenId): Row {
  const isOwn = fill.tokenId === tokenId;
  const opposite = fill.side === "BUY" ? "SELL" : "BUY";
  const price = toMicros(ratio(fill.value, fill.size) ?? "0");
  return {
    price: amount(isOwn ? price : one - price),
    size: amount(fill.size),
    side: isOwn ? fill.side : opposite,
    seq: fill.seq,
    ...timeRow(fill.timestamp),
    tx_hash: fill.txHash,
  };
}

function statsRow(
  day: ReturnType<ReturnType<typeof naiveCandles>["get"]>,
  before: bigint | null,
  now: number,
): Row {
  const open = before ?? day?.open.price ?? null;
  const close = day?.close.price ?? before;
  const change = open === null || close === null ? null : close - open;
  const { buyVolumeUsd: buy = 0n, sellVolumeUsd: sell = 0n, volume = 0n } = day ?? {};
  return {
    open: orNull(open),
    high: orNull(day?.high ?? before),
    low: orNull(day?.low ?? before),
    close: orNull(close),
    change: orNull(change),
    change_pct: change === null || open === null ? null : percent(change, open),
    volume_usd: amount(buy + sell),
    volume_shares: amount(volume),
    buy_volume_usd: amount(buy),
    sell_volume_usd: amount(sell),
    trades: day?.trades ?? 0,
    vwap: day === undefined ? null : ratio(day.priceVolume, day.volume),
    window_start_ms: (now - daySeconds) * 1000,
    window_end_ms: now * 1000,
  };
}

function percent(change: bigint, open: bigint): string | null {
  return open < 0n ? ratio(-change * 100n, -open) : ratio(change * 100n, open);
}

function timeRow(seconds: number): Row {
  const timestamp = new Date(seconds * 1000).toISOString().replace(".000", "");
  return { timestamp, timestamp_ms: seconds * 1000 };
}

function orNull(micros: bigint | null): string | null {
  return micros === null ? null : amount(micros);
}
