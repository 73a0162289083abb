import { type Hash, parseHash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { TimedBlock } from "../raw-log.ts";
import { parseBloom, parseQuantity } from "./parse-hex.ts";

/** The fields of a block header that are used. */
export type Header = TimedBlock & {
  readonly parentHash: Hash;
  /** 2048 bits (`verify/bloom.ts`). */
  readonly logsBloom: bigint;
};

/** The year 2106: times are stored in 32 bits. */
const timestampMax = 2 ** 32 - 1;

/** Parses a block as `eth_getBlockBy...` returns it; `null` when the node does not have it (yet). */
export function parseHeader(value: unknown): Header | null {
  if (value === null) return null;
  if (typeof value !== "object") throw new EndpointError("malformed", "a header is not an object");
  const json = value as Record<keyof Header, unknown>;
  const timestamp = parseQuantity(json.timestamp);
  return {
    number: present(parseQuantity(json.number), "number"),
    hash: present(parseHash(json.hash), "hash"),
    parentHash: present(parseHash(json.parentHash), "parentHash"),
    timestamp: present((timestamp ?? 0) > timestampMax ? null : timestamp, "timestamp"),
    logsBloom: present(parseBloom(json.logsBloom), "logsBloom"),
  };
}

/** Returns the value, or throws an error that names the member. */
function present<Value>(value: Value | null, name: keyof Header): Value {
  if (value !== null) return value;
  throw new EndpointError("malformed", `a header has no ${name}, or an invalid one`);
}
