import { outageBackoff } from "../../base/config/limits.ts";
import type { ChainContext } from "../chain-context.ts";

/** Logs that no endpoint answers for as long as none does, each time after twice the wait. */
export class OutageLog {
  readonly #context: ChainContext;
  #answeredAtMs: number;
  #waitMs: number = outageBackoff.firstMs;
  #dueMs: number;

  constructor(context: ChainContext) {
    this.#context = context;
    this.#answeredAtMs = context.clock.monotonicMs();
    this.#dueMs = this.#answeredAtMs + this.#waitMs;
  }

  end(): void {
    if (this.#waitMs > outageBackoff.firstMs) this.#context.log.info("an endpoint answers again");
    this.#answeredAtMs = this.#context.clock.monotonicMs();
    this.#waitMs = outageBackoff.firstMs;
    this.#dueMs = this.#answeredAtMs + this.#waitMs;
  }

  note(reason: string): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (nowMs < this.#dueMs) return;
    const seconds = Math.round((nowMs - this.#answeredAtMs) / 1_000);
    this.#context.log.warn({ seconds, reason }, "no endpoint answers; still trying");
    this.#waitMs = Math.min(outageBackoff.maxMs, 2 * this.#waitMs);
    this.#dueMs = nowMs + this.#waitMs;
  }
}
