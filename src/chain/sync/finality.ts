import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import { nearMedian } from "../believed-heads.ts";
import { EndpointError, nullIfFailed } from "../chain-errors.ts";
import type { ChainParts } from "../chain-parts.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { fetchKnownHeaders } from "../verify/fetch-headers.ts";
import { VoteMemory } from "../vote-memory.ts";

/** The answers of endpoints about one block. */
type Ballot = {
  readonly number: number;
  /** Endpoints by their hash of the block. */
  readonly votes: ReadonlyMap<Hash, readonly Endpoint[]>;
  /** Endpoints that have another block in place of our last final block. */
  readonly denying: ReadonlySet<Endpoint>;
  /** How many endpoints are reachable and not stalled, voters or not. */
  readonly heard: number;
};

/** The answer of one endpoint: its hash, `null` without the block, and whether it denies our last final block. */
type Vote = { readonly hash: Hash | null; readonly isDenying: boolean };

/**
 * Decides which block is final (R2): the smallest answer of the endpoints that follow the chain. A majority must have
 * the same hash there, and our last final block. Never falls below the final blocks that the consumer has.
 */
export class Finality {
  readonly #parts: ChainParts;
  readonly #memory: VoteMemory;
  #isDisputed = false;
  #isMajorityAbsent = false;

  constructor(parts: ChainParts) {
    this.#parts = parts;
    this.#memory = new VoteMemory(parts.pool.context.clock, chainLimits.finalityVoteKeptMs);
  }

  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  /** Whether fewer than half of all endpoints agree, because others became unreachable a short time ago. */
  get isMajorityAbsent(): boolean {
    return this.#isMajorityAbsent;
  }

