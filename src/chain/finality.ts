import type { Hash } from "../base/ids.ts";
import { chainLimits } from "../base/limits.ts";
import type { ChainContext } from "./chain-context.ts";
import { EndpointError } from "./chain-errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { fetchHeader } from "./fetch-headers.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { BlockRef } from "./log.ts";

/** What is final by agreement, and by whose. */
export type Agreement = { readonly block: BlockRef; readonly endpoints: readonly Endpoint[] };

/** The hash we hold for a block above finality; `null` when we hold none. */
export type HashAt = (number: number) => Hash | null;

/**
 * Which block is final (R2): the smallest answer of the endpoints that can be reached and follow
 * the chain, if they agree on its hash, or else most of them do. It never falls.
 */
export class Finality {
  readonly #pool: EndpointPool;
  readonly #watch: HeadWatch;
  readonly #context: ChainContext;
  readonly #hashAt: HashAt;
  #agreement: Agreement | null = null;
  #isDisputed = false;

  constructor(options: {
    pool: EndpointPool;
    watch: HeadWatch;
    context: ChainContext;
    hashAt: HashAt;
  }) {
    this.#pool = options.pool;
    this.#watch = options.watch;
    this.#context = options.context;
    this.#hashAt = options.hashAt;
  }

  get agreement(): Agreement | null {
    return this.#agreement;
  }

  /** Whether endpoints disagree without a majority. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  /** Follows what endpoints say until the source is closed. */
  async follow(): Promise<never> {
    for (;;) {
      const { version } = this.#watch.wake;
      if (await this.update()) this.#watch.wake.notify();
      else await this.#watch.wake.wait(version, chainLimits.slowPollMsMax, this.#context);
    }
  }

  /** `true` when another block became final. */
  async update(): Promise<boolean> {
    const voters = this.#voters();
    const number = Math.min(...voters.map((voter) => voter.view?.final?.number ?? 0));
    if (voters.length === 0 || number <= (this.#agreement?.block.number ?? -1)) {
      this.#isDisputed = false;
      return false;
    }
    const votes = await this.#collect(voters, number);
    if (votes === null || votes.size === 0) return false;
    const [winner, second] = [...votes].toSorted(([, one], [, other]) => other.length - one.length);
    if (winner === undefined) return false;
    this.#isDisputed = second !== undefined && second[1].length === winner[1].length;
    if (this.#isDisputed) return false;
    this.#agreement = { block: { number, hash: winner[0] }, endpoints: winner[1] };
    const error = new EndpointError("inconsistent", `final block ${number} is of another fork`);
    for (const loser of [...votes.values()].flat()) {
      if (!winner[1].includes(loser)) loser.noteBadData(error);
    }
    return true;
  }

  #voters(): Endpoint[] {
    const least = (this.#watch.head?.number ?? 0) - chainLimits.endpointLagBlocksMax;
    return this.#pool.endpoints.filter(
      ({ isReachable, view }) => isReachable && view?.final && view.head.number >= least,
    );
  }

  /** Endpoints by the hash they have at `number`; `null` when one did not answer: ask again then. */
  async #collect(
    voters: readonly Endpoint[],
    number: number,
  ): Promise<Map<Hash, Endpoint[]> | null> {
    const hashes = await Promise.all(voters.map((voter) => this.#ask(voter, number)));
    const votes = new Map<Hash, Endpoint[]>();
    for (const [index, voter] of voters.entries()) {
      const hash = hashes[index];
      if (hash === undefined) return null;
      if (hash !== null) votes.set(hash, [...(votes.get(hash) ?? []), voter]);
    }
    return votes;
  }

  /** `null` when the endpoint does not have the block; `undefined` when it did not answer. */
  async #ask(voter: Endpoint, number: number): Promise<Hash | null | undefined> {
    const final = voter.view?.final;
    const held = this.#hashAt(number);
    const isDoubted = held !== null && held !== final?.hash;
    // Blocks are told and linked by their hashes: before those are given up, the endpoint is asked again.
    if (final?.number === number && final.hash !== null && !isDoubted) return final.hash;
    const isOnOurChain = final?.hash && this.#hashAt(final.number) === final.hash;
    if (isOnOurChain && held !== null) return held;
    try {
      return (await fetchHeader(voter, number, voter.smallPatienceMs))?.hash ?? null;
    } catch (thrown) {
      if (thrown instanceof EndpointError) return undefined;
      throw thrown;
    }
  }
}
