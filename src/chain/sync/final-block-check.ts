import { chainBackoff, chainLimits } from "../../base/config/limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import { EndpointError, ReorgBeyondFinalityError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { fetchHash } from "../verify/fetch-headers.ts";

/** Checks whether a finalized block of ours is still on the chain (R3). */
export class FinalBlockCheck {
  readonly #pool: EndpointPool;
  #isDisputed = false;

  constructor(pool: EndpointPool) {
    this.#pool = pool;
  }

  /** Whether an endpoint denies a block of ours and the check is not over yet. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  /**
   * Resolves once any endpoint has the block. Endpoints that deny it then are not asked for a while. Throws
   * `ReorgBeyondFinalityError` when a majority of all endpoints has denied it several times in a row.
   */
  async confirm(block: BlockRef): Promise<void> {
    const { clock, random, signal } = this.#pool.context;
    let denials = 0;
    for (let round = 0; ; round += 1) {
      const { isConfirmed, denying } = await this.#ask(block);
      this.#isDisputed = !isConfirmed && denying.length > 0;
      if (isConfirmed) return;
      denials = 2 * denying.length > this.#pool.endpoints.length ? denials + 1 : 0;
      if (denials >= chainLimits.historyDenialsMin) {
        throw new ReorgBeyondFinalityError(
          block,
          denying.map((endpoint) => endpoint.host),
        );
      }
      await clock.sleep(backoffMs(round, chainBackoff, random), signal);
    }
  }

  /** Asks once whether any endpoint has the block. Endpoints that deny it then are not asked for a while. */
  async isOnChain(block: BlockRef): Promise<boolean> {
    return (await this.#ask(block)).isConfirmed;
  }

  /** Asks all endpoints. If one confirms the block, notes bad data for those that have another block in its place. */
  async #ask(block: BlockRef) {
    const requested = this.#pool.endpoints.filter((endpoint) => endpoint.refusal === null);
    const hashes = await Promise.all(
      requested.map(async (one) => (one.isReachable ? fetchHash(one, block.number) : null)),
    );
    const isConfirmed = hashes.includes(block.hash);
    const denying = requested.filter((_, index) => (hashes[index] ?? block.hash) !== block.hash);
    const error = new EndpointError("inconsistent", `block ${block.number} is of another fork`);
    if (isConfirmed) for (const endpoint of denying) endpoint.recordBadData(error);
    return { isConfirmed, denying };
  }
}
