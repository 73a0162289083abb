import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, microsPerUnit } from "../../base/decimal.ts";
import {
  getSupply,
  type Holder,
  type HolderCount,
  type SupplyChange,
} from "../../market/ledger/holder.ts";
import type { ValuedPosition } from "../../market/ledger/valued-position.ts";
import type { TokenFacts } from "../../market/market.ts";
import { tokenShape, toTokenFields } from "../trade-row.ts";
import * as wire from "../wire-format.ts";
import { positionRow } from "./position-row.ts";

const { token_id, outcome, outcome_index } = tokenShape;
const { avg_price, cost_complete, realized_pnl, unrealized_pnl } = positionRow.properties;

/** What one account holds of one token. */
export const holderRow = Type.Object({
  rank: Type.Integer({ minimum: 1 }),
  address: wire.addressText,
  label: wire.nullableText,
  token_id,
  outcome,
  outcome_index,
  size: wire.decimalText,
  share_of_supply: wire.nullableDecimal,
  value_usd: wire.nullableDecimal,
  avg_price: Type.Optional(avg_price),
  cost_complete: Type.Optional(cost_complete),
  realized_pnl: Type.Optional(realized_pnl),
  unrealized_pnl: Type.Optional(unrealized_pnl),
});
export type HolderRow = Static<typeof holderRow>;

/** How much of an outcome there is, and how many hold it. */
export const outcomeHoldersShape = Type.Object({
  token_id,
  outcome,
  outcome_index,
  complete: Type.Boolean(),
  supply: wire.nullableDecimal,
  holders: wire.nullable(Type.Integer()),
  holders_with_contracts: wire.nullable(Type.Integer()),
});

type HolderFacts = {
  readonly holder: Holder;
  readonly token: TokenFacts;
  /** What kind of contract the holder is; `null` for wallets. */
  readonly label: string | null;
  readonly supply: SupplyChange | undefined;
  /** What the shares are worth, in micros; `null` without a price. */
  readonly value: bigint | null;
  /** Adds its cost and profit; `null` for a contract without a ledger. */
  readonly position?: ValuedPosition | null;
};

/** A holder as clients see it. */
export function toHolderRow({
  holder: { wallet, size, rank },
  token,
  label,
  supply: change,
  value,
  position,
}: HolderFacts): HolderRow {
  const supply = change === undefined ? 0n : getSupply(change);
  return {
    rank,
    address: wallet,
    label,
    ...toOutcomeFields(token),
    size: formatMicros(size),
    share_of_supply:
      supply <= 0n ? null : formatMicros(divideHalfEven(size * microsPerUnit, supply)),
    value_usd: wire.decimalOrNull(value),
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
  token: TokenFacts,
  change: SupplyChange | undefined,
  { count, isComplete }: { readonly count: HolderCount | undefined; readonly isComplete: boolean },
): Static<typeof outcomeHoldersShape> {
  return {
    ...toOutcomeFields(token),
    complete: isComplete,
    supply: isComplete && change !== undefined ? formatMicros(getSupply(change)) : null,
    holders: isComplete ? (count?.holders ?? 0) : null,
    holders_with_contracts: isComplete ? (count?.holdersWithContracts ?? 0) : null,
  };
}

function toOutcomeFields(token: TokenFacts) {
  const { token_id: id, outcome: label, outcome_index: index } = toTokenFields(token);
  return { token_id: id, outcome: label, outcome_index: index };
}
