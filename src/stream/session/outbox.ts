import { streamLimits } from "../../base/config/limits.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";

/** Bytes for one client, and the range of the log they cover; control frames cover none. */
export type Outgoing = {
  readonly bytes: Buffer;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
};

type Waiting = Outgoing & { readonly sinceMs: number };

/**
 * The queue of one client: references to shared buffers, in order, bounded in bytes and age. Over a bound the
 * connection is closed. Nothing is dropped from the middle.
 */
export class Outbox {
  readonly #write: (bytes: Buffer) => boolean;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** When the client stopped accepting bytes; `null` while it accepts them. */
  #blockedSinceMs: number | null = null;
  #sentSeq: number | null = null;
  readonly #room = new WakeSignal();

  /** `write` sends bytes to the client. It returns `false` if the outbox must wait for `drained`. */
  constructor(write: (bytes: Buffer) => boolean) {
    this.#write = write;
  }

  /** Sends bytes, or queues them while the client accepts none. */
  push(outgoing: Outgoing, nowMs: number): void {
    if (this.#blockedSinceMs === null) {
      if (!this.#send(outgoing)) this.#blockedSinceMs = nowMs;
      return;
    }
    this.#waiting.push({ ...outgoing, sinceMs: nowMs });
    this.#waitingBytes += outgoing.bytes.length;
  }

  drained(nowMs: number): void {
    this.#blockedSinceMs = null;
    let sent = 0;
    for (const one of this.#waiting) {
      sent += 1;
      this.#waitingBytes -= one.bytes.length;
      if (this.#send(one)) continue;
      this.#blockedSinceMs = nowMs;
      break;
    }
    this.#waiting.splice(0, sent);
    if (this.#blockedSinceMs === null) this.#room.notify();
  }

  /** Whether the client has fallen too far behind. */
  isOver(nowMs: number): boolean {
    if (this.#blockedSinceMs === null) return false;
    const oldestMs = this.#waiting[0]?.sinceMs ?? this.#blockedSinceMs;
    const { queueBytesMax, queueAgeMsMax } = streamLimits;
    const waitedMs = nowMs - Math.min(oldestMs, this.#blockedSinceMs);
    return this.#waitingBytes > queueBytesMax || waitedMs > queueAgeMsMax;
  }

  /** The position up to which all data was sent; `null` when none was. */
  get deliveredSeq(): number | null {
    // The rows of a block are sent channel by channel, so a waiting packet can begin before `#sentSeq`.
    const firstWaiting = Math.min(...this.#waiting.map(({ firstSeq = Infinity }) => firstSeq));
    return this.#sentSeq === null ? null : Math.min(this.#sentSeq, firstWaiting - 1);
  }

  /** Resolves when the queue is empty, so that history is read no faster than the client accepts it. */
  async whenRoom(): Promise<void> {
    if (this.#blockedSinceMs !== null) await this.#room.next();
  }

  clear(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#room.notify();
  }

  #send({ bytes, lastSeq }: Outgoing): boolean {
    this.#sentSeq = lastSeq ?? this.#sentSeq;
    return this.#write(bytes);
  }
}
