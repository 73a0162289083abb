import { chainLimits } from "../../base/config/limits.ts";
import { EndpointError } from "../chain-errors.ts";
import { formatLogsParam, type LogFilter } from "../parse/log-filter.ts";
import type { Header } from "../parse/parse-header.ts";
import { type ParsedLogs, parseLogs } from "../parse/parse-log.ts";
import type { Block, BlockRange, RawLog } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { resultOf } from "../rpc/provider-messages.ts";
import { type BlockLogs, missingError } from "../verify/block-logs.ts";
import { checkLinks, checkLogs } from "../verify/check-logs.ts";
import { fetchHeaders } from "../verify/fetch-headers.ts";
import { areTimesConsistent, assembleBlocks } from "./assemble-blocks.ts";

/** What an endpoint answered about a range: the headers at both ends, and `eth_getLogs`. */
export type RangeAnswer = BlockRange & {
  readonly first: Header;
  readonly last: Header;
  readonly logs: unknown;
};

/** Blocks, and how to end the reading of their logs (`ParsedLogs`). */
export type ReadBlocks = { readonly blocks: readonly Block[]; readonly release: () => void };

/** What a reader of ranges works with. */
export type RangeReaderParts = {
  readonly pool: EndpointPool;
  readonly filter: LogFilter;
  readonly blockLogs: BlockLogs;
  readonly random: () => number;
};

/** Makes blocks of an answer about a range. Throws an `EndpointError` when a check (R4) fails. */
export class RangeReader {
  readonly #parts: RangeReaderParts;

  constructor(parts: RangeReaderParts) {
    this.#parts = parts;
  }

  async read(endpoint: Endpoint, answer: RangeAnswer): Promise<ReadBlocks> {
    const { from, to, first, last } = answer;
    const parsed = parseLogs(answer.logs, this.#parts.filter);
    const { logs } = parsed;
    const headers = new Map([first, last].map((header) => [header.number, header]));
    const expected = { from, to, headers, filter: this.#parts.filter };
    checkLogs(logs, expected);
    const times = endpoint.areLogTimesBelieved ? timesOf(parsed, headers) : null;
    const wanted = new Set([
      ...youngBlocks(endpoint, answer),
      ...(times === null ? logs : this.#sampleOf(logs)).map((log) => log.blockNumber),
    ]);
    const missing = [...wanted].filter((number) => !headers.has(number));
    if (missing.length > 0) {
      for (const header of await fetchHeaders(endpoint, missing))
        headers.set(header.number, header);
      checkLogs(logs, expected);
      if (times !== null) checkTimes(endpoint, { logs, times, headers });
    }
    checkLinks(headers);
    await this.#checkBlooms(endpoint, headers, logs);
    if (logs.length === 0) await this.#askAnother(endpoint, answer);
    const blocks = assembleBlocks(logs, headers, (index, number) => {
      return times?.[index] ?? headers.get(number)?.timestamp ?? 0;
    });
    const release = (): void => {
      blocks.length = 0;
      parsed.release();
    };
    return { blocks, release };
  }

  /** A log whose time is compared with the header of its block, in some of the ranges. */
  #sampleOf(logs: readonly RawLog[]): readonly RawLog[] {
    const isSampled = this.#parts.random() < chainLimits.sampledRangesShare;
    const sampled = isSampled ? logs[Math.floor(this.#parts.random() * logs.length)] : undefined;
    return sampled === undefined ? [] : [sampled];
  }

  /** Rejects the answer when the bloom of a header contains logs that are not in it. */
  async #checkBlooms(
    endpoint: Endpoint,
    headers: ReadonlyMap<number, Header>,
    logs: readonly RawLog[],
  ): Promise<void> {
    const ofHeaders = logs.filter((log) => headers.has(log.blockNumber));
    const logsOf = Map.groupBy(ofHeaders, (log) => log.blockNumber);
    const all = [...headers.values()];
    const { proofsAtOnceMax } = chainLimits;
    for (let start = 0; start < all.length; start += proofsAtOnceMax) {
      const some = all.slice(start, start + proofsAtOnceMax).map(async (header) => {
        const reported = logsOf.get(header.number) ?? [];
        const missing = await this.#parts.blockLogs.findMissing(endpoint, header, reported);
        if (missing.length > 0) throw missingError(header, missing);
      });
      await Promise.all(some);
    }
  }

  /** An empty range is the easiest lie, and cheap to ask for twice: another endpoint may know better. */
  async #askAnother(endpoint: Endpoint, range: BlockRange): Promise<void> {
    const others = this.#parts.pool.finalAt(range.to).filter((other) => other !== endpoint);
    const call = { method: "eth_getLogs", params: [formatLogsParam(range, this.#parts.filter)] };
    const logs = await this.#parts.pool.firstOpinion(others.slice(0, 1), async (other) => {
      const { replies } = await other.request([call]);
      return parseLogs(resultOf(replies[0]), this.#parts.filter).logs;
    });
    if (logs !== null && logs.length > 0) {
      throw new EndpointError("inconsistent", "an empty range is not empty elsewhere");
    }
  }
}

/** Throws when a header has another time than the logs of its block; the endpoint's times are not used again. */
function checkTimes(
  endpoint: Endpoint,
  read: {
    readonly logs: readonly RawLog[];
    readonly times: readonly number[];
    readonly headers: ReadonlyMap<number, Header>;
  },
): void {
  if (areTimesConsistent(read.logs, read.times, read.headers)) return;
  endpoint.areLogTimesBelieved = false;
  throw new EndpointError("inconsistent", "the times of logs are not those of their blocks");
}

/** The times that came with the logs, if they can be believed. */
function timesOf(
  { logs, timestamps }: ParsedLogs,
  headers: ReadonlyMap<number, Header>,
): readonly number[] | null {
  return timestamps !== null && areTimesConsistent(logs, timestamps, headers) ? timestamps : null;
}

/** Blocks near the head, whose logs a node may not have indexed yet: the bloom of each is checked. */
function youngBlocks(endpoint: Endpoint, { from, to }: BlockRange): number[] {
  const head = endpoint.view?.head.number ?? 0;
  const first = Math.max(from, head - chainLimits.youngBlocks);
  return Array.from({ length: Math.max(0, to - first + 1) }, (_, index) => first + index);
}
