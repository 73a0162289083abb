import { assert } from "../../base/assert.ts";
import { chainLimits } from "../../base/config/limits.ts";
import type { Address, Hash } from "../../base/ids.ts";
import { NamedContracts } from "../parse/named-contracts.ts";
import { formatQuantity } from "../parse/parse-hex.ts";
import { getTopic0 } from "../parse/scanned-log.ts";
import type { BlockRange, RawLog } from "../raw-log.ts";
import type { RpcCall } from "../rpc/json-rpc.ts";
import { countBits, deriveBloomBits, mayContain } from "./bloom.ts";

/** The requested addresses and first topics, each with its bits in a bloom. */
export type LogFilter = {
  readonly addresses: ReadonlyMap<Address, bigint>;
  readonly topics0: ReadonlyMap<Hash, bigint>;
  /** Further requested addresses. */
  readonly named: NamedContracts;
};

/** What is requested of a chain. */
export type RequestedLogs = {
  readonly addresses: readonly Address[];
  readonly topics0: readonly Hash[];
  /** None by default. */
  readonly named?: NamedContracts;
};

/** Derives a filter. Neither list can be empty: to a node, an empty list means "any". */
export function deriveLogFilter(requested: RequestedLogs): LogFilter {
  const { addresses, topics0, named = new NamedContracts(null, new Set()) } = requested;
  assert(addresses.length > 0 && topics0.length > 0, "a filter needs addresses and topics");
  return {
    addresses: new Map(addresses.map((address) => [address, deriveBloomBits(address)])),
    topics0: new Map(topics0.map((topic0) => [topic0, deriveBloomBits(topic0)])),
    named,
  };
}

/**
 * Whether the bloom seems to contain requested logs other than `logs`. If there are some logs, only a sparse bloom
 * counts: a full bloom seems to contain nearly everything, and a proof is expensive.
 */
export function showsMore(
  bloom: bigint,
  logs: readonly Pick<RawLog, "address" | "topics">[],
  { addresses, topics0, named }: LogFilter,
): boolean {
  const isThere = (bits: bigint) => mayContain(bloom, bits);
  const emitters = [...addresses, ...named.bloomItems()];
  if (logs.length === 0) {
    return emitters.some(([, bits]) => isThere(bits)) && topics0.values().some(isThere);
  }
  if (countBits(bloom) > chainLimits.sparseBloomBitsMax) return false;
  const reported = new Set<Address | Hash | undefined>();
  for (const log of logs) reported.add(log.address).add(getTopic0(log));
  return [...emitters, ...topics0].some(([item, bits]) => !reported.has(item) && isThere(bits));
}

/** The blocks that an `eth_getLogs` searches. */
type LogScope = { readonly blockHash: Hash } | BlockRange;

/** The call for the logs that pass the filter. */
export function logsCall(scope: LogScope, { addresses, topics0, named }: LogFilter): RpcCall {
  const where =
    "blockHash" in scope
      ? scope
      : { fromBlock: formatQuantity(scope.from), toBlock: formatQuantity(scope.to) };
  const what = {
    address: [...addresses.keys(), ...named.addresses],
    topics: [[...topics0.keys()]],
  };
  return { method: "eth_getLogs", params: [{ ...where, ...what }] };
}
