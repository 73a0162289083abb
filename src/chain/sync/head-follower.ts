import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { Block, ChainBatch } from "../raw-log.ts";
import type { RequestTimeout } from "../rpc/adaptive-timeout.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { describeBrokenLink } from "../verify/check-logs.ts";
import { fetchHash, fetchHeaders, isTimeOutvoted } from "../verify/fetch-headers.ts";
import type { ChainParts } from "./chain-parts.ts";
import { fetchBlocks } from "./fetch-blocks.ts";

/** A change above finality. */
export type HeadChange = Exclude<ChainBatch, { kind: "range" }>;

/**
 * Follows the chain above finality, block by block, linked by parent hash (R1). Any endpoint can extend the tip.
 * Another branch replaces ours when more endpoints are on it. The source of the tip decides a tie.
 */
export class HeadFollower {
  readonly #parts: ChainParts;
  #source: Endpoint | null = null;
  /** The endpoint whose branch replaced ours, until its first blocks are taken in. */
  #chosen: Endpoint | null = null;
  /** Endpoints whose branch was rejected, and the monotonic time until which they are not asked. */
  readonly #dissentUntilMs = new Map<Endpoint, number>();
  /** The timeout at the head, doubled after a failure. Not learned from polls, which are answered faster than logs. */
  #timeout: RequestTimeout = { timeoutMs: chainLimits.headTimeoutMs };
  /** Blocks in one request. Halved after a failure: where many answers are wrong, small requests succeed more often. */
  #blocksAtOnce: number = chainLimits.headBatchBlocksMax;
  reorgs = 0;
  /** The most blocks that one reorg reverted. */
  deepestReorg = 0;

  constructor(parts: ChainParts) {
    this.#parts = parts;
  }

  get isFull(): boolean {
    return this.#parts.unfinalized.length >= chainLimits.headBufferBlocksMax;
  }

