import type { Hash } from "../../base/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import { EndpointError } from "../chain-errors.ts";
import { formatLogsParam } from "../parse/log-filter.ts";
import type { Header } from "../parse/parse-header.ts";
import { type Block, type BlockInterval, type BlockRange, timedBlockOf } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { RpcReply } from "../rpc/json-rpc.ts";
import { classifyProviderError, type RpcErrorReply, resultOf } from "../rpc/provider-messages.ts";
import { headerCall, readHeader } from "../verify/fetch-headers.ts";
import { assembleBlocks } from "./assemble-blocks.ts";
import { type RangeReaderParts, type ReadBlocks, readRange } from "./range-reader.ts";

/** A range of finalized blocks with all its wanted logs. */
export type RangePart<Blocks = ReadBlocks> = BlockInterval<Blocks> & {
  /** Of the first block: links the part to the one before. */
  readonly parentHash: Hash;
  readonly host: string;
};

/**
 * Turns final blocks into what is passed on. `release` frees the answer that they were read from, which takes several
 * times the memory of their facts.
 */
export type Prepare<Final> = (range: BlockInterval, release: () => void) => Final | Promise<Final>;

type RangeFetcherParts<Final> = RangeReaderParts & {
  readonly clock: Clock;
  readonly prepare: Prepare<Final>;
};

/** Fetches final ranges, complete and checked (R4), as large as each endpoint allows (R5). */
export class RangeFetcher<Final> {
  readonly #parts: RangeFetcherParts<Final>;
  #bytesPerBlock = 0;
  /** The endpoint that gave the last range: the best one may not keep blocks so old, and then its size never grows. */
  #giving: Endpoint | null = null;

  constructor(parts: RangeFetcherParts<Final>) {
    this.#parts = parts;
  }

  /** How many blocks the endpoint that gave the last range, or else the best, would be asked for now. */
  get blocksAtOnce(): number {
    const [best = this.#parts.pool.endpoints[0]] = this.#parts.pool.ranked();
    const endpoint = this.#giving?.isUsable ? this.#giving : best;
    return endpoint?.sizer.blocks(this.#parts.clock.monotonicMs()) ?? 1;
  }

  /** What so many blocks would weigh, judging by those before. */
  estimateBytes(blocks: number): number {
    return blocks * this.#bytesPerBlock;
  }

  /** The range in order, each part as `prepare` makes it. Tries until it has all of it, or is closed. */
  async fetch(range: BlockRange): Promise<readonly RangePart<Final>[]> {
    const { pool, prepare } = this.#parts;
    const parts: RangePart<Final>[] = [];
    for (let from = range.from; from <= range.to; ) {
      const rest = { from, to: range.to };
      const { blocks: read, ...part } = await pool.persist(() => this.#fetchSomewhere(rest));
      const blocks = await prepare({ ...part, blocks: read.blocks }, read.release);
      parts.push({ ...part, blocks });
      from = part.toBlock + 1;
    }
    return parts;
  }

  /** The range by the word of this endpoint, in order. Throws an `EndpointError` when it cannot. */
  async fetchFrom(
    endpoint: Endpoint,
    range: BlockRange,
  ): Promise<readonly RangePart<readonly Block[]>[]> {
    const parts: RangePart<readonly Block[]>[] = [];
    for (let { from } = range; from <= range.to; from = (parts.at(-1)?.toBlock ?? range.to) + 1) {
      const part = await this.#fetchPart(endpoint, { from, to: range.to });
      parts.push({ ...part, blocks: part.blocks.blocks });
    }
    return parts;
  }

  async #fetchSomewhere(range: BlockRange): Promise<RangePart> {
    // What is final for others could still be a fork where it is not.
    const endpoints = this.#parts.pool.finalAt(range.from);
    const part = await this.#parts.pool.round(endpoints, async (one) => {
      const given = await this.#fetchPart(one, range);
      this.#giving = one;
      return given;
    });
    if (part === null) throw new EndpointError("unavailable", "no endpoint can be asked now");
    return part;
  }

