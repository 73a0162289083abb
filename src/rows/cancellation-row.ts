import { type Static, Type } from "typebox";
import type { Contracts } from "../contracts/contracts.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { exchangeEventRow, presentExchangeEvent } from "./exchange-event-row.ts";
import { exchangeShape, idShape, placeFields, placeShape, type RowContext } from "./trade-row.ts";

/** What can end an order before it is filled, as far as the chain shows it. */
export const cancellationKinds = [
  "order_cancelled",
  "order_preapproval_invalidated",
  "user_paused",
] as const;

/** One cancellation. Only `order_cancelled` is certain to end an order. */
export const cancellationRow = Type.Object({
  ...idShape,
  kind: Type.Enum([...cancellationKinds]),
  order_hash: exchangeEventRow.properties.order_hash,
  user: exchangeEventRow.properties.user,
  effective_block: exchangeEventRow.properties.effective_block,
  ...exchangeShape,
  ...placeShape,
});
export type CancellationRow = Static<typeof cancellationRow>;

/** A cancellation as clients see it; `null` for events of another kind. */
export function presentCancellation(
  located: LocatedEvent,
  contracts: Contracts,
  context: RowContext,
): CancellationRow | null {
  const row = presentExchangeEvent(located, contracts, context);
  const kind = cancellationKinds.find((known) => known === row?.kind);
  if (row === null || kind === undefined) return null;
  const { id, seq, order_hash, user, effective_block, exchange, exchange_version } = row;
  const order = { id, seq, kind, order_hash, user, effective_block };
  const contract = { exchange, exchange_version, exchange_address: row.exchange_address };
  return { ...order, ...contract, ...placeFields(located, context) };
}
