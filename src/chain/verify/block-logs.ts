import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import {
  logsInReceipts,
  ParsedLogs,
  parseAllLogs,
  parseLogs,
  parseTransactionHashes,
} from "../parse/parse-log.ts";
import { type Block, type BlockRef, type RawLog, toTimedBlock } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { getResult, type RpcCall, type RpcReply } from "../rpc/json-rpc.ts";
import { allLogsInBloomFrom, containsLogs, isExplainedBy } from "./bloom.ts";
import { checkLogs, onlyBlock } from "./check-logs.ts";
import { fetchHeader } from "./fetch-headers.ts";
import { type LogFilter, logsCall, showsMore } from "./log-filter.ts";

const otherWitnessesMax = 2;

/**
 * Reads single blocks with their requested logs, complete (R4). If a bloom contains more than the answer, all logs of the
 * block decide. A second answer without the logs would prove nothing.
 */
export class BlockLogs {
  readonly #pool: EndpointPool;
  readonly #unproven: UnprovenBlocks;
  readonly filter: LogFilter;
  #falsePositives = 0;

  constructor(pool: EndpointPool, filter: LogFilter) {
    this.#pool = pool;
    this.#unproven = new UnprovenBlocks(pool.context);
    this.filter = filter;
  }

  get falsePositives(): number {
    return this.#falsePositives;
  }

  /** The numbers of the last blocks that were accepted without a proof. */
  get unproven(): readonly number[] {
    return this.#unproven.numbers;
  }

  /** The call whose reply `complete` reads. */
  call(blockHash: Hash): RpcCall {
    return logsCall({ blockHash }, this.filter);
  }

  /** Reads a block, given the endpoint's reply to an `eth_getLogs` of that block alone. */
  async complete(endpoint: Endpoint, header: Header, reply: RpcReply | undefined): Promise<Block> {
    let logs: readonly RawLog[];
    try {
      logs = this.#read(header, getResult(reply));
    } catch (thrown) {
      if (!(thrown instanceof EndpointError) || thrown.kind === "not_yet") throw thrown;
      // The logs are too many for one answer, or wrong. All logs of the block can still be right.
      const proof = await proveLogs(endpoint, header, this.filter);
      if (proof.logs === null) throw thrown;
      return toBlock(header, proof.logs);
    }
    const confirmed = await this.confirm(endpoint, header, logs);
    if (confirmed !== logs) endpoint.recordBadData(wrongLogsError(header, logs, confirmed));
    return toBlock(header, confirmed);
  }

  /**
   * Returns the requested logs of the block: those that `endpoint` reported, unless its bloom shows more or others and a
   * proof has them. The same list is returned if nothing is wrong with it, or no endpoint can prove the block. Throws
   * a `not_yet` `EndpointError` until that is certain.
   */
  async confirm(
    endpoint: Endpoint,
    header: Header,
    reported: readonly RawLog[],
  ): Promise<readonly RawLog[]> {
    const isStrict = header.number >= allLogsInBloomFrom;
    const hasOthers = isStrict && !containsLogs(header.logsBloom, reported);
    if (!hasOthers && !showsMore(header.logsBloom, reported, this.filter)) return reported;
    const others = this.#pool.ranked().filter((other) => other !== endpoint);
    let isConclusive = true;
    for (const witness of [endpoint, ...others.slice(0, otherWitnessesMax)]) {
      const proof = await proveLogs(witness, header, this.filter);
      isConclusive &&= proof.isConclusive;
      if (proof.logs === null) continue;
      const all = union(reported, proof.logs);
      // Logs that are only in the answer can be valid: earlier receipts of Polygon lack the logs of state syncs.
      if (hasOthers || all.length > reported.length) return isStrict ? proof.logs : all;
      this.#falsePositives += 1;
      return reported;
    }
    this.#acceptUnproven(header, isConclusive);
    return reported;
  }

  /**
   * Reads a block with all requested logs of one endpoint: those that are proven, and in earlier blocks of Polygon those
   * of state syncs, which only its log index has. Throws an `EndpointError` without a proof.
   */
  async gather(endpoint: Endpoint, header: Header): Promise<Block> {
    const { logs, isConclusive } = await proveLogs(endpoint, header, this.filter);
    if (logs === null) {
      const message = `the logs of block ${header.number} are not proven`;
      throw new EndpointError(isConclusive ? "not_yet" : "unavailable", message);
    }
    if (header.number >= allLogsInBloomFrom) return toBlock(header, logs);
    const [reply] = (await endpoint.requestWithRetries([this.call(header.hash)])).replies;
    // The block has more logs than the endpoint sends in one answer. Its receipts have all of them.
    const isTooLarge = reply?.kind === "error" && reply.error.verdict.kind === "too_large";
    const reported = isTooLarge ? [] : this.#read(header, getResult(reply));
    return toBlock(header, union(logs, reported));
  }

