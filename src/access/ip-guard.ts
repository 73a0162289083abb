import { webLimits } from "../base/config/limits.ts";
import { whenKnown } from "../base/time/awaitable.ts";
import type { Clock } from "../base/time/clock.ts";
import type { IpBlock, IpBlocks } from "./ip-blocks.ts";
import type { RateWindow } from "./rate-window.ts";

type IpGuardParts = {
  readonly blocks: IpBlocks;
  readonly offenses: RateWindow;
  readonly clock: Clock;
  /** Failed authentications within 5 minutes that block an IP; 0 turns blocking off. */
  readonly failuresMax: number;
  readonly onBlocked?: (block: IpBlock) => void;
};

/**
 * Blocks IPs that guess keys or flood the service: first for 15 minutes, then twice as long each time, up to a day.
 * After a day without a block, the next one is for 15 minutes again.
 */
export class IpGuard {
  readonly #parts: IpGuardParts;

  constructor(parts: IpGuardParts) {
    this.#parts = parts;
  }

  /** Returns for how many more milliseconds the bucket is blocked; 0 when it is not. */
  blockedForMs(bucket: string): number {
    return Math.max(
      0,
      (this.#parts.blocks.get(bucket)?.blockedUntilMs ?? 0) - this.#parts.clock.nowMs(),
    );
  }

  /** Counts an offense: an invalid key, or abuse (malformed bytes, or requests over the IP limit). */
  record(bucket: string, reason: IpBlock["reason"]): void {
    if (this.#parts.failuresMax === 0 || this.blockedForMs(bucket) > 0) return;
    const limit = reason === "abuse" ? webLimits.ipAbuseMax : this.#parts.failuresMax;
    const offender = `${reason} ${bucket}`;
    const offenses = this.#parts.offenses.take(offender, limit, this.#parts.clock.monotonicMs());
    void whenKnown(offenses, ({ remaining }) => {
      if (remaining > 0 || this.blockedForMs(bucket) > 0) return;
      // When the block ends or is removed, the count starts at 0.
      this.#parts.offenses.forget(offender);
      this.#block(bucket, reason);
    });
  }

  #block(bucket: string, reason: IpBlock["reason"]): void {
    const blockedAtMs = this.#parts.clock.nowMs();
    const last = this.#parts.blocks.get(bucket);
    const isRepeated = last !== null && blockedAtMs - last.blockedUntilMs < webLimits.ipBlockMaxMs;
    const offenses = isRepeated ? last.offenses + 1 : 1;
    const { ipBlockFirstMs, ipBlockMaxMs } = webLimits;
    const durationMs = Math.min(ipBlockFirstMs * 2 ** Math.min(offenses - 1, 30), ipBlockMaxMs);
    const blockedUntilMs = blockedAtMs + durationMs;
    const block = { bucket, reason, offenses, blockedAtMs, blockedUntilMs };
    this.#parts.blocks.put(block);
    this.#parts.onBlocked?.(block);
  }
}
