import { webLimits } from "../base/config/limits.ts";
import type { Clock } from "../base/time/clock.ts";
import type { IpBlock, IpBlocks } from "./ip-blocks.ts";
import { WindowTable } from "./rate-limit.ts";

/**
 * Blocks IPs that guess keys or flood. A first block lasts 15 minutes and each further one twice
 * as long, up to a day; a day without one makes the next a first again.
 */
export class IpGuard {
  readonly #blocks: IpBlocks;
  readonly #clock: Clock;
  readonly #failuresMax: number;
  readonly #onBlocked: (block: IpBlock) => void;
  readonly #failures = offenceTable();
  readonly #abuses = offenceTable();

  /** `failuresMax` failed authentications in 5 minutes block; 0 turns blocking off. */
  constructor(options: {
    blocks: IpBlocks;
    clock: Clock;
    failuresMax: number;
    onBlocked?: (block: IpBlock) => void;
  }) {
    this.#blocks = options.blocks;
    this.#clock = options.clock;
    this.#failuresMax = options.failuresMax;
    this.#onBlocked = options.onBlocked ?? (() => undefined);
  }

  /** How much longer the bucket is blocked, in milliseconds; 0 when it is not. */
  blockedForMs(bucket: string): number {
    if (!this.#isBlocked(bucket)) return 0;
    // Only those who are blocked pay for asking whether someone has unblocked it meanwhile.
    this.#blocks.refresh();
    return Math.max(0, this.#remainingMs(bucket));
  }

  /** Counts an offence: a wrong key value, or abuse (malformed bytes, over the IP limit). */
  record(bucket: string, reason: IpBlock["reason"]): void {
    if (this.#failuresMax === 0 || this.#isBlocked(bucket)) return;
    const nowMs = this.#clock.monotonicMs();
    const [table, limit] =
      reason === "abuse"
        ? [this.#abuses, webLimits.ipAbuseMax]
        : [this.#failures, this.#failuresMax];
    const offences = table.windowOf(bucket, limit, nowMs);
    offences.take(nowMs);
    if (offences.remaining(nowMs) > 0) return;
    // Once the block is over or removed, the count starts again.
    table.forget(bucket);
    this.#block(bucket, reason);
  }

  #block(bucket: string, reason: IpBlock["reason"]): void {
    const blockedAtMs = this.#clock.nowMs();
    const last = this.#blocks.get(bucket);
    const isRepeated = last !== null && blockedAtMs - last.blockedUntilMs < webLimits.ipBlockMaxMs;
    const offences = isRepeated ? last.offences + 1 : 1;
    const { ipBlockFirstMs, ipBlockMaxMs } = webLimits;
    const durationMs = Math.min(ipBlockFirstMs * 2 ** Math.min(offences - 1, 30), ipBlockMaxMs);
    const blockedUntilMs = blockedAtMs + durationMs;
    const block = { bucket, reason, offences, blockedAtMs, blockedUntilMs };
    this.#blocks.put(block);
    this.#onBlocked(block);
  }

  #isBlocked(bucket: string): boolean {
    return this.#remainingMs(bucket) > 0;
  }

  #remainingMs(bucket: string): number {
    return (this.#blocks.get(bucket)?.blockedUntilMs ?? 0) - this.#clock.nowMs();
  }
}

function offenceTable(): WindowTable {
  const { ipOffenceWindowMs, ipWindowsMax } = webLimits;
  return new WindowTable({ windowMs: ipOffenceWindowMs, entriesMax: ipWindowsMax });
}
