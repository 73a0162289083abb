import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import { EndpointError, nullIfFailed } from "../chain-errors.ts";
import { type LogFilter, logsCall, showsMore } from "../parse/log-filter.ts";
import type { Header } from "../parse/parse-header.ts";
import {
  isWanted,
  parseLogs,
  parseReceiptLogs,
  parseTransactionHashes,
} from "../parse/parse-log.ts";
import { type Block, type RawLog, timedBlockOf } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { type RpcCall, type RpcReply, resultOf } from "../rpc/json-rpc.ts";
import type { ProviderError } from "../rpc/provider-messages.ts";
import { isExplainedBy } from "./bloom.ts";
import { checkLogs } from "./check-logs.ts";
import { fetchHeader } from "./fetch-headers.ts";

/** How many other endpoints are asked when one cannot prove its logs. */
const otherWitnessesMax = 2;

/**
 * Reads single blocks with their wanted logs, complete (R4). If a bloom contains more than the answer, receipts that
 * account for every bit of the bloom decide. A second answer without the logs would prove nothing.
 */
export class BlockLogs {
  readonly #pool: EndpointPool;
  /** The logs that are wanted. */
  readonly filter: LogFilter;
  #falsePositives = 0;

  constructor(pool: EndpointPool, filter: LogFilter) {
    this.#pool = pool;
    this.filter = filter;
  }

  get falsePositives(): number {
    return this.#falsePositives;
  }

  /** The call whose reply `complete` reads. */
  call(blockHash: Hash): RpcCall {
    return logsCall({ blockHash }, this.filter);
  }

