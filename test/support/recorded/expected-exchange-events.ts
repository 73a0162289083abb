/** The rows `/v1/exchange-events` must serve for a recording, as far as the recording contains them. */
import type { ExpectedAdmin, ExpectedMarket, Recording } from "./recording.ts";

/** Event kinds of the API by their names in the recording. */
const kinds: Readonly<Record<string, string>> = {
  max_fee_rate: "max_fee_rate_updated",
  fee_receiver: "fee_receiver_updated",
  user_pause_interval: "user_pause_interval_updated",
  operator_removed: "role_changed",
  operator_added: "role_changed",
};

/**
 * Returns rows in chain order. The recording omits the setup of the contracts before its first event, in block
 * `sinceBlock`.
 */
export function expectExchangeEvents(recording: Recording<ExpectedMarket>): {
  readonly sinceBlock: number;
  readonly rows: readonly object[];
} {
  const rows = recording.admin.map(expectEvent);
  return { sinceBlock: Math.min(...recording.admin.map((row) => row.block_number)), rows };
}

/** The fields of a served row that are compared. */
export function comparedFields(row: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(comparedNames.map((name) => [name, row[name]]));
}

const comparedNames = [
  "kind",
  "tx_hash",
  "block_number",
  "exchange_address",
  "order_hash",
  "user",
  "effective_block",
  "account",
  "role",
  "granted",
  "old_interval_blocks",
  "new_interval_blocks",
  "fee_receiver",
  "max_fee_rate_bps",
];

function expectEvent(row: ExpectedAdmin): object {
  const isRole = row.operator !== undefined;
  return {
    kind: kinds[row.kind] ?? row.kind,
    tx_hash: row.tx_hash,
    block_number: row.block_number,
    exchange_address: row.exchange.toLowerCase(),
    order_hash: row.order_hash ?? null,
    user: row.user?.toLowerCase() ?? null,
    effective_block: row.effective_block ?? null,
    account: row.operator?.toLowerCase() ?? null,
    role: isRole ? "operator" : null,
    granted: isRole ? row.kind === "operator_added" : null,
    old_interval_blocks: numberOrNull(row.old_interval),
    new_interval_blocks: numberOrNull(row.new_interval),
    fee_receiver: row.fee_receiver?.toLowerCase() ?? null,
    max_fee_rate_bps: numberOrNull(row.max_fee_rate_bps),
  };
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
