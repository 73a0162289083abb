import { EndpointError } from "../chain-errors.ts";
import type { NamedContract } from "../parse/named-contracts.ts";
import type { Header } from "../parse/parse-header.ts";
import { type Block, type BlockInterval, type BlockRange, toTimedBlock } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { getResult, type RpcReply } from "../rpc/json-rpc.ts";
import type { ProviderVerdict } from "../rpc/provider-messages.ts";
import { headerCall, readHeaderReply } from "../verify/fetch-headers.ts";
import { logsCall } from "../verify/log-filter.ts";
import type { ReadParts } from "./chain-parts.ts";
import { readRange } from "./range-reader.ts";

/** A range of final blocks with all requested logs. */
export type RangePart<Blocks = readonly Block[]> = BlockInterval<Blocks> & {
  /** The header of its first block, which links it to the previous part. */
  readonly first: Header;
  readonly endpoint: Endpoint;
  /** The contracts that its logs name. */
  readonly named: readonly NamedContract[];
};

/** A part as it was read. `release` frees the answer, which takes several times the memory of its facts. */
type UnpreparedPart = RangePart & { readonly release: () => void };

/** Converts final blocks to the form that is passed on, and calls `release` (see `UnpreparedPart`). */
export type Prepare<Final> = (range: BlockInterval, release: () => void) => Final | Promise<Final>;

/** Fetches final ranges, complete and checked (R4), as large as each endpoint allows (R5). */
export class RangeFetcher<Final> {
  readonly #parts: ReadParts;
  readonly #prepare: Prepare<Final>;
  #bytesPerBlock = 0;
  /** The endpoint of the last range. The best endpoint may lack such old blocks; its range size would never grow. */
  #giving: Endpoint | null = null;

  constructor(parts: ReadParts, prepare: Prepare<Final>) {
    this.#parts = parts;
    this.#prepare = prepare;
  }

