import { clockLimits } from "../../base/config/cluster-limits.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";

type Server = "Redis" | "ClickHouse";

/**
 * The clock that decides when keys and IP blocks end, the same on every node: that of Redis, or that of ClickHouse until
 * Redis has answered. Without either it is this machine's. Also measures by how much this machine's clock differs.
 */
export class ClusterClock implements Clock {
  readonly #local: Clock;
  readonly #log: Log;
  /** The clock of each server minus ours, in milliseconds. */
  readonly #offsets = new Map<Server, number>();
  #offsetMs = 0;
  #lastMs = 0;
  readonly #warned = new Set<Server>();

  constructor(local: Clock, log: Log) {
    this.#local = local;
    this.#log = log;
  }

  nowMs(): number {
    const nowMs = this.#local.nowMs() + this.#offsetMs;
    // A small correction must not change the order of what is made one after another.
    const isBack = nowMs < this.#lastMs && this.#lastMs - nowMs < clockLimits.offsetMsMax;
    this.#lastMs = isBack ? this.#lastMs : nowMs;
    return this.#lastMs;
  }

  monotonicMs(): number {
    return this.#local.monotonicMs();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#local.sleep(ms, signal);
  }

  /** Takes in the time of a server, from the answer to a request at `requestedAtMs`, a monotonic time. */
  measure(server: Server, timeMs: number, requestedAtMs: number): void {
    const roundTripMs = this.#local.monotonicMs() - requestedAtMs;
    // An answer that took long says little about the time at which it was made.
    if (roundTripMs > clockLimits.roundTripMsMax && this.#offsets.has(server)) return;
    const offsetMs = timeMs + roundTripMs / 2 - this.#local.nowMs();
    this.#offsets.set(server, offsetMs);
    this.#offsetMs = Math.round(this.#offsets.get("Redis") ?? offsetMs);
    const isOff = Math.abs(offsetMs) > clockLimits.offsetMsMax;
    const seconds = Math.round(offsetMs / 1000);
    if (isOff && !this.#warned.has(server)) {
      this.#warned.add(server);
      this.#log.warn(
        { server, seconds },
        "system clock differs from the clock of a server; check NTP on both",
      );
    } else if (!isOff && this.#warned.delete(server)) {
      this.#log.info({ server }, "system clock agrees with the clock of a server again");
    }
  }

  /** The largest difference between our clock and a server's, in milliseconds; `null` before the first answer. */
  get differenceMs(): number | null {
    const differences = [...this.#offsets.values()].map(Math.abs);
    return differences.length === 0 ? null : Math.max(...differences);
  }

  /** One sentence for readiness. */
  get detail(): string {
    const parts = [...this.#offsets].map(([server, offsetMs]) => {
      const seconds = Math.abs(offsetMs / 1000).toFixed(1);
      return Math.abs(offsetMs) > clockLimits.offsetMsMax
        ? `${seconds} s ${offsetMs > 0 ? "behind" : "ahead of"} ${server}`
        : `agrees with ${server}`;
    });
    return parts.length === 0 ? "not compared yet" : parts.join(", ");
  }
}