  /** Reads a block, given the endpoint's reply to an `eth_getLogs` of that block alone. */
  async complete(endpoint: Endpoint, header: Header, reply: RpcReply | undefined): Promise<Block> {
    let logs: readonly RawLog[];
    try {
      logs = this.#read(header, resultOf(reply));
    } catch (thrown) {
      if (!(thrown instanceof EndpointError) || thrown.kind === "not_yet") throw thrown;
      // The logs are too many for one answer, or wrong. The receipts of the block can still be right.
      return blockOf(header, await this.#fetchProven(endpoint, header));
    }
    const missing = await this.findMissing(endpoint, header, logs);
    if (missing.length > 0) endpoint.noteBadData(missingError(header, missing));
    return blockOf(header, [...logs, ...missing]);
  }

  /**
   * Returns the logs of the block that `endpoint` left out, as far as its bloom can show.
   * Throws an `EndpointError` when no endpoint can resolve a mismatch now.
   */
  async findMissing(
    endpoint: Endpoint,
    header: Header,
    reported: readonly RawLog[],
  ): Promise<readonly RawLog[]> {
    if (!showsMore(header.logsBloom, reported, this.filter)) return [];
    const others = this.#pool.ranked().filter((other) => other !== endpoint);
    const witnesses = [endpoint, ...others.slice(0, otherWitnessesMax)];
    let logs: readonly RawLog[] | null = null;
    for (const one of witnesses) logs ??= await nullIfFailed(this.#fetchProven(one, header));
    if (logs === null) {
      throw new EndpointError("inconsistent", `the logs of block ${header.number} are not proven`);
    }
    // Logs that are only in the answer stay valid: Polygon's receipts lack the logs of state-sync transactions.
    const known = new Set(reported.map((log) => log.logIndex));
    const missing = logs.filter((log) => !known.has(log.logIndex));
    if (missing.length === 0) this.#falsePositives += 1;
    return missing;
  }

  /**
   * Reads a block with all wanted logs of one endpoint: those that its receipts prove, and those that only its log
   * index has, such as those of Polygon's state-sync transactions. Throws an `EndpointError` without receipts.
   */
  async gather(endpoint: Endpoint, header: Header): Promise<Block> {
    const proven = await this.#fetchProven(endpoint, header);
    const [reply] = (await endpoint.requestWithRetries([this.call(header.hash)])).replies;
    // The block has more logs than the endpoint sends in one answer. Its receipts have all of them.
    const isTooLarge = reply?.kind === "error" && reply.error.verdict.kind === "too_large";
    const reported = isTooLarge ? [] : this.#read(header, resultOf(reply));
    const known = new Set(proven.map((log) => log.logIndex));
    return blockOf(header, [...proven, ...reported.filter((log) => !known.has(log.logIndex))]);
  }

  /**
   * Reads all logs of a block from its receipts, until an endpoint proves them. An unfinalized block that no endpoint
   * has any more keeps its logs: it is about to be reverted.
   */
  async prove(block: Block, isFinal: boolean): Promise<Block> {
    const { number, hash } = block;
    return this.#pool.retry(async () => {
      const endpoints = isFinal ? this.#pool.finalAt(number) : this.#pool.ranked();
      const proven = await this.#pool.tryInTurn(endpoints, async (endpoint) => {
        const header = await fetchHeader(endpoint, number);
        return header?.hash === hash ? this.gather(endpoint, header) : null;
      });
      if (proven === null && isFinal) {
        throw new EndpointError("unavailable", `no endpoint can prove the logs of block ${number}`);
      }
      // Receipts prove logs, not times: the header of this endpoint can have another one.
      return { ...block, logs: proven?.logs ?? block.logs };
    });
  }

  /** Fetches all logs of the block, which must account for its bloom, and returns the wanted ones. */
  async #fetchProven(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const logs = await this.#fetchAll(endpoint, header);
    checkLogs(logs, { ...only(header), filter: null });
    if (!isExplainedBy(header.logsBloom, logs)) {
      throw new EndpointError("inconsistent", `receipts of block ${header.number} are incomplete`);
    }
    return logs.filter((log) => isWanted(log, this.filter));
  }

  async #fetchAll(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const receipts = { method: "eth_getBlockReceipts", params: [header.hash] };
    const { replies } = await endpoint.requestWithRetries([receipts]);
    const [reply] = replies;
    if (reply?.kind === "error" && isForGood(reply.error)) {
      const anyLogs = { method: "eth_getLogs", params: [{ blockHash: header.hash }] };
      const [all] = (await endpoint.requestWithRetries([anyLogs])).replies;
      // Some providers require an address.
      if (all?.kind !== "result") return this.#fetchByTransaction(endpoint, header);
      return parseLogs(all.value).logs;
    }
    const logs = parseReceiptLogs(resultOf(reply));
    if (logs === null) throw new EndpointError("not_yet", "the receipts are not known");
    return logs;
  }

  /** Fetches receipts one by one: the most expensive way, which every node supports. */
  async #fetchByTransaction(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const block = { method: "eth_getBlockByHash", params: [header.hash, false] };
    const hashes = parseTransactionHashes(
      resultOf((await endpoint.requestWithRetries([block])).replies[0]),
    );
    if (hashes === null) throw new EndpointError("not_yet", "the block is not known");
    const receipts: unknown[] = [];
    for (let start = 0; start < hashes.length; start += chainLimits.headersPerBatchMax) {
      const some = hashes.slice(start, start + chainLimits.headersPerBatchMax);
      const calls = some.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] }));
      receipts.push(...(await endpoint.requestWithRetries(calls)).replies.map(resultOf));
    }
    return parseReceiptLogs(receipts) ?? [];
  }

  #read(header: Header, value: unknown): readonly RawLog[] {
    const { logs } = parseLogs(value);
    checkLogs(logs, { ...only(header), filter: this.filter });
    return logs;
  }
}

/** Whether asking again is useless, because the endpoint does not support the call. */
function isForGood({ verdict }: ProviderError): boolean {
  return verdict.kind !== "not_yet" && verdict.kind !== "unhealthy";
}

function blockOf(header: Header, logs: readonly RawLog[]): Block {
  return {
    ...timedBlockOf(header),
    parentHash: header.parentHash,
    logs: logs.toSorted((one, other) => one.logIndex - other.logIndex),
  };
}

/** The error of an endpoint that left out logs. */
export function missingError(header: Header, missing: readonly RawLog[]): EndpointError {
  const message = `${missing.length} logs of block ${header.number} were left out`;
  return new EndpointError("inconsistent", message);
}

function only(header: Header) {
  return { from: header.number, to: header.number, headers: new Map([[header.number, header]]) };
}
