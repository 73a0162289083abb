import { type Static, Type } from "typebox";
import type { Contracts } from "../contracts/contracts.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { exchangeEventRow, presentExchangeEvent } from "./exchange-event-row.ts";
import type { RowContext } from "./trade-row.ts";

/** What can end an order before it is filled, as far as the chain reports it. */
export const cancellationKinds = [
  "order_cancelled",
  "order_preapproval_invalidated",
  "user_paused",
] as const;

const { id, seq, order_hash, user, effective_block } = exchangeEventRow.properties;
const { exchange, exchange_version, exchange_address, block_number, block_hash, log_index } =
  exchangeEventRow.properties;
const { tx_hash, timestamp, timestamp_ms, status } = exchangeEventRow.properties;

/** One cancellation. Only `order_cancelled` is certain to end an order. */
export const cancellationRow = Type.Object({
  id,
  seq,
  kind: Type.Enum([...cancellationKinds]),
  order_hash,
  user,
  effective_block,
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
  const row = presentExchangeEvent(located, contracts, context);
  const kind = cancellationKinds.find((known) => known === row?.kind);
  if (row === null || kind === undefined) return null;
  return {
    id: row.id,
    seq: row.seq,
    kind,
    order_hash: row.order_hash,
    user: row.user,
    effective_block: row.effective_block,
    exchange: row.exchange,
    exchange_version: row.exchange_version,
    exchange_address: row.exchange_address,
    block_number: row.block_number,
    block_hash: row.block_hash,
    log_index: row.log_index,
    tx_hash: row.tx_hash,
    timestamp: row.timestamp,
    timestamp_ms: row.timestamp_ms,
    status: row.status,
  };
}
