import type { Address, Hash, Seq } from "../../base/ids.ts";
import { type StoredEvent, subjectFieldByKind } from "../../contracts/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { prefixed, type Row } from "../engine/engine.ts";

/** Fields whose integers can be larger than JSON numbers hold exactly. They are stored as decimal strings. */
const bigintFields: ReadonlySet<string> = new Set([
  "payouts",
  "effectiveBlock",
  "oldInterval",
  "newInterval",
  "maxFeeRateBps",
  "feeBips",
  "price",
  "bond",
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
    if (Array.isArray(value)) return value.map((item) => BigInt(String(item)));
    return typeof value === "string" ? BigInt(value) : value;
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
export function getSubject(event: StoredEvent): Hash {
  const field = subjectFieldByKind[event.kind];
  const fields: Readonly<Record<string, unknown>> = event;
  return padded(field === null ? "0x" : String(fields[field]));
}

/** Returns an address as a subject. */
export function subjectOfAddress(address: Address): Hash {
  return padded(address);
}

/** Pads hex on the left to 32 bytes. `0x` stands for events without a subject. */
function padded(hex: string): Hash {
  return `0x${hex.slice(2).padStart(64, "0")}` as Hash;
}
