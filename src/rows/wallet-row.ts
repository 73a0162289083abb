import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { Address } from "../base/ids.ts";
import { addWalletTotals, type WalletMarket } from "../market/wallet-totals.ts";
import type { MarketDirectory } from "../views/markets/market-directory.ts";
import { marketRow } from "./market-row.ts";
import * as wire from "./wire-format.ts";

const topMarketsMax = 100;

const trades = Type.Integer({
  minimum: 1,
  description: "Trades of the wallet, as maker or taker",
  examples: [12],
});
const volumeUsd = Type.String({
  ...wire.decimalText,
  description: "What those trades were worth, in USD",
  examples: ["1520.5"],
});

const walletMarketShape = Type.Object({
  condition_id: wire.nullable(marketRow.properties.id),
  question: marketRow.properties.question,
  slug: marketRow.properties.slug,
  event_id: marketRow.properties.event_id,
  trades,
  volume_usd: volumeUsd,
  last_trade_at: marketRow.properties.created_at,
  last_trade_at_ms: marketRow.properties.created_at_ms,
});

/** The trades of a wallet since the start of coverage, in sums. */
export const walletRow = Type.Object({
  address: wire.addressText,
  trades,
  maker_trades: Type.Integer({ minimum: 0 }),
  taker_trades: Type.Integer({ minimum: 0 }),
  volume_usd: volumeUsd,
  markets: Type.Integer({
    minimum: 1,
    description: "Markets that the wallet traded",
    examples: [3],
  }),
  truncated: Type.Boolean({
    description: "Whether the wallet traded more tokens than are counted, 50,000",
    examples: [false],
  }),
  first_trade_at: marketRow.properties.created_at,
  first_trade_at_ms: marketRow.properties.created_at_ms,
  last_trade_at: marketRow.properties.created_at,
  last_trade_at_ms: marketRow.properties.created_at_ms,
  top_markets: Type.Array(walletMarketShape, {
    description: `Up to ${topMarketsMax} markets, the one with the highest volume first`,
  }),
});

/** A wallet as clients see it, built from the markets that it traded. `markets` must not be empty. */
export function toWalletRow(
  address: Address,
  markets: readonly WalletMarket[],
  { directory, truncated }: { readonly directory: MarketDirectory; readonly truncated: boolean },
): Static<typeof walletRow> {
  const all = markets.map(({ totals }) => totals).reduce(addWalletTotals);
  const top = markets.toSorted((a, b) => Number(b.totals.volumeUsd - a.totals.volumeUsd));
  return {
    address,
    trades: all.trades,
    maker_trades: all.makerTrades,
    taker_trades: all.takerTrades,
    volume_usd: formatMicros(all.volumeUsd),
    markets: markets.length,
    truncated,
    first_trade_at: wire.formatTime(all.firstTimestamp),
    first_trade_at_ms: all.firstTimestamp * 1000,
    last_trade_at: wire.formatTime(all.lastTimestamp),
    last_trade_at_ms: all.lastTimestamp * 1000,
    top_markets: top.slice(0, topMarketsMax).map(({ conditionId, totals }) => {
      const market = conditionId === null ? null : directory.market(conditionId);
      return {
        condition_id: conditionId === null ? null : wire.formatConditionId(conditionId),
        question: market?.question ?? null,
        slug: market?.venue?.slug ?? null,
        event_id: market?.eventId ?? null,
        trades: totals.trades,
        volume_usd: formatMicros(totals.volumeUsd),
        last_trade_at: wire.formatTime(totals.lastTimestamp),
        last_trade_at_ms: totals.lastTimestamp * 1000,
      };
    }),
  };
}
