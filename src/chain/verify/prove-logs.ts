import { chainLimits } from "../../base/config/limits.ts";
import { EndpointError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import {
  logsInReceipts,
  ParsedLogs,
  parseAllLogs,
  parseTransactionHashes,
} from "../parse/parse-log.ts";
import type { RawLog } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { getResult, type RpcCall } from "../rpc/json-rpc.ts";
import { isExplainedBy } from "./bloom.ts";
import { checkLogs, onlyBlock } from "./check-logs.ts";
import type { LogFilter } from "./log-filter.ts";

/** Reads all logs of a block in the order of the block, unchecked. Throws an `EndpointError`. */
type Way = (endpoint: Endpoint, header: Header) => Promise<readonly unknown[]>;

/** From the cheapest to the most expensive, which every node supports. */
const ways: readonly Way[] = [
  async (endpoint, { hash }) =>
    logsInReceipts(await ask(endpoint, { method: "eth_getBlockReceipts", params: [hash] })),
  // Some providers require an address.
  async (endpoint, { hash }) => {
    const logs = await ask(endpoint, { method: "eth_getLogs", params: [{ blockHash: hash }] });
    if (logs instanceof ParsedLogs) return logs.logs;
    return Array.isArray(logs) ? (logs as readonly unknown[]) : [];
  },
  fetchByTransaction,
];

/** `logs` are the requested logs; `null` without a proof. `isConclusive`: every way was answered. */
export type Proof = { readonly logs: readonly RawLog[] | null; readonly isConclusive: boolean };

/**
 * Reads the requested logs of a block from all its logs, which must account for every bit of its bloom. After an answer
 * that does not, or is `null`, contradictory or an error, the next way is tried.
 */
export async function proveLogs(
  endpoint: Endpoint,
  header: Header,
  filter: LogFilter,
): Promise<Proof> {
  let isConclusive = true;
  for (const way of ways) {
    try {
      const { requested, all } = parseAllLogs(await way(endpoint, header), filter);
      checkLogs(requested, { ...onlyBlock(header), filter });
      if (isExplainedBy(header.logsBloom, all)) return { logs: requested, isConclusive };
    } catch (thrown) {
      if (!(thrown instanceof EndpointError)) throw thrown;
      if (!thrown.isUnanswered) continue;
      isConclusive = false;
      if (thrown.kind === "rate_limited" || !endpoint.isReachable) break;
    }
  }
  return { logs: null, isConclusive };
}

/** Fetches receipts one by one. Before `allLogsInBloomFrom`, nodes have none of Polygon's state-sync transactions. */
async function fetchByTransaction(endpoint: Endpoint, header: Header): Promise<readonly unknown[]> {
  const block = { method: "eth_getBlockByHash", params: [header.hash, false] };
  const hashes = parseTransactionHashes(await ask(endpoint, block));
  const receipts: unknown[] = [];
  for (let start = 0; start < hashes.length; start += chainLimits.headersPerBatchMax) {
    const some = hashes.slice(start, start + chainLimits.headersPerBatchMax);
    const calls = some.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] }));
    const { replies } = await endpoint.requestWithRetries(calls);
    receipts.push(...replies.map((reply) => (reply.kind === "result" ? reply.value : null)));
  }
  return logsInReceipts(receipts);
}

async function ask(endpoint: Endpoint, call: RpcCall): Promise<unknown> {
  return getResult((await endpoint.requestWithRetries([call])).replies[0]);
}
