import { chainBackoff, chainLimits } from "../../base/config/limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "./endpoint.ts";

/** How often a random endpoint is ranked first, so that one that has become better is noticed. */
const explorationShare = 0.05;

/** What endpoints agreed on, as `Finality` found out. */
type Agreement = {
  /** The block that is final; `null` before the first agreement, and once it is dropped. */
  readonly block: BlockRef | null;
  /** Only the final blocks of these endpoints are believed, also once the agreement is dropped. */
  readonly endpoints: readonly Endpoint[];
  /** How many of them it needed. */
  readonly votesNeeded: number;
};

/** The endpoints of a source. Work is retried over them here. */
export class EndpointPool {
  readonly endpoints: readonly Endpoint[];
  readonly context: ChainContext;
  #agreement: Agreement = { block: null, endpoints: [], votesNeeded: 1 };

  constructor(endpoints: readonly Endpoint[], context: ChainContext) {
    this.endpoints = endpoints;
    this.context = context;
  }

  get agreement(): Agreement {
    return this.#agreement;
  }

  agree(agreement: Agreement): void {
    this.#agreement = agreement;
  }

  dropAgreement(): void {
    this.#agreement = { ...this.#agreement, block: null };
  }

  /** The endpoints that can be asked now, the best first. */
  ranked(): Endpoint[] {
    const ranked = this.endpoints
      .filter((endpoint) => endpoint.isUsable)
      .toSorted((one, other) => one.cost - other.cost);
    if (ranked.length > 1 && this.context.random() < explorationShare) {
      const index = Math.floor(this.context.random() * ranked.length);
      ranked.unshift(...ranked.splice(index, 1));
    }
    return ranked;
  }

  /**
   * The final block that each response with a range must confirm, since its endpoint may have switched to another fork.
   * `null` with a single endpoint.
   */
  get agreedBlock(): BlockRef | null {
    return this.endpoints.length > 1 ? this.#agreement.block : null;
  }

  /** The endpoints that report the block as final and were part of the last agreement on finality, the best first. */
  finalAt(number: number): Endpoint[] {
    return this.ranked().filter(
      (endpoint) =>
        this.#agreement.endpoints.includes(endpoint) &&
        (endpoint.state.view?.final?.number ?? -1) >= number,
    );
  }

  /** Runs `run`, with pauses, until it succeeds. Throws any other error than an `EndpointError`, or once closed. */
  async retry<T>(run: () => Promise<T>): Promise<T> {
    const { clock, random, signal } = this.context;
    for (let attempt = 0; ; attempt += 1) {
      while (this.#isWorthWaiting) await clock.sleep(chainLimits.pollMsMin, signal);
      try {
        return await run();
      } catch (thrown) {
        signal.throwIfAborted();
        if (!(thrown instanceof EndpointError)) throw thrown;
        await clock.sleep(backoffMs(attempt, chainBackoff, random), signal);
      }
    }
  }

  get #isWorthWaiting(): boolean {
    const isAnyUsable = this.endpoints.some((endpoint) => endpoint.isUsable);
    return !isAnyUsable && this.endpoints.some(({ refusal }) => refusal === null);
  }

  /** Throws `WrongChainError` once every endpoint serves another chain. */
  throwIfRefused(): void {
    const refusals = this.endpoints.flatMap(({ refusal }) => refusal ?? []);
    if (refusals[0] !== undefined && refusals.length === this.endpoints.length) throw refusals[0];
  }

  /** Returns the first result that is not `null`. Without one, throws the last failure; `null` if none failed. */
  async tryInTurn<T>(
    endpoints: readonly Endpoint[],
    run: (endpoint: Endpoint) => Promise<T | null>,
  ): Promise<T | null> {
    this.throwIfRefused();
    let failure: EndpointError | null = null;
    for (const endpoint of endpoints) {
      try {
        const result = await run(endpoint);
        if (result === null) continue;
        endpoint.recordGoodData();
        return result;
      } catch (thrown) {
        if (!(thrown instanceof EndpointError)) throw thrown;
        failure = thrown;
        if (thrown.isAboutData) endpoint.recordBadData(thrown);
        this.context.log.debug(
          { host: endpoint.host, reason: thrown.message },
          "endpoint request failed",
        );
      }
    }
    if (failure !== null) throw failure;
    return null;
  }
}
