import { feedLimits } from "../../base/config/cluster-limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ChainWarning } from "../../chain/rpc/chain-warning.ts";
import { type Check, headStaleMs, type ObservedHead } from "../intake.ts";

type FitnessParts = {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** The check of the chain for readiness. */
  readonly checkChain: () => Check;
  readonly readHead: () => ObservedHead | null;
  readonly readWarnings: () => readonly ChainWarning[];
  /** Why the store refuses rows; `null` if it does not, or before this indexer is active. */
  readonly readStoreProblem: () => string | null;
};

/** Warnings while which blocks do not become final, so that another indexer with other endpoints may do better. */
const unfinal: readonly ChainWarning[] = [
  "finality_disputed",
  "majority_absent",
  "head_buffer_full",
  "history_disputed",
];

/**
 * Whether an indexer makes progress. An unfit one keeps its lease only until a fit one takes it. If the chain itself
 * stands still, all are unfit, and nothing changes.
 */
export class Fitness {
  readonly #parts: FitnessParts;
  /** Monotonic time since which each fault lasts. */
  readonly #since = new Map<string, number>();
  /** The head when another indexer was first seen to be unfit, and the time at which ours was first above it. */
  #rival: { readonly head: number; roseAtMs: number | null } | null = null;

  constructor(parts: FitnessParts) {
    this.#parts = parts;
  }

  /** Call this about every second: a fault counts once it has lasted. */
  isFit(): boolean {
    const { unfitChainMs, unfitOtherMs } = feedLimits;
    const { chain, head, finality, store } = this.#faults();
    const limits = [
      this.#lasts("chain", chain) <= unfitChainMs,
      this.#lasts("finality", finality) <= unfitOtherMs,
      this.#lasts("store", store) <= unfitOtherMs,
    ];
    return !head && limits.every(Boolean);
  }

  /**
   * Whether to take the lease of an active indexer, if that is unfit: we have no fault, and have seen new blocks for
   * `replaceAfterMs`, which the other has not. Call this about every second.
   */
  canReplace(isOtherUnfit: boolean): boolean {
    const head = this.#parts.readHead();
    if (!isOtherUnfit || head === null || Object.values(this.#faults()).some(Boolean)) {
      this.#rival = null;
      return false;
    }
    const nowMs = this.#parts.clock.monotonicMs();
    this.#rival ??= { head: head.number, roseAtMs: null };
    if (head.number > this.#rival.head) this.#rival.roseAtMs ??= nowMs;
    return nowMs - (this.#rival.roseAtMs ?? nowMs) >= feedLimits.replaceAfterMs;
  }

  #faults() {
    const { checkChain, readHead, readWarnings, readStoreProblem } = this.#parts;
    return {
      chain: !checkChain().ok,
      head: (readHead()?.ageMs ?? 0) > headStaleMs,
      finality: readWarnings().some((warning) => unfinal.includes(warning)),
      store: readStoreProblem() !== null,
    };
  }

  /** Returns for how long a fault lasts, in milliseconds; 0 without it. */
  #lasts(name: string, isFailing: boolean): number {
    if (!isFailing) {
      this.#since.delete(name);
      return 0;
    }
    const nowMs = this.#parts.clock.monotonicMs();
    const sinceMs = this.#since.get(name) ?? nowMs;
    this.#since.set(name, sinceMs);
    return nowMs - sinceMs;
  }
}
