import { type Static, Type } from "typebox";
import { formatMicros } from "../../base/decimal.ts";
import type { Address } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { isPassThrough } from "../../market/ledger/token-flow.ts";
import type { PositionSums } from "../../market/ledger/valued-position.ts";
import type { WalletTotals } from "../../market/ledger/wallet-totals.ts";
import type { Market } from "../../market/market.ts";
import { marketRow } from "../market-row.ts";
import { toMarketFields } from "../trade-row.ts";
import * as wire from "../wire-format.ts";

/** The most markets of a wallet's row. */
export const topMarketsMax = 100;

const tradeCount = Type.Integer({
  minimum: 0,
  description:
    "Trades of the wallet: its orders that were filled as maker, and its matches as taker",
  examples: [12],
});
const volumeUsd = Type.String({
  ...wire.decimalText,
  description: "Collateral that the wallet paid or received in those trades, before fees, in USD",
  examples: ["1520.5"],
});

const tradedMarketShape = Type.Object({
  condition_id: wire.nullable(marketRow.properties.id),
  question: marketRow.properties.question,
  slug: marketRow.properties.slug,
  event_id: marketRow.properties.event_id,
  trades: tradeCount,
  volume_usd: volumeUsd,
  last_trade_at: marketRow.properties.created_at,
  last_trade_at_ms: marketRow.properties.created_at_ms,
});

/** What a wallet holds, earned and traded since the start of coverage, in sums. */
export const walletRow = Type.Object({
  address: wire.addressText,
  kind: Type.Enum(["wallet", "contract"]),
  label: wire.nullableText,
  complete: Type.Boolean(),
  cost_complete: Type.Boolean(),
  positions_open: Type.Integer({ minimum: 0 }),
  positions_total: Type.Integer({ minimum: 0 }),
  positions_incomplete: Type.Integer({ minimum: 0 }),
  markets: Type.Integer({
    minimum: 0,
    description: "Markets of its positions, also closed ones",
    examples: [3],
  }),
  value_usd: wire.nullableDecimal,
  redeemable_usd: wire.nullableDecimal,
  realized_pnl: wire.nullableDecimal,
  unrealized_pnl: wire.nullableDecimal,
  total_pnl: wire.nullableDecimal,
  unknown_proceeds_usd: wire.nullableDecimal,
  fees_usd: wire.decimalText,
  trades: tradeCount,
  maker_trades: Type.Integer({ minimum: 0 }),
  taker_trades: Type.Integer({ minimum: 0 }),
  volume_usd: volumeUsd,
  volume_maker_usd: wire.decimalText,
  volume_taker_usd: wire.decimalText,
  first_seen: wire.nullableTime,
  first_seen_ms: wire.nullableMilliseconds,
  last_active: wire.nullableTime,
  last_active_ms: wire.nullableMilliseconds,
  first_trade_at: wire.nullableTime,
  first_trade_at_ms: wire.nullableMilliseconds,
  last_trade_at: wire.nullableTime,
  last_trade_at_ms: wire.nullableMilliseconds,
  top_markets: Type.Array(tradedMarketShape, {
    description: `Up to ${topMarketsMax} markets that it traded, the one with the highest volume first`,
  }),
});

/** The trades of a wallet in one market, whose last is at `lastTimestamp`. The volume is in micros. */
export type TradedMarket = {
  readonly market: Market | null;
  readonly trades: number;
  readonly volume: bigint;
  readonly lastTimestamp: number;
};

type WalletFacts = {
  readonly address: Address;
  readonly sums: PositionSums;
  readonly totals: WalletTotals;
  /** The number of markets of its positions. */
  readonly marketCount: number;
  readonly topMarkets: readonly TradedMarket[];
};

/**
 * A wallet as clients see it. Sums are over the positions whose whole ledger is indexed, so that no one can hide them by
 * sending a token of another market. Without such a position, and for a contract without a ledger, they are `null`.
 */
export function toWalletRow(
  { address, sums, totals, marketCount, topMarkets }: WalletFacts,
  contracts: Contracts,
): Static<typeof walletRow> {
  const contract = contracts.byAddress.get(address);
  // What such a contract holds is in its balances alone.
  const hasLedger = !isPassThrough(contracts, address);
  const toAmount = (amount: bigint) => (hasLedger && sums.hasAmounts ? formatMicros(amount) : null);
  const { maker, taker } = totals;
  return {
    address,
    kind: contract === undefined ? "wallet" : "contract",
    label: contract?.kind ?? null,
    complete: hasLedger && sums.isComplete,
    cost_complete: hasLedger && sums.isCostComplete,
    positions_open: sums.open,
    positions_total: sums.total,
    positions_incomplete: sums.total - sums.complete,
    markets: marketCount,
    value_usd: toAmount(sums.value),
    redeemable_usd: toAmount(sums.redeemable),
    realized_pnl: toAmount(sums.realized),
    unrealized_pnl: toAmount(sums.unrealized),
    total_pnl: toAmount(sums.realized + sums.unrealized),
    unknown_proceeds_usd: toAmount(sums.unknownProceeds),
    fees_usd: formatMicros(maker.fees + taker.fees),
    trades: maker.trades + taker.trades,
    maker_trades: maker.trades,
    taker_trades: taker.trades,
    volume_usd: formatMicros(maker.volume + taker.volume),
    volume_maker_usd: formatMicros(maker.volume),
    volume_taker_usd: formatMicros(taker.volume),
    ...toTimes("first_seen", sums.firstTimestamp),
    ...toTimes("last_active", sums.lastTimestamp),
    ...toTimes("first_trade_at", totals.firstTimestamp),
    ...toTimes("last_trade_at", totals.lastTimestamp),
    top_markets: topMarkets.map(toTradedMarketRow),
  };
}

/** A time in both forms; `null` for none. */
function toTimes<Name extends string>(name: Name, seconds: number) {
  const isKnown = seconds > 0 && Number.isFinite(seconds);
  return {
    [name]: isKnown ? wire.formatTime(seconds) : null,
    [`${name}_ms`]: isKnown ? seconds * 1000 : null,
  } as { [Field in Name]: string | null } & { [Field in `${Name}_ms`]: number | null };
}

function toTradedMarketRow({
  market,
  trades,
  volume,
  lastTimestamp,
}: TradedMarket): Static<typeof tradedMarketShape> {
  return {
    condition_id: market && wire.formatConditionId(market.conditionId),
    ...toMarketFields(market),
    trades,
    volume_usd: formatMicros(volume),
    last_trade_at: wire.formatTime(lastTimestamp),
    last_trade_at_ms: lastTimestamp * 1000,
  };
}