  /** The beginning of the range, as much as the endpoint gives in one answer. */
  async #fetchPart(endpoint: Endpoint, range: BlockRange): Promise<RangePart> {
    for (;;) {
      const { from } = range;
      const blocks = endpoint.sizer.blocksFrom(from, this.#parts.clock.monotonicMs());
      const finalTo = endpoint.view?.final?.number ?? -1;
      const to = Math.max(from, Math.min(range.to, finalTo, from + blocks - 1));
      try {
        const part = await this.#ask(endpoint, { from, to });
        if (part !== null) return part;
      } catch (thrown) {
        noteFailure(thrown, endpoint, { from, to });
        throw thrown;
      }
    }
  }

  /** `null` when the endpoint wants to be asked for less. */
  async #ask(endpoint: Endpoint, range: BlockRange): Promise<RangePart | null> {
    const { from, to } = range;
    const logsCall = {
      method: "eth_getLogs",
      params: [formatLogsParam(range, this.#parts.filter)],
    };
    const { proof } = this.#parts.pool;
    const proofCalls = proof === null ? [] : [headerCall(proof.number)];
    const calls = [headerCall(from), logsCall, headerCall(to), ...proofCalls];
    const { replies, bytes } = await endpoint.request(calls);
    const [, logsReply] = replies;
    if (proof !== null && readHeader(replies[3], proof.number).hash !== proof.hash) {
      throw new EndpointError("inconsistent", `final block ${proof.number} is of another fork`);
    }
    const isRefused = logsReply?.kind === "error" && from < to;
    if (isRefused && this.#shrink(endpoint, logsReply, range)) return null;
    const first = readHeader(replies[0], from);
    const last = readHeader(replies[2], to);
    const blocks =
      from === to
        ? await this.#readBlock(endpoint, last, logsReply)
        : await readRange(this.#parts, endpoint, {
            ...range,
            first,
            last,
            logs: resultOf(logsReply),
          });
    endpoint.sizer.noteAnswer(range, bytes);
    this.#bytesPerBlock += (bytes / (to - from + 1) - this.#bytesPerBlock) * 0.3;
    return {
      fromBlock: from,
      toBlock: to,
      parentHash: first.parentHash,
      last: timedBlockOf(last),
      blocks,
      host: endpoint.host,
    };
  }

  async #readBlock(
    endpoint: Endpoint,
    header: Header,
    reply: RpcReply | undefined,
  ): Promise<ReadBlocks> {
    const logs = await this.#parts.blockLogs.complete(endpoint, header, reply);
    const headers = new Map([[header.number, header]]);
    return { blocks: assembleBlocks(logs, headers, () => header.timestamp), release: () => {} };
  }

  /** Whether the refusal is, or may be, about size; fewer blocks are asked for then. */
  #shrink(endpoint: Endpoint, error: RpcErrorReply, range: BlockRange): boolean {
    const asked = range.to - range.from + 1;
    const verdict = classifyProviderError(error);
    if (verdict.kind === "unknown" || verdict.kind === "too_slow") {
      endpoint.sizer.shrink(range);
      return true;
    }
    if (verdict.kind !== "too_large") return false;
    const { capBlocks, suggested } = verdict;
    const blocks = suggested?.from === range.from ? suggested.to - suggested.from + 1 : null;
    // Of as many blocks as are allowed at all, it says nothing about what is in them.
    if (blocks !== null && blocks !== capBlocks) endpoint.sizer.noteSuggestion(blocks, asked);
    else if (capBlocks !== null) {
      endpoint.sizer.noteCap(capBlocks, { asked, nowMs: this.#parts.clock.monotonicMs() });
    } else endpoint.sizer.halve(asked);
    return true;
  }
}

/** Learns from a failure what to ask for next, down to single blocks, whose receipts decide. */
function noteFailure(thrown: unknown, { sizer }: Endpoint, range: BlockRange): void {
  if (!(thrown instanceof EndpointError)) return;
  switch (thrown.kind) {
    case "oversized":
      sizer.halve(range.to - range.from + 1);
      return;
    case "malformed":
    case "inconsistent":
    case "refused":
      sizer.shrink(range);
      return;
    case "timeout":
    case "unavailable":
    case "rejected":
      sizer.noteFailure(range);
      return;
    case "rate_limited":
    case "not_yet":
      return;
  }
}