  async follow(): Promise<never> {
    for (;;) {
      const { version } = this.#parts.watch.wake;
      if (await this.update()) this.#parts.watch.wake.notify();
      else
        await this.#parts.watch.wake.wait(
          version,
          chainLimits.slowPollMsMax,
          this.#parts.pool.context,
        );
    }
  }

  /** Asks the endpoints which block is final. Returns `true` when another block became final. */
  async update(): Promise<boolean> {
    const members = this.#members();
    const voters = nearMedian(members);
    const finals = voters.flatMap(({ view }) => view?.final?.number ?? []);
    // Endpoints without a final block confirm or deny claims, but make none.
    if (2 * finals.length <= members.length) return false;
    const number = Math.min(...finals);
    const { pool, unfinalized } = this.#parts;
    const agreed = () => pool.agreed?.number ?? -1;
    if (number < agreed()) await this.#confirmAgreement(members);
    if (number <= Math.max(agreed(), unfinalized.base?.number ?? -1)) {
      if (this.#memory.absent().length === 0) this.#isDisputed = false;
      return false;
    }
    const ballot = await this.#collect(number, { voters, members });
    return ballot !== null && this.#decide(ballot);
  }

  /** The endpoints that are reachable and not stalled. Those without a final block can still confirm one. */
  #members(): Endpoint[] {
    const least = (this.#parts.watch.head?.number ?? 0) - chainLimits.endpointLagBlocksMax;
    return this.#parts.pool.endpoints.filter((endpoint) => {
      const { isReachable, view } = endpoint;
      if (!isReachable || view === null) return false;
      return view.head.number >= least || !this.#parts.watch.isStalled(endpoint);
    });
  }

  /** Drops an agreement that its own endpoints no longer confirm, unless blocks were handed out on it. */
  async #confirmAgreement(members: readonly Endpoint[]): Promise<void> {
    const { agreed, agreeing } = this.#parts.pool;
    if (agreed === null) return;
    const { number, hash } = agreed;
    if (number <= (this.#parts.unfinalized.base?.number ?? -1)) return;
    const asked = agreeing.filter((endpoint) => endpoint.isReachable);
    const answers = await Promise.all(asked.map((endpoint) => this.#ask(endpoint, number)));
    // An endpoint that did not answer, or lacks a block below its head, can still confirm it later.
    const isSilent = ({ view }: Endpoint, index: number): boolean => {
      const isLacking = answers[index]?.hash === null && (view?.head.number ?? -1) >= number;
      return isLacking || answers[index] === null;
    };
    if (asked.some(isSilent)) return;
    const confirming = answers.filter((answer) => answer?.hash === hash).length;
    if (2 * confirming > Math.max(members.length, agreeing.length)) return;
    this.#parts.pool.agreed = null;
    this.#parts.pool.context.log.warn(
      { number, hash, hosts: agreeing.map(({ host }) => host) },
      "endpoints no longer confirm a block that they agreed was final; the agreement is dropped",
    );
  }

  /** Asks all voters. Returns `null` when one did not answer; the next update asks again. */
  async #collect(
    number: number,
    { voters, members }: { voters: readonly Endpoint[]; members: readonly Endpoint[] },
  ): Promise<Ballot | null> {
    const { base } = this.#parts.unfinalized;
    const anchor = base !== null && base.number < number ? base : null;
    const answers = await Promise.all(voters.map((voter) => this.#ask(voter, number, anchor)));
    const votes = new Map<Hash, Endpoint[]>();
    const denying = new Set<Endpoint>();
    for (const [index, voter] of voters.entries()) {
      const vote = answers[index] ?? null;
      if (vote === null) return null;
      if (vote.isDenying) denying.add(voter);
      if (vote.hash !== null) votes.set(vote.hash, [...(votes.get(vote.hash) ?? []), voter]);
    }
    return { number, votes, denying, heard: members.length };
  }

  async #decide({ number, votes, denying, heard }: Ballot): Promise<boolean> {
    const [winner, second] = [...votes].toSorted(([, one], [, other]) => other.length - one.length);
    if (winner === undefined) return false;
    const [hash, endpoints] = winner;
    const absent = await this.#countAbsent(endpoints, number);
    const isMajority = 2 * (endpoints.length + absent.agreeing) > heard + absent.total;
    const isContested = second !== undefined || denying.size > 0;
    if (isContested) this.#noteVotes(number, votes);
    if (!isMajority || endpoints.some((endpoint) => denying.has(endpoint))) {
      this.#isDisputed = isContested || absent.agreeing < absent.total;
      return false;
    }
    this.#isDisputed = false;
    this.#isMajorityAbsent = 2 * endpoints.length < this.#presentCount();
    if (this.#isMajorityAbsent) return false;
    this.#parts.pool.agreed = { number, hash };
    this.#parts.pool.agreeing = endpoints;
    const error = new EndpointError("inconsistent", `final block ${number} is of another fork`);
    for (const voter of [...votes.values()].flat()) {
      voter.isOutvoted = !endpoints.includes(voter);
      if (voter.isOutvoted) voter.noteBadData(error);
      else if (!isContested) this.#memory.forget(voter);
    }
    return true;
  }

  /** Counts the endpoints that a majority is measured against, including those that became unreachable recently. */
  #presentCount(): number {
    return this.#parts.pool.endpoints.filter(({ isPresent }) => isPresent).length;
  }

  #noteVotes(number: number, votes: Ballot["votes"]): void {
    for (const [hash, voters] of votes) {
      for (const voter of voters) this.#memory.note(voter, { number, hash });
    }
  }

  /**
   * Counts the votes of endpoints that disagreed before they became unreachable, and how many of them are for the
   * branch of `winners`. Expired votes still count if there is one winner, so that no endpoint decides alone.
   */
  async #countAbsent(winners: readonly Endpoint[], number: number) {
    const isAlone = winners.length === 1;
    const absent = this.#memory
      .absent()
      .filter(({ block, isExpired }) => block.number <= number && (!isExpired || isAlone));
    const [winner] = winners;
    let agreeing = 0;
    for (const { block } of absent) {
      const vote = winner === undefined ? null : await this.#ask(winner, block.number);
      if (vote?.hash === block.hash) agreeing += 1;
    }
    return { total: absent.length, agreeing };
  }

  /**
   * Asks in one request for the hash at `number`, and whether the endpoint has another block than `anchor`.
   * `null` without an answer.
   */
  async #ask(voter: Endpoint, number: number, anchor?: BlockRef | null): Promise<Vote | null> {
    const final = voter.view?.final;
    const isOnOurChain = final?.hash && this.#parts.unfinalized.hashAt(final.number) === final.hash;
    const own = this.#parts.unfinalized.hashAt(number);
    // Its final block is one of ours, so its earlier blocks are ours too: no request is needed.
    if (isOnOurChain && own !== null && number <= final.number) {
      return { hash: own, isDenying: false };
    }
    const numbers = anchor ? [number, anchor.number] : [number];
    const headers = await nullIfFailed(fetchKnownHeaders(voter, numbers, voter.smallTimeout));
    if (headers === null) return null;
    const [header, anchored] = headers;
    return { hash: header?.hash ?? null, isDenying: anchor?.hash !== anchored?.hash };
  }
}
