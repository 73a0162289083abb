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

/** Parses a block as `eth_getBlockBy...` returns it; `null` when the node does not have it (yet). */
export function parseHeader(value: unknown): Header | null {
  if (value === null) return null;
  if (typeof value !== "object") throw new EndpointError("malformed", "a header is not an object");
  const json = value as Record<keyof Header, unknown>;
  return {
    number: present(parseQuantity(json.number), "number"),
    hash: present(parseHash(json.hash), "hash"),
    parentHash: present(parseHash(json.parentHash), "parentHash"),
    timestamp: present(parseQuantity(json.timestamp), "timestamp"),
    logsBloom: present(parseBloom(json.logsBloom), "logsBloom"),
  };
}

/** Returns the value, or throws an error that names the member. */
function present<Value>(value: Value | null, name: keyof Header): Value {
  if (value !== null) return value;
  throw new EndpointError("malformed", `a header has no ${name}, or an invalid one`);
}