  /**
   * Reads all logs of a block until an endpoint proves them, or none can. The block then keeps its logs, as an
   * unfinalized block does that no endpoint has any more: it is about to be reverted.
   */
  async prove(block: Block, isFinal: boolean): Promise<Block> {
    const { number, hash } = block;
    return this.#pool.retry(async () => {
      const endpoints = isFinal ? this.#pool.finalAt(number) : this.#pool.ranked();
      let isUnproven = false;
      let isConclusive = true;
      const proven = await this.#pool.tryInTurn(endpoints, async (endpoint) => {
        const header = await fetchHeader(endpoint, number);
        if (header?.hash !== hash) return null;
        try {
          return await this.gather(endpoint, header);
        } catch (thrown) {
          if (!(thrown instanceof EndpointError)) throw thrown;
          if (thrown.isAboutData) endpoint.recordBadData(thrown);
          isConclusive &&= !thrown.isUnanswered;
          isUnproven = true;
          return null;
        }
      });
      if (proven === null && isUnproven) this.#acceptUnproven(block, isConclusive);
      else if (proven === null && isFinal) {
        throw new EndpointError("unavailable", `no endpoint can prove the logs of block ${number}`);
      }
      // Receipts prove logs, not times: the header of this endpoint can have another one.
      return { ...block, logs: proven?.logs ?? block.logs };
    });
  }

  /** Returns once a block is accepted without a proof. Until then, throws so that it is tried again. */
  #acceptUnproven(block: BlockRef, isConclusive: boolean): void {
    if (this.#unproven.isAccepted(block, isConclusive)) return;
    throw new EndpointError("not_yet", `the logs of block ${block.number} are not proven`);
  }

  #read(header: Header, value: unknown): readonly RawLog[] {
    const { logs } = parseLogs(value);
    checkLogs(logs, { ...onlyBlock(header), filter: this.filter });
    return logs;
  }
}

function toBlock(header: Header, logs: readonly RawLog[]): Block {
  return {
    ...toTimedBlock(header),
    parentHash: header.parentHash,
    logs: logs.toSorted((one, other) => one.logIndex - other.logIndex),
  };
}

/** Returns the logs, and those of `more` at other indexes, in any order. */
function union(logs: readonly RawLog[], more: readonly RawLog[]): readonly RawLog[] {
  const existing = new Set(logs.map((log) => log.logIndex));
  return [...logs, ...more.filter((log) => !existing.has(log.logIndex))];
}

/** The error of an endpoint that left out logs of a block, or reported others. */
export function wrongLogsError(
  header: Header,
  reported: readonly RawLog[],
  confirmed: readonly RawLog[],
): EndpointError {
  const missing = union(reported, confirmed).length - reported.length;
  const what = missing > 0 ? `${missing} logs were left out` : "logs are not in its receipts";
  return new EndpointError("inconsistent", `of block ${header.number}, ${what}`);
}

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
type Proof = { readonly logs: readonly RawLog[] | null; readonly isConclusive: boolean };

/**
 * Reads the requested logs of a block from all its logs, which must account for every bit of its bloom. After an answer
 * that does not, or is `null`, contradictory or an error, the next way is tried.
 */
async function proveLogs(endpoint: Endpoint, header: Header, filter: LogFilter): Promise<Proof> {
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

/** How often and how long a block is tried: a node indexes a new block within seconds. */
const triesMin = 3;
const waitMs = 10_000;
/** The same when requests for a proof failed: outages and rate limits mostly end sooner. */
const outageMs = 60_000;
/** How long after such a block the next ones are tried `triesMin` times only. */
const keptMs = 300_000;
/** Blocks remembered of each kind. More than a few are not tried at the same time. */
const blocksMax = 256;

/**
 * Blocks whose logs no way of reading them can prove. Each is tried again for a while, since a node can be indexing it.
 * Then it is accepted as `eth_getLogs` returned it: faults of other contracts' logs must not stop indexing for good.
 */
class UnprovenBlocks {
  readonly #context: ChainContext;
  readonly #waiting = new Map<string, { readonly sinceMs: number; tries: number }>();
  readonly #accepted = new Set<number>();
  #acceptedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ChainContext) {
    this.#context = context;
  }

  /** The numbers of the blocks accepted last, for the audit. */
  get numbers(): readonly number[] {
    return [...this.#accepted];
  }

  /**
   * Records that a block could not be proven, and returns whether to accept it now. `isConclusive`: every way was
   * answered, so that waiting longer will hardly help.
   */
  isAccepted({ number, hash }: BlockRef, isConclusive: boolean): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    const waiting = this.#waiting.get(hash) ?? { sinceMs: nowMs, tries: 0 };
    waiting.tries += 1;
    this.#waiting.set(hash, waiting);
    const waitedMs = nowMs - waiting.sinceMs;
    if (waiting.tries < triesMin || waitedMs < this.#waitMs(isConclusive)) {
      dropOldest(this.#waiting);
      return false;
    }
    this.#waiting.delete(hash);
    this.#acceptedAtMs = nowMs;
    if (this.#accepted.has(number)) return true;
    this.#accepted.add(number);
    dropOldest(this.#accepted);
    this.#context.log.warn(
      { block: number, hash, seconds: Math.round(waitedMs / 1_000) },
      "no endpoint can prove the logs of a block; stored as eth_getLogs returned them, and audited soon",
    );
    return true;
  }

  /** Where one block could not be proven, the next ones cannot be either: waiting for each would fall behind. */
  #waitMs(isConclusive: boolean): number {
    if (!isConclusive) return outageMs;
    const sinceMs = this.#context.clock.monotonicMs() - this.#acceptedAtMs;
    return sinceMs < keptMs ? 0 : waitMs;
  }
}

function dropOldest(collection: Map<string, unknown> | Set<number>): void {
  if (collection.size <= blocksMax) return;
  for (const oldest of collection.keys()) {
    (collection as { delete(key: unknown): boolean }).delete(oldest);
    return;
  }
}
