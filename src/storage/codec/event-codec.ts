import type { Address, Hash, Seq } from "../../base/ids.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { prefixed, type Row } from "../engine/engine.ts";

type StoredEvent = LocatedEvent["event"];

/** Fields whose integers can be larger than JSON numbers hold exactly. They are stored as decimal strings. */
const bigintFields: ReadonlySet<string> = new Set([
  "payouts",
  "effectiveBlock",
  "oldInterval",
  "newInterval",
  "maxFeeRateBps",
]);

/** Encodes an event as JSON text. `decodeEvent` returns an equal event. */
export function encodeEvent(event: StoredEvent): string {
  return JSON.stringify(event, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

/** Decodes the text of `encodeEvent`. The shape is not checked, since only this service writes it. */
export function decodeEvent(payload: string): StoredEvent {
  return JSON.parse(payload, (key, value: unknown) => {
    if (!bigintFields.has(key)) return value;
    return Array.isArray(value) ? value.map((item) => BigInt(String(item))) : BigInt(String(value));
  }) as StoredEvent;
}

/** Columns of `events`, in the order in which `parseEvent` reads them. */
export const eventColumns = "seq, timestamp, hex(block_hash), hex(tx_hash), hex(address), payload";

/** Parses a row of `eventColumns` to the event that was appended. */
export function parseEvent(row: Row): LocatedEvent {
  const [seq, timestamp, blockHash, txHash, address, payload] = row;
  return {
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    blockHash: prefixed(blockHash) as Hash,
    txHash: prefixed(txHash) as Hash,
    address: prefixed(address) as Address,
    event: decodeEvent(String(payload)),
  };
}

/** Returns the 32 bytes that an event is looked up by: condition, question, order, or address (padded on the left). */
export function subjectOf(event: StoredEvent): Hash {
  switch (event.kind) {
    case "condition_prepared":
    case "condition_resolved":
    case "token_registered":
    case "gen3_condition_migrated":
    case "gen3_combo_prepared":
    case "gen3_other_resolved_yes":
      return event.conditionId as string as Hash;
    case "question_initialized":
    case "question_updated":
    case "neg_risk_question_prepared":
    case "neg_risk_question_requested":
      return event.questionId;
    case "gen3_event_announced":
    case "gen3_remaining_resolved_no":
      return event.eventId;
    case "gen3_text_registered":
      return event.requestId;
    case "gen3_reporter_added":
      return subjectOfAddress(event.reporter);
    case "neg_risk_market_prepared":
      return event.negRiskMarketId;
    case "order_cancelled":
    case "order_preapproved":
    case "order_preapproval_invalidated":
      return event.orderHash;
    case "user_paused":
    case "user_unpaused":
      return subjectOfAddress(event.user);
    case "trading_paused":
    case "trading_unpaused":
      return subjectOfAddress(event.by);
    case "role_changed":
      return subjectOfAddress(event.account);
    case "fee_receiver_updated":
      return subjectOfAddress(event.feeReceiver);
    case "max_fee_rate_updated":
    case "user_pause_interval_updated":
      return subjectOfAddress("0x");
  }
}

/** Returns an address, padded on the left, as a subject. `0x` stands for events without a subject. */
export function subjectOfAddress(address: Address | "0x"): Hash {
  return `0x${address.slice(2).padStart(64, "0")}` as Hash;
}