  /** Takes one step towards the head. Returns no changes when there is nothing to do now. */
  async advance(): Promise<readonly HeadChange[]> {
    if (this.isFull) return [];
    try {
      const changes = await this.#parts.pool.tryInTurn(this.#ahead(), (endpoint) =>
        this.#follow(endpoint),
      );
      if (changes === null) return [];
      this.#timeout = { timeoutMs: chainLimits.headTimeoutMs };
      this.#blocksAtOnce = Math.min(this.#blocksAtOnce * 2, chainLimits.headBatchBlocksMax);
      return changes;
    } catch (thrown) {
      const { requestTimeoutMs } = chainLimits;
      this.#timeout = { timeoutMs: Math.min(2 * this.#timeout.timeoutMs, requestTimeoutMs) };
      this.#blocksAtOnce = Math.max(1, this.#blocksAtOnce >> 1);
      throw thrown;
    }
  }

  /** Finalizes blocks up to the agreement, or reverts our branch when the agreement is on another one. */
  async settle(): Promise<HeadChange | null> {
    const { unfinalized, pool } = this.#parts;
    const { block } = pool.agreement;
    if (block === null || unfinalized.length === 0) return null;
    if (block.number < unfinalized.firstNumber) return null;
    const number = Math.min(block.number, unfinalized.nextNumber - 1);
    const hash = number === block.number ? block.hash : await this.#fetchAgreed(number);
    if (hash === null) return null;
    if (hash === unfinalized.hashAt(number)) {
      unfinalized.finalizeTo(number);
      return { kind: "finalized", block: number };
    }
    const usable = pool.agreement.endpoints.filter((endpoint) => endpoint.isUsable);
    return pool.tryInTurn(usable, async (endpoint) =>
      this.#revert(endpoint, await this.#findAncestor(endpoint, number - 1)),
    );
  }

  /** Fetches the hash of a block below the agreement, on which as many endpoints must agree; `null` without them. */
  async #fetchAgreed(number: number): Promise<Hash | null> {
    const { endpoints, votesNeeded } = this.#parts.pool.agreement;
    const hashes = await Promise.all(endpoints.map((endpoint) => fetchHash(endpoint, number)));
    const agreed = hashes.find((hash) => {
      return hash !== null && hashes.filter((other) => other === hash).length >= votesNeeded;
    });
    return agreed ?? null;
  }

  /** The endpoints with a block that we lack, highest first, after the one whose branch was chosen. */
  #ahead(): Endpoint[] {
    const nowMs = this.#parts.pool.context.clock.monotonicMs();
    return this.#parts.pool
      .ranked()
      .filter((endpoint) => {
        const { newest } = endpoint.state;
        if (newest === null || newest.number < this.#parts.unfinalized.firstNumber) return false;
        if ((this.#dissentUntilMs.get(endpoint) ?? 0) > nowMs) return false;
        return this.#parts.unfinalized.hashAt(newest.number) !== newest.hash;
      })
      .toSorted((one, other) => this.#getRank(other) - this.#getRank(one));
  }

  #getRank(endpoint: Endpoint): number {
    return endpoint === this.#chosen ? Number.POSITIVE_INFINITY : getHeight(endpoint);
  }

  async #follow(endpoint: Endpoint): Promise<readonly HeadChange[] | null> {
    const { newest } = endpoint.state;
    const { unfinalized, blockLogs } = this.#parts;
    const from = unfinalized.nextNumber;
    if (newest !== null && newest.number >= from) {
      const room = chainLimits.headBufferBlocksMax - unfinalized.length;
      const count = Math.min(this.#blocksAtOnce, room, newest.number - from + 1);
      const request = { from, count, newest, timeout: this.#timeout, blockLogs };
      const blocks = await fetchBlocks(endpoint, request);
      const reverted = await this.#checkTime(endpoint, blocks);
      if (reverted !== null) return [reverted];
      if (this.#extend(endpoint, blocks)) {
        const { named } = blockLogs.filter;
        if (!named.replaceFrom(from, named.namedIn(blocks))) {
          return blocks.map((block) => ({ kind: "block", block }));
        }
        // Reads them again, with the logs of a contract that they are the first to name.
        unfinalized.revertTo(from - 1);
        return [];
      }
    }
    const top = Math.min(from - 1, newest?.number ?? -1);
    const ancestor = await this.#findAncestor(endpoint, top);
    if (ancestor === top) {
      // The endpoint has moved to our branch since it reported its newest block.
      const hash = unfinalized.hashAt(top);
      if (hash !== null) endpoint.replaceNewest(newest, { number: top, hash });
      return null;
    }
    if (await this.#isBetter(endpoint, ancestor + 1)) return [this.#revert(endpoint, ancestor)];
    const untilMs = this.#parts.pool.context.clock.monotonicMs() + this.#parts.watch.stallMs;
    this.#dissentUntilMs.set(endpoint, untilMs);
    return null;
  }

  /**
   * Throws when the blocks are built on our tip and older than it. Reverts the tip if most endpoints have another time
   * for it.
   */
  async #checkTime(endpoint: Endpoint, [first]: readonly Block[]): Promise<HeadChange | null> {
    const { unfinalized, pool } = this.#parts;
    const { tip } = unfinalized;
    if (first === undefined || tip === null || tip.hash !== first.parentHash) return null;
    const problem = describeBrokenLink(tip, first);
    if (problem === null) return null;
    if (unfinalized.length > 0 && (await isTimeOutvoted(pool, tip))) {
      return this.#revert(endpoint, tip.number - 1);
    }
    throw new EndpointError("inconsistent", problem);
  }

  /** Appends blocks to our tip; `false` when they are not built on it. */
  #extend(endpoint: Endpoint, blocks: readonly Block[]): boolean {
    const { tip } = this.#parts.unfinalized;
    if (tip !== null && tip.hash !== blocks[0]?.parentHash) return false;
    for (const block of blocks) this.#parts.unfinalized.push(block);
    this.#source = endpoint;
    this.#chosen = null;
    return true;
  }

  #revert(endpoint: Endpoint, safeBlock: number): HeadChange {
    const { unfinalized, pool } = this.#parts;
    const depth = unfinalized.nextNumber - 1 - safeBlock;
    unfinalized.revertTo(safeBlock);
    this.#source = endpoint;
    this.#chosen = endpoint;
    this.reorgs += 1;
    this.deepestReorg = Math.max(this.deepestReorg, depth);
    pool.context.log.info({ safeBlock, depth }, "chain reorganized");
    return { kind: "revert", safeBlock };
  }

  /** Finds the highest block, from `top` down, that the endpoint and we have in common. */
  async #findAncestor(endpoint: Endpoint, top: number): Promise<number> {
    const { unfinalized } = this.#parts;
    const { base } = unfinalized;
    const bottom = base?.number ?? unfinalized.firstNumber;
    const { headersPerBatchMax } = chainLimits;
    let next = top;
    for (let size = 4; next >= bottom; size = Math.min(size * 2, headersPerBatchMax)) {
      const count = Math.min(size, next - bottom + 1);
      const highest = next;
      const numbers = Array.from({ length: count }, (_, index) => highest - index);
      const headers = await fetchHeaders(endpoint, numbers, this.#timeout);
      const common = headers.find((header) => unfinalized.hashAt(header.number) === header.hash);
      if (common !== undefined) return common.number;
      next -= count;
    }
    if (base === null) return unfinalized.firstNumber - 1;
    await this.#parts.finalBlockCheck.confirm(base);
    throw new EndpointError("inconsistent", `final block ${base.number} is of another fork`);
  }

  /**
   * Whether most endpoints that answer are on the branch of `endpoint`, which differs from ours from `number` on. The
   * source of our tip decides a tie. A wrong choice above finality is corrected once a majority answers.
   */
  async #isBetter(endpoint: Endpoint, number: number): Promise<boolean> {
    const others = this.#parts.pool.endpoints.filter(
      (other) =>
        other !== endpoint &&
        other.isReachable &&
        getHeight(other) >= number &&
        !this.#parts.watch.isStalled(other),
    );
    const [theirs, ...hashes] = await Promise.all(
      [endpoint, ...others].map((voter) => fetchHash(voter, number, this.#timeout)),
    );
    const ours = this.#parts.unfinalized.hashAt(number);
    if (theirs === undefined || theirs === null || theirs === ours) return false;
    const votesForOurs = hashes.filter((hash) => hash === ours).length;
    const votesForTheirs = hashes.filter((hash) => hash === theirs).length + 1;
    if (votesForTheirs !== votesForOurs) return votesForTheirs > votesForOurs;
    if (this.#source === endpoint || this.#source === null) return true;
    return !others.includes(this.#source);
  }
}

function getHeight(endpoint: Endpoint): number {
  return endpoint.state.newest?.number ?? -1;
}
