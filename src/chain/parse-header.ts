import type { Hash } from "../base/ids.ts";
import { EndpointError } from "./chain-errors.ts";
import type { BlockRef } from "./log.ts";
import { parseBloom, parseHash, parseQuantity } from "./parse-hex.ts";

/** What is needed of a header. */
export type Header = BlockRef & {
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  /** `0x` and 512 hex digits. */
  readonly logsBloom: string;
};

/** The year 2106: times are stored in 32 bits. */
const timestampMax = 2 ** 32 - 1;

/** A block as `eth_getBlockBy...` answers it; `null` when the node does not know it (yet). */
export function parseHeader(value: unknown): Header | null {
  if (value === null) return null;
  if (typeof value !== "object") throw new EndpointError("malformed", "a header is no object");
  const json = value as Record<keyof Header, unknown>;
  const number = parseQuantity(json.number);
  const hash = parseHash(json.hash);
  const parentHash = parseHash(json.parentHash);
  const timestamp = parseQuantity(json.timestamp);
  const logsBloom = parseBloom(json.logsBloom);
  if (
    number === null ||
    hash === null ||
    parentHash === null ||
    timestamp === null ||
    timestamp > timestampMax ||
    logsBloom === null
  ) {
    throw new EndpointError("malformed", "a header lacks a field, or has one of a wrong form");
  }
  return { number, hash, parentHash, timestamp, logsBloom };
}
