import { type Static, Type } from "typebox";
import type { Contracts } from "../decode/contracts.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { idFields, placeFields, type RowContext, tradeRow } from "./trade-row.ts";
import { addressText, hashText } from "./wire-format.ts";

const { id, seq, exchange, exchange_version, exchange_address } = tradeRow.properties;
const { block_number, block_hash, log_index, tx_hash } = tradeRow.properties;
const { timestamp, timestamp_ms, status } = tradeRow.properties;

/** What can end an order before it is filled, as far as the chain tells it. */
export type CancellationKind = CancellationRow["kind"];

/** All of them. */
export const cancellationKinds: readonly CancellationKind[] = [
  "order_cancelled",
  "order_preapproval_invalidated",
  "user_paused",
];

/** One cancellation. Only `order_cancelled` is certain to end an order. */
export const cancellationRow = Type.Object({
  id,
  seq,
  kind: Type.Union([
    Type.Literal("order_cancelled"),
    Type.Literal("order_preapproval_invalidated"),
    Type.Literal("user_paused"),
  ]),
  order_hash: Type.Union([hashText, Type.Null()]),
  user: Type.Union([addressText, Type.Null()]),
  effective_block: Type.Union([Type.Integer(), Type.Null()], {
    description: "user_paused only: the first block in which the user's orders are refused",
  }),
  exchange,
  exchange_version,
  exchange_address,
  block_number,
  block_hash,
  log_index,
  tx_hash,
  timestamp,
  timestamp_ms,
  status,
});
export type CancellationRow = Static<typeof cancellationRow>;

/** A cancellation as clients see it; `null` for events of another kind. */
export function presentCancellation(
  located: LocatedEvent,
  contracts: Contracts,
  context: RowContext,
): CancellationRow | null {
  const { event } = located;
  const contract = contracts.byAddress.get(located.address);
  if (contract?.kind !== "exchange") return null;
  const row = {
    ...idFields(located),
    order_hash: null,
    user: null,
    effective_block: null,
    exchange: contract.exchange,
    exchange_version: contract.generation,
    exchange_address: contract.address,
    ...placeFields(located, context),
  };
  switch (event.kind) {
    case "order_cancelled":
    case "order_preapproval_invalidated":
      return { ...row, kind: event.kind, order_hash: event.orderHash };
    case "user_paused":
      return {
        ...row,
        kind: event.kind,
        user: event.user,
        effective_block: Number(event.effectiveBlock),
      };
    default:
      return null;
  }
}
