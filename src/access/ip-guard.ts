import { webLimits } from "../base/config/limits.ts";
import { whenKnown } from "../base/time/awaitable.ts";
import type { Clock } from "../base/time/clock.ts";
import type { IpBlock, IpBlocks } from "./ip-blocks.ts";
import type { RateWindow } from "./rate-window.ts";

type IpGuardParts = {
  readonly blocks: IpBlocks;
  readonly offenses: RateWindow;
  readonly clock: Clock;
  /** So many failed authentications in 5 minutes block; 0 turns blocking off. */
  readonly failuresMax: number;
  readonly onBlocked?: (block: IpBlock) => void;
};

/**
 * Blocks IPs that guess keys or flood: for 15 minutes, then twice as long each time, up to a day. After a day without
 * a block the next one is a first again.
 */
export class IpGuard {
  readonly #parts: IpGuardParts;

  constructor(parts: IpGuardParts) {
    this.#parts = parts;
  }

  /** How much longer the bucket is blocked, in milliseconds; 0 when it is not. */
  blockedForMs(bucket: string): number {
    return Math.max(
      0,
      (this.#parts.blocks.get(bucket)?.blockedUntilMs ?? 0) - this.#parts.clock.nowMs(),
    );
  }

  /** Counts an offense: a wrong key value, or abuse (malformed bytes, over the IP limit). */
  record(bucket: string, reason: IpBlock["reason"]): void {
    if (this.#parts.failuresMax === 0 || this.blockedForMs(bucket) > 0) return;
    const limit = reason === "abuse" ? webLimits.ipAbuseMax : this.#parts.failuresMax;
    const offender = `${reason} ${bucket}`;
    const offenses = this.#parts.offenses.take(offender, limit, this.#parts.clock.monotonicMs());
    void whenKnown(offenses, ({ remaining }) => {
      if (remaining > 0 || this.blockedForMs(bucket) > 0) return;
      // Once the block is over or removed, the count starts again.
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
