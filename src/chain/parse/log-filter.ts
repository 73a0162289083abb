import { assert } from "../../base/assert.ts";
import { chainLimits } from "../../base/config/limits.ts";
import type { Address, Hash } from "../../base/ids.ts";
import type { BlockRange, RawLog } from "../raw-log.ts";
import { type BloomBits, countBits, deriveBloomBits, mayContain } from "../verify/bloom.ts";
import { formatQuantity } from "./parse-hex.ts";
import { topic0Of } from "./scanned-log.ts";

type ItemBits = { readonly item: Address | Hash; readonly bits: BloomBits };

/** The wanted addresses and first topics, and their bits in a bloom. */
export type LogFilter = {
  readonly addresses: ReadonlySet<Address>;
  readonly topics0: ReadonlySet<Hash>;
  readonly addressBits: readonly ItemBits[];
  readonly topicBits: readonly ItemBits[];
};

/** Derives a filter. Neither list can be empty: to a node, an empty list means "any". */
export function deriveLogFilter(wanted: {
  readonly addresses: readonly Address[];
  readonly topics0: readonly Hash[];
}): LogFilter {
  const { addresses, topics0 } = wanted;
  assert(addresses.length > 0 && topics0.length > 0, "a filter needs addresses and topics");
  return {
    addresses: new Set(addresses),
    topics0: new Set(topics0),
    addressBits: addresses.map(bitsOf),
    topicBits: topics0.map(bitsOf),
  };
}

/** Whether a block with this bloom can contain a log that passes the filter. */
export function mayHaveLogs(bloom: string, filter: LogFilter): boolean {
  const isThere = ({ bits }: ItemBits) => mayContain(bloom, bits);
  return filter.addressBits.some(isThere) && filter.topicBits.some(isThere);
}

/**
 * Whether the bloom seems to contain wanted logs other than `logs`. If there are some logs, only a sparse bloom
 * counts: a full bloom seems to contain nearly everything, and a proof is expensive.
 */
export function showsMore(
  bloom: string,
  logs: readonly Pick<RawLog, "address" | "topics">[],
  filter: LogFilter,
): boolean {
  if (logs.length === 0) return mayHaveLogs(bloom, filter);
  if (countBits(bloom) > chainLimits.sparseBloomBitsMax) return false;
  const reported = new Set<Address | Hash | undefined>();
  for (const log of logs) reported.add(log.address).add(topic0Of(log));
  const isMissing = ({ item, bits }: ItemBits) => !reported.has(item) && mayContain(bloom, bits);
  return filter.addressBits.some(isMissing) || filter.topicBits.some(isMissing);
}

function bitsOf(item: Address | Hash): ItemBits {
  return { item, bits: deriveBloomBits(item) };
}

/** The blocks that an `eth_getLogs` searches. */
export type LogScope = { readonly blockHash: Hash } | BlockRange;

/** Formats the parameter of `eth_getLogs`. */
export function formatLogsParam(scope: LogScope, filter: LogFilter): Record<string, unknown> {
  const where =
    "blockHash" in scope
      ? scope
      : { fromBlock: formatQuantity(scope.from), toBlock: formatQuantity(scope.to) };
  return { ...where, address: [...filter.addresses], topics: [[...filter.topics0]] };
}
