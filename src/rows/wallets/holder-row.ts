import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, microsPerUnit } from "../../base/decimal.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import {
  getSupply,
  type Holder,
  type HolderCount,
  type SupplyChange,
} from "../../market/ledger/holder.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import type { ValuedPosition } from "../../views/prices/position-value.ts";
import * as wire from "../wire-format.ts";
import { positionRow } from "./position-row.ts";

const { avg_price, cost_complete, realized_pnl, unrealized_pnl } = positionRow.properties;

/** What one account holds of one token. */
export const holderRow = Type.Object({
  rank: Type.Integer({ minimum: 1 }),
  address: wire.addressText,
  label: wire.nullable(Type.String()),
  token_id: wire.tokenIdText,
  outcome: wire.nullable(Type.String()),
  outcome_index: wire.nullable(Type.Integer()),
  size: wire.decimalText,
  share_of_supply: wire.nullable(wire.decimalText),
  value_usd: wire.nullable(wire.decimalText),
  avg_price: Type.Optional(avg_price),
  cost_complete: Type.Optional(cost_complete),
  realized_pnl: Type.Optional(realized_pnl),
  unrealized_pnl: Type.Optional(unrealized_pnl),
});
export type HolderRow = Static<typeof holderRow>;

/** How much of an outcome there is, and how many hold it. */
export const outcomeHoldersShape = Type.Object({
  token_id: wire.tokenIdText,
  outcome: wire.nullable(Type.String()),
  outcome_index: wire.nullable(Type.Integer()),
  complete: Type.Boolean(),
  supply: wire.nullable(wire.decimalText),
  holders: wire.nullable(Type.Integer()),
  holders_with_contracts: wire.nullable(Type.Integer()),
});

type Context = {
  readonly directory: MarketDirectory;
  readonly supplies: ReadonlyMap<TokenId, SupplyChange>;
  /** Returns what shares are worth, in micros; `null` without a price. */
  readonly getValue: (holder: Holder) => bigint | null;
};

/** A holder as clients see it. `position` adds its cost and profit. */
export function toHolderRow(
  holder: Holder,
  { directory, supplies, getValue }: Context,
  position?: ValuedPosition | null,
): HolderRow {
  const { tokenId, wallet, size, rank } = holder;
  const change = supplies.get(tokenId);
  const supply = change === undefined ? 0n : getSupply(change);
  return {
    rank,
    address: wallet,
    label: directory.contracts.byAddress.get(wallet)?.kind ?? null,
    ...toTokenFields(tokenId, directory),
    size: formatMicros(size),
    share_of_supply:
      supply <= 0n ? null : formatMicros(divideHalfEven(size * microsPerUnit, supply)),
    value_usd: wire.decimalOrNull(getValue(holder)),
    ...(position !== undefined && toPositionFields(position)),
  };
}

function toPositionFields(position: ValuedPosition | null) {
  const { cost = 0n, known = 0n, shares = 0n, isComplete = false } = position ?? {};
  return {
    avg_price: known === 0n ? null : formatMicros(divideHalfEven(cost * microsPerUnit, known)),
    cost_complete: isComplete && known === shares,
    realized_pnl: wire.decimalOrNull(position?.realized ?? null),
    unrealized_pnl: wire.decimalOrNull(position?.unrealized ?? null),
  };
}

/** An outcome of a market with its supply and holders; `null` for what the first indexed block hides. */
export function toOutcomeHolders(
  tokenId: TokenId,
  { directory, supplies }: Omit<Context, "getValue">,
  { count, isComplete }: { readonly count: HolderCount | undefined; readonly isComplete: boolean },
): Static<typeof outcomeHoldersShape> {
  const change = supplies.get(tokenId);
  return {
    ...toTokenFields(tokenId, directory),
    complete: isComplete,
    supply: isComplete && change !== undefined ? formatMicros(getSupply(change)) : null,
    holders: isComplete ? (count?.holders ?? 0) : null,
    holders_with_contracts: isComplete ? (count?.holdersWithContracts ?? 0) : null,
  };
}

function toTokenFields(tokenId: TokenId, directory: MarketDirectory) {
  return {
    token_id: formatTokenId(tokenId),
    outcome: directory.getOutcome(tokenId),
    outcome_index: directory.getPlace(tokenId)?.outcomeIndex ?? null,
  };
}
