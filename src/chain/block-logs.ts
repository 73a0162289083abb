import type { Hash } from "../base/ids.ts";
import { chainLimits } from "../base/limits.ts";
import { isExplainedBy } from "./bloom.ts";
import { EndpointError } from "./chain-errors.ts";
import { checkLogs } from "./check-logs.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import type { RpcCall, RpcReply } from "./json-rpc.ts";
import type { RawLog } from "./log.ts";
import { formatLogsParam, type LogFilter, mayHaveLogs } from "./log-filter.ts";
import { type Header, parseHeader } from "./parse-header.ts";
import { isWanted, parseLogs } from "./parse-log.ts";
import { parseReceiptLogs } from "./parse-receipts.ts";
import { classifyProviderError, resultOf } from "./provider-messages.ts";

/** How many other endpoints are asked about an answer that is doubted. */
const secondOpinionsMax = 2;

/**
 * The wanted logs of single blocks, complete (R4). A bloom that tells of our logs where none came
 * is resolved by another endpoint, or by receipts that account for every bit of that bloom.
 */
export class BlockLogs {
  readonly #pool: EndpointPool;
  readonly #filter: LogFilter;
  #falsePositives = 0;

  constructor(options: { pool: EndpointPool; filter: LogFilter }) {
    this.#pool = options.pool;
    this.#filter = options.filter;
  }

  /** Blooms that told of our logs although there were none, which was then proven. */
  get falsePositives(): number {
    return this.#falsePositives;
  }

  /** The call whose reply `complete` reads. */
  call(blockHash: Hash): RpcCall {
    return { method: "eth_getLogs", params: [formatLogsParam({ blockHash }, this.#filter)] };
  }

  /** The logs of the block, given the endpoint's reply to an `eth_getLogs` of that block alone. */
  async complete(
    endpoint: Endpoint,
    header: Header,
    reply: RpcReply | undefined,
  ): Promise<readonly RawLog[]> {
    let logs: readonly RawLog[];
    try {
      logs = this.#read(header, resultOf(reply));
    } catch (thrown) {
      if (!(thrown instanceof EndpointError) || thrown.kind === "not_yet") throw thrown;
      // Too many for one answer, or wrong: the receipts of the block can still be right.
      return this.#fetchProven(endpoint, header);
    }
    if (logs.length > 0 || !mayHaveLogs(header.logsBloom, this.#filter)) return logs;
    const proven = await this.resolveDoubt(endpoint, header);
    if (proven.length > 0) {
      const message = `the logs of block ${header.number} were left out`;
      endpoint.noteBadData(new EndpointError("inconsistent", message));
    }
    return proven;
  }

  /** What the logs really are of a block that `endpoint` says has none, against its bloom. */
  async resolveDoubt(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const others = this.#pool.ranked().filter((other) => other !== endpoint);
    const opinions = others.slice(0, secondOpinionsMax);
    let logs = await this.#pool.firstOpinion(opinions, (one) => this.#fetchOpinion(one, header));
    logs ??= await this.#pool.firstOpinion([endpoint, ...opinions], (one) =>
      this.#fetchProven(one, header),
    );
    if (logs === null) {
      throw new EndpointError("inconsistent", `the empty block ${header.number} is not proven`);
    }
    if (logs.length === 0) this.#falsePositives += 1;
    return logs;
  }

  async #fetchOpinion(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const headerCall = { method: "eth_getBlockByHash", params: [header.hash, false] };
    const calls = [headerCall, this.call(header.hash)];
    const { replies } = await endpoint.request(calls, chainLimits.tailTimeoutMs);
    const known = parseHeader(resultOf(replies[0]));
    if (known?.hash !== header.hash) throw new EndpointError("not_yet", "the block is not known");
    return this.#read(header, resultOf(replies[1]));
  }

  /** From all logs of the block, which must account for its bloom: then none of ours is missing. */
  async #fetchProven(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const logs = await this.#fetchAll(endpoint, header);
    checkLogs(logs, { ...only(header), filter: null });
    if (!isExplainedBy(header.logsBloom, logs)) {
      throw new EndpointError("inconsistent", `receipts of block ${header.number} are incomplete`);
    }
    return logs.filter((log) => isWanted(log, this.#filter));
  }

  async #fetchAll(endpoint: Endpoint, header: Header): Promise<readonly RawLog[]> {
    const receipts = { method: "eth_getBlockReceipts", params: [header.hash] };
    const { replies } = await endpoint.request([receipts]);
    const [reply] = replies;
    if (reply?.kind === "error" && classifyProviderError(reply).kind === "unsupported") {
      const anyLogs = { method: "eth_getLogs", params: [{ blockHash: header.hash }] };
      const { replies } = await endpoint.request([anyLogs]);
      return parseLogs(resultOf(replies[0]), this.#filter).logs;
    }
    const logs = parseReceiptLogs(resultOf(reply), this.#filter);
    if (logs === null) throw new EndpointError("not_yet", "the receipts are not known");
    return logs;
  }

  #read(header: Header, value: unknown): readonly RawLog[] {
    const { logs } = parseLogs(value, this.#filter);
    checkLogs(logs, { ...only(header), filter: this.#filter });
    return logs;
  }
}

function only(header: Header) {
  return { from: header.number, to: header.number, headers: new Map([[header.number, header]]) };
}
