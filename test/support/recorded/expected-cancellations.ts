/** The rows `/v1/cancellations` must serve for a recording of generations 1 and 2. */
import type { ExpectedRow } from "./compare-rows.ts";
import { addressIn, getPlace, onlyLog, topics } from "./place-logs.ts";
import type { ExpectedAdmin, ExpectedMarket, Recording } from "./recording.ts";

/** The events that are served as cancellations. Other administrative events are not. */
const topicOfKind = new Map([
  ["order_cancelled", topics.orderCancelled],
  ["order_preapproval_invalidated", topics.orderPreapprovalInvalidated],
  ["user_paused", topics.userPaused],
]);

export function expectCancellations(recording: Recording<ExpectedMarket>): ExpectedRow[] {
  const cancelled = recording.cancels.map((cancel) => ({ ...cancel, kind: "order_cancelled" }));
  const kinds = new Map(recording.trades.map((trade) => [trade.exchange, trade.exchange_kind]));
  return [...cancelled, ...recording.admin]
    .filter((row) => topicOfKind.has(row.kind))
    .map((row) => expectCancellation(row, kinds.get(row.exchange), recording));
}

function expectCancellation(
  row: ExpectedAdmin,
  exchangeKind: string | undefined,
  recording: Recording<ExpectedMarket>,
): ExpectedRow {
  const user = row.user?.toLowerCase() ?? null;
  const exchange = row.exchange.toLowerCase();
  const log = onlyLog(
    recording,
    (log) =>
      log.transactionHash === row.tx_hash &&
      log.address === exchange &&
      log.topics[0] === topicOfKind.get(row.kind) &&
      (log.topics[1] === row.order_hash || addressIn(log.topics[1] ?? "") === user),
  );
  const fields = {
    ...getPlace(log),
    kind: row.kind,
    order_hash: row.order_hash ?? null,
    // OrderCancelled does not name the user.
    user,
    effective_block: row.effective_block ?? null,
    exchange: exchangeKind === "ctf" ? "standard" : "neg_risk",
    // OrderCancelled exists only in generation 1, and is its only cancellation event.
    exchange_version: row.kind === "order_cancelled" ? 1 : 2,
    exchange_address: exchange,
    timestamp_ms: row.block_timestamp * 1000,
    status: "finalized",
  };
  return { name: `${row.kind} in block ${Number(log.blockNumber)}`, fields };
}
