import { streamLimits } from "../../base/config/limits.ts";

/** Takes bytes for the other side; `false` says to wait until it has `drained`. */
export type Write = (bytes: Buffer) => boolean;

/** Bytes for one client, and the range of the log they cover; control frames cover none. */
export type Outgoing = {
  readonly bytes: Buffer;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
};

type Waiting = Outgoing & { readonly sinceMs: number };

/**
 * What waits to be sent to one client, in order: references to shared buffers, bounded in bytes and age. Over the
 * bound the connection is closed; nothing is dropped from the middle.
 */
export class Outbox {
  readonly #write: Write;
  #waiting: Waiting[] | null = null;
  #next = 0;
  #waitingBytes = 0;
  /** Since when the other side takes nothing; `null` while it does. */
  #blockedSinceMs: number | null = null;
  #sentSeq: number | null = null;
  #onRoom: (() => void) | null = null;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Sends, or keeps for later what the other side does not take now. */
  push(outgoing: Outgoing, nowMs: number): void {
    if (this.#blockedSinceMs === null) {
      if (!this.#send(outgoing)) this.#blockedSinceMs = nowMs;
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push({ ...outgoing, sinceMs: nowMs });
    this.#waitingBytes += outgoing.bytes.length;
  }

  drained(nowMs: number): void {
    this.#blockedSinceMs = null;
    const waiting = this.#waiting ?? [];
    for (let one = waiting[this.#next]; one !== undefined; one = waiting[this.#next]) {
      this.#next += 1;
      this.#waitingBytes -= one.bytes.length;
      if (this.#send(one)) continue;
      this.#blockedSinceMs = nowMs;
      break;
    }
    this.#forgetSent(waiting);
    if (this.#blockedSinceMs === null) this.#notifyRoom();
  }

  /** Whether the client has fallen too far behind. */
  isOver(nowMs: number): boolean {
    if (this.#blockedSinceMs === null) return false;
    const oldestMs = this.#waiting?.[this.#next]?.sinceMs ?? this.#blockedSinceMs;
    const { queueBytesMax, queueAgeMsMax } = streamLimits;
    const waitedMs = nowMs - Math.min(oldestMs, this.#blockedSinceMs);
    return this.#waitingBytes > queueBytesMax || waitedMs > queueAgeMsMax;
  }

  /** All data up to here has been sent; `null` when none has. */
  get deliveredSeq(): number | null {
    const waiting = (this.#waiting ?? []).slice(this.#next);
    // Of one block the rows of several channels are sent one channel after the other.
    const firstWaiting = Math.min(...waiting.map(({ firstSeq = Infinity }) => firstSeq));
    return this.#sentSeq === null ? null : Math.min(this.#sentSeq, firstWaiting - 1);
  }

  /** Resolves once nothing waits: who reads history reads no faster than the client. */
  async whenRoom(): Promise<void> {
    if (this.#blockedSinceMs === null) return;
    const earlier = this.#onRoom;
    await new Promise<void>((resolve) => {
      this.#onRoom = () => {
        earlier?.();
        resolve();
      };
    });
  }

  clear(): void {
    this.#waiting = null;
    this.#waitingBytes = 0;
    this.#next = 0;
    this.#notifyRoom();
  }

  #send({ bytes, lastSeq }: Outgoing): boolean {
    this.#sentSeq = lastSeq ?? this.#sentSeq;
    return this.#write(bytes);
  }

  #forgetSent(waiting: readonly Waiting[]): void {
    if (this.#next === waiting.length) {
      this.#waiting = null;
      this.#next = 0;
    } else if (this.#next > waiting.length / 2) {
      this.#waiting = waiting.slice(this.#next);
      this.#next = 0;
    }
  }

  #notifyRoom(): void {
    const report = this.#onRoom;
    this.#onRoom = null;
    report?.();
  }
}
