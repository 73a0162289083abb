import { chainBackoff, chainLimits } from "../../base/config/limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "./endpoint.ts";

/** How often another endpoint than the best is asked first, so that a better one is noticed. */
const explorationShare = 0.05;

/** The endpoints of a source, and the one place where work is tried again. */
export class EndpointPool {
  readonly endpoints: readonly Endpoint[];
  /** The last block that endpoints agreed is final; `null` before the first. Written by `Finality`. */
  agreed: BlockRef | null = null;
  readonly #context: ChainContext;

  constructor(endpoints: readonly Endpoint[], context: ChainContext) {
    this.endpoints = endpoints;
    this.#context = context;
  }

  /** Those that work may be given to now, the best first. */
  ranked(): Endpoint[] {
    const ranked = this.endpoints
      .filter((endpoint) => endpoint.isUsable)
      .toSorted((one, other) => one.cost - other.cost);
    if (ranked.length > 1 && this.#context.random() < explorationShare) {
      const index = Math.floor(this.#context.random() * ranked.length);
      ranked.unshift(...ranked.splice(index, 1));
    }
    return ranked;
  }

  /** What an endpoint has to confirm with each range, as it may have changed to another chain since; `null` for a lone one. */
  get proof(): BlockRef | null {
    return this.endpoints.length > 1 ? this.agreed : null;
  }

  /** Those for which the block is final by their own word, and that agree with the others on what is. */
  finalAt(number: number): Endpoint[] {
    return this.ranked().filter(
      ({ view, isInAgreement }) => isInAgreement && (view?.final?.number ?? -1) >= number,
    );
  }

  /** Runs `run` with pauses until it succeeds. Ends otherwise by a bug, a fatal error or when the source is closed. */
  async persist<T>(run: () => Promise<T>): Promise<T> {
    const { clock, random, signal } = this.#context;
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

  /** The first result that is not `null`. Without one it throws the last failure; `null` if there was none. */
  async round<T>(
    endpoints: readonly Endpoint[],
    run: (endpoint: Endpoint) => Promise<T | null>,
  ): Promise<T | null> {
    const refusals = this.endpoints.flatMap(({ refusal }) => refusal ?? []);
    if (refusals[0] !== undefined && refusals.length === this.endpoints.length) throw refusals[0];
    let failure: EndpointError | null = null;
    for (const endpoint of endpoints) {
      try {
        const result = await run(endpoint);
        if (result === null) continue;
        endpoint.noteGoodData();
        return result;
      } catch (thrown) {
        if (!(thrown instanceof EndpointError)) throw thrown;
        failure = thrown;
        if (thrown.isAboutData) endpoint.noteBadData(thrown);
        this.#context.log.debug(
          { host: endpoint.host, reason: thrown.message },
          "an endpoint could not do it",
        );
      }
    }
    if (failure !== null) throw failure;
    return null;
  }

  /** The answer of the first endpoint that can give one; `null` when none can. A failure counts against no endpoint. */
  async firstOpinion<T>(
    endpoints: readonly Endpoint[],
    ask: (endpoint: Endpoint) => Promise<T>,
  ): Promise<T | null> {
    for (const endpoint of endpoints) {
      try {
        return await ask(endpoint);
      } catch (thrown) {
        if (!(thrown instanceof EndpointError)) throw thrown;
      }
    }
    return null;
  }
}
