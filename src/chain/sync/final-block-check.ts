import { chainBackoff, chainLimits } from "../../base/config/limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError, nullIfFailed, ReorgBeyondFinalityError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { fetchHeader } from "../verify/fetch-headers.ts";

type Opinion = "confirms" | "denies" | "silent";

/** Checks whether a finalized block of ours is still on the chain (R3). */
export class FinalBlockCheck {
  readonly #pool: EndpointPool;
  readonly #context: ChainContext;
  #isDisputed = false;

  constructor(pool: EndpointPool, context: ChainContext) {
    this.#pool = pool;
    this.#context = context;
  }

  /** Whether an endpoint denies a block of ours and the check is not over yet. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  /**
   * Resolves once any endpoint has the block. Endpoints that deny it then are not asked for a while. Throws
   * `ReorgBeyondFinalityError` when all deny it several times. Silent endpoints delay this by `historyVerdictMsMax`.
   */
  async confirm(block: BlockRef): Promise<void> {
    const { clock, random, signal } = this.#context;
    let denials = 0;
    let deniedSinceMs = clock.monotonicMs();
    for (let round = 0; ; round += 1) {
      const opinions = await this.#ask(block);
      const denying = denyingOf(opinions);
      if (isConfirmed(block, opinions)) {
        this.#isDisputed = false;
        return;
      }
      this.#isDisputed = denying.length > 0;
      denials = this.#isDisputed ? denials + 1 : 0;
      if (denials <= 1) deniedSinceMs = clock.monotonicMs();
      const isUnanimous = denying.length === opinions.size;
      const isOverdue = clock.monotonicMs() - deniedSinceMs > chainLimits.historyVerdictMsMax;
      if (denials >= chainLimits.historyDenialsMin && (isUnanimous || isOverdue)) {
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
    return isConfirmed(block, await this.#ask(block));
  }

  async #ask(block: BlockRef): Promise<Map<Endpoint, Opinion>> {
    const endpoints = this.#pool.endpoints.filter((endpoint) => endpoint.refusal === null);
    const opinions = endpoints.map(
      async (endpoint) => [endpoint, await opinionOf(endpoint, block)] as const,
    );
    return new Map(await Promise.all(opinions));
  }
}

function denyingOf(opinions: ReadonlyMap<Endpoint, Opinion>): Endpoint[] {
  return [...opinions.keys()].filter((one) => opinions.get(one) === "denies");
}

/** Whether an endpoint confirms the block. If so, notes bad data for the endpoints that deny it. */
function isConfirmed(block: BlockRef, opinions: ReadonlyMap<Endpoint, Opinion>): boolean {
  if (![...opinions.values()].includes("confirms")) return false;
  const error = new EndpointError("inconsistent", `block ${block.number} is of another fork`);
  for (const endpoint of denyingOf(opinions)) endpoint.noteBadData(error);
  return true;
}

async function opinionOf(endpoint: Endpoint, block: BlockRef): Promise<Opinion> {
  if (!endpoint.isReachable) return "silent";
  const header = await nullIfFailed(fetchHeader(endpoint, block.number));
  if (header === null) return "silent";
  return header.hash === block.hash ? "confirms" : "denies";
}
