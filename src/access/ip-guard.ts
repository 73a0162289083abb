import { webLimits } from "../base/config/limits.ts";
import { thenMaybe } from "../base/time/awaitable.ts";
import type { Clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import { type IpBlock, remainingMs } from "./ip-blocks.ts";

type IpGuardParts = {
  readonly access: Pick<AccessStore, "ipBlocks" | "offenseWindow" | "audit">;
  readonly clock: Clock;
  /** Failed authentications within 5 minutes that block an IP; 0 turns blocking off. */
  readonly failuresMax: number;
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
    const { access, clock } = this.#parts;
    return remainingMs(access.ipBlocks.get(bucket), clock.nowMs());
  }

  /** Counts an offense: an invalid key, or abuse (malformed bytes, or requests over the IP limit). */
  record(bucket: string, reason: IpBlock["reason"]): void {
    const { access, clock, failuresMax } = this.#parts;
    if (failuresMax === 0 || this.blockedForMs(bucket) > 0) return;
    const limit = reason === "abuse" ? webLimits.ipAbuseMax : failuresMax;
    const offender = `${reason} ${bucket}`;
    const offenses = access.offenseWindow.acquire(offender, limit, clock.monotonicMs());
    void thenMaybe(offenses, ({ remaining }) => {
      if (remaining > 0 || this.blockedForMs(bucket) > 0) return;
      // When the block ends or is removed, the count starts at 0.
      access.offenseWindow.forget(offender);
      this.#block(bucket, reason);
    });
  }

  #block(bucket: string, reason: IpBlock["reason"]): void {
    const { access, clock } = this.#parts;
    const blockedAtMs = clock.nowMs();
    const last = access.ipBlocks.get(bucket);
    const isRepeated = last !== null && blockedAtMs - last.blockedUntilMs < webLimits.ipBlockMaxMs;
    const offenses = isRepeated ? last.offenses + 1 : 1;
    const { ipBlockFirstMs, ipBlockMaxMs } = webLimits;
    const durationMs = Math.min(ipBlockFirstMs * 2 ** Math.min(offenses - 1, 30), ipBlockMaxMs);
    const blockedUntilMs = blockedAtMs + durationMs;
    access.ipBlocks.put({ bucket, reason, offenses, blockedAtMs, blockedUntilMs });
    access.audit.record({ action: "ip_blocked", ip: bucket, by: null });
  }
}
