import { assert } from "../base/assert.ts";
import type { Address, Hash } from "../base/ids.ts";
import { type BloomBits, deriveBloomBits, mayContain } from "./bloom.ts";
import { formatQuantity } from "./parse-hex.ts";

/**
 * Which logs are asked for: those of one of the addresses with one of the first topics. The maps
 * lead from a text to the one string that stands for it everywhere, so that logs share them.
 */
export type LogFilter = {
  readonly addresses: ReadonlyMap<string, Address>;
  readonly topics0: ReadonlyMap<string, Hash>;
  readonly addressBits: readonly BloomBits[];
  readonly topicBits: readonly BloomBits[];
};

/** `addresses` and `topics0` are not empty: an empty list would mean "any" to a node. */
export function deriveLogFilter(wanted: {
  readonly addresses: readonly Address[];
  readonly topics0: readonly Hash[];
}): LogFilter {
  const { addresses, topics0 } = wanted;
  assert(addresses.length > 0 && topics0.length > 0, "a filter needs addresses and topics");
  return {
    addresses: new Map(addresses.map((address) => [address, address])),
    topics0: new Map(topics0.map((topic) => [topic, topic])),
    addressBits: addresses.map(deriveBloomBits),
    topicBits: topics0.map(deriveBloomBits),
  };
}

/** Whether a block with this bloom can hold a log that passes the filter. */
export function mayHaveLogs(bloom: string, filter: LogFilter): boolean {
  return (
    filter.addressBits.some((bits) => mayContain(bloom, bits)) &&
    filter.topicBits.some((bits) => mayContain(bloom, bits))
  );
}

/** Which blocks an `eth_getLogs` looks through. */
export type LogsOf = { readonly blockHash: Hash } | { readonly from: number; readonly to: number };

/** The parameter of `eth_getLogs`. */
export function formatLogsParam(of: LogsOf, filter: LogFilter): Record<string, unknown> {
  const where =
    "blockHash" in of ? of : { fromBlock: formatQuantity(of.from), toBlock: formatQuantity(of.to) };
  const topics = [[...filter.topics0.keys()]];
  return { ...where, address: [...filter.addresses.keys()], topics };
}
