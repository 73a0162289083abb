import type { Address, Hash, Seq } from "../../base/ids.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import type { Row } from "../engine/engine.ts";
import { decodeEvent } from "./event-codec.ts";
import { prefixed } from "./json-cells.ts";

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