  /** How many blocks to ask for now: the size for the endpoint of the last range, or else for the best one. */
  get blocksAtOnce(): number {
    const [best = this.#parts.pool.endpoints[0]] = this.#parts.pool.ranked();
    const endpoint = this.#giving?.isUsable ? this.#giving : best;
    return endpoint?.sizer.blocks(this.#parts.pool.context.clock.monotonicMs()) ?? 1;
  }

  /** Estimates the size of an answer for so many blocks from the last answers. */
  estimateBytes(blocks: number): number {
    return blocks * this.#bytesPerBlock;
  }

  /** Fetches a range in order, each part converted by `prepare`. Retries until complete or the source is closed. */
  async fetch(range: BlockRange): Promise<readonly RangePart<Final>[]> {
    const { pool } = this.#parts;
    const parts: RangePart<Final>[] = [];
    for (let from = range.from; from <= range.to; ) {
      const rest = { from, to: range.to };
      const { release, ...part } = await pool.retry(() => this.#fetchSomewhere(rest));
      parts.push({ ...part, blocks: await this.#prepare(part, release) });
      from = part.last.number + 1;
    }
    return parts;
  }

  /** Fetches a range in order from one endpoint. Throws an `EndpointError` when that fails. */
  async fetchFrom(endpoint: Endpoint, range: BlockRange): Promise<readonly RangePart[]> {
    const parts: RangePart[] = [];
    for (let { from } = range; from <= range.to; ) {
      const part = await this.#fetchPart(endpoint, { from, to: range.to });
      parts.push(part);
      from = part.last.number + 1;
    }
    return parts;
  }

  async #fetchSomewhere(range: BlockRange): Promise<UnpreparedPart> {
    // An endpoint for which the block is not final may be on another fork.
    const endpoints = this.#parts.pool.finalAt(range.from);
    const part = await this.#parts.pool.tryInTurn(endpoints, async (one) => {
      const given = await this.#fetchPart(one, range);
      this.#giving = one;
      return given;
    });
    if (part === null) throw new EndpointError("unavailable", "no endpoint can be asked now");
    return part;
  }

  /** Fetches the beginning of a range: as many blocks as the endpoint gives in one answer. */
  async #fetchPart(endpoint: Endpoint, range: BlockRange): Promise<UnpreparedPart> {
    for (;;) {
      const { from } = range;
      const blocks = endpoint.sizer.blocksFrom(from, this.#parts.pool.context.clock.monotonicMs());
      const finalTo = endpoint.state.view?.final?.number ?? -1;
      const to = Math.max(from, Math.min(range.to, finalTo, from + blocks - 1));
      try {
        const part = await this.#ask(endpoint, { from, to });
        if (part !== null) return part;
      } catch (thrown) {
        recordFailure(thrown, endpoint, { from, to });
        throw thrown;
      }
    }
  }

  /** Asks for a range; `null` when the endpoint refused and fewer blocks are to be tried. */
  async #ask(endpoint: Endpoint, range: BlockRange): Promise<UnpreparedPart | null> {
    const { from, to } = range;
    const { blockLogs, pool } = this.#parts;
    const { agreedBlock: agreed } = pool;
    const agreedCalls = agreed === null ? [] : [headerCall(agreed.number)];
    const calls = [
      headerCall(from),
      logsCall(range, blockLogs.filter),
      headerCall(to),
      ...agreedCalls,
    ];
    const { replies, bytes } = await endpoint.request(calls);
    const [, logsReply] = replies;
    if (
      agreed !== null &&
      readHeaderReply(endpoint, replies[3], agreed.number).hash !== agreed.hash
    ) {
      throw new EndpointError("inconsistent", `final block ${agreed.number} is of another fork`);
    }
    const isRefused = logsReply?.kind === "error" && from < to;
    if (isRefused && this.#shrink(endpoint, logsReply.error.verdict, range)) return null;
    const last = readHeaderReply(endpoint, replies[2], to);
    // Two headers of one block can differ.
    const first = from === to ? last : readHeaderReply(endpoint, replies[0], from);
    const read =
      from === to
        ? { blocks: await this.#readBlock(endpoint, last, logsReply), release: () => {} }
        : await readRange(this.#parts, endpoint, {
            ...range,
            first,
            last,
            logs: getResult(logsReply),
          });
    endpoint.sizer.recordAnswer(range, bytes);
    this.#bytesPerBlock += (bytes / (to - from + 1) - this.#bytesPerBlock) * 0.3;
    return {
      fromBlock: from,
      first,
      last: toTimedBlock(last),
      endpoint,
      named: blockLogs.filter.named.namedIn(read.blocks),
      ...read,
    };
  }

  async #readBlock(endpoint: Endpoint, header: Header, reply: RpcReply | undefined) {
    const block = await this.#parts.blockLogs.complete(endpoint, header, reply);
    return block.logs.length === 0 ? [] : [block];
  }

  /** Returns whether a refusal is, or can be, about size. If so, the next request asks for fewer blocks. */
  #shrink(endpoint: Endpoint, verdict: ProviderVerdict, range: BlockRange): boolean {
    const requested = range.to - range.from + 1;
    if (verdict.kind === "unknown" || verdict.kind === "too_slow") {
      endpoint.sizer.shrink(range);
      return true;
    }
    if (verdict.kind !== "too_large") return false;
    const nowMs = this.#parts.pool.context.clock.monotonicMs();
    if (verdict.capBlocks === null) endpoint.sizer.halve(requested);
    else endpoint.sizer.recordCap(verdict.capBlocks, { requested, nowMs });
    return true;
  }
}

/** Reduces what is asked for next after a failure, down to single blocks, which receipts can prove. */
function recordFailure(thrown: unknown, { sizer }: Endpoint, range: BlockRange): void {
  if (!(thrown instanceof EndpointError) || thrown.kind === "not_yet") return;
  if (thrown.kind === "oversized") sizer.halve(range.to - range.from + 1);
  else if (thrown.isAboutData) sizer.shrink(range);
  else sizer.recordFailure(range); // when the rate is refused too: a smaller range needs fewer headers
}
