import { type Backoff, wait } from "./backoff.ts";
import { noKeyMessage, OddwireError } from "./oddwire-error.ts";
import type { ChannelRequest, ChannelRows, StreamFrame } from "./stream-frames.ts";
import type { AnyFrame, Closing } from "./stream-inbox.ts";
import type { StreamSockets } from "./stream-sockets.ts";

/** The state of a stream. */
export type StreamState = "connecting" | "replaying" | "live";

export type StreamOptions<Type extends keyof ChannelRows> = {
  readonly channel: ChannelRequest<Type>;
  /** The `seq` to resume after; 0 for everything. Without it the stream begins with new events. */
  readonly resumeFrom?: number | undefined;
  /** Whether to resume from before the first indexed block, although rows in between are missing. */
  readonly allowGap?: boolean | undefined;
  /** The number of newest rows to begin with, at most 500. */
  readonly snapshot?: number | undefined;
  /** Ends the stream. The loop that reads it ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each frame before it is returned. `false` discards the frame and subscribes again. */
  readonly isSound?: ((frame: StreamFrame<unknown>) => boolean) | undefined;
  /** Called whenever the state changes. */
  readonly onState?: ((state: StreamState) => void) | undefined;
};

const closeCodes = { badKey: 4001, draining: 4003, policy: 4008 } as const;
const drainSpreadMs = 10_000;
/** Treated as a broken connection: the next subscription repairs the loss. */
const incomplete: Closing = { code: 1006, reason: "a frame is missing" };
/** Errors of a subscription that are temporary. */
const passing: ReadonlySet<string> = new Set([
  "SERVICE_UNAVAILABLE",
  "RATE_LIMITED",
  "IP_BLOCKED",
  // Another stream of the connection has the same channel.
  "CONFLICT",
]);

/**
 * The events of one channel, without an end. The stream reconnects automatically and resumes after the last event it
 * returned, so that no event is missing or comes twice. A gap in the chain of `prev_seq` is repaired in the same way.
 * Only a `reorg` frame reverts what was returned.
 *
 * Ends with an `OddwireError` if a new connection cannot help: the key is no longer valid, or the channel is refused. Also
 * if the service refuses to begin, on all attempts of the backoff, because it has not indexed the position to resume from.
 */
export class EventStream<Row> implements AsyncIterable<StreamFrame<Row>> {
  readonly #sockets: StreamSockets;
  readonly #backoff: Backoff;
  readonly #options: StreamOptions<keyof ChannelRows>;
  /** The position after which to resume; `null` before the first frame. */
  #position: number | null;
  #snapshot: number | undefined;
  /** The number of connections that ended since one last worked. */
  #failures = 0;
  /** The refusals of a stream that has never begun; `null` once it has. */
  #refusals: number | null = 0;
  /** Whether the next connection is not shared, so that the service does not refuse other streams with this one. */
  #isAlone = false;

  constructor(sockets: StreamSockets, backoff: Backoff, options: StreamOptions<keyof ChannelRows>) {
    this.#sockets = sockets;
    this.#backoff = backoff;
    this.#options = options;
    this.#position = options.resumeFrom ?? null;
    this.#snapshot = options.snapshot;
  }

  /** The `resumeFrom` with which a later stream continues; `null` before the first frame. */
  get position(): number | null {
    return this.#position;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamFrame<Row>, void, undefined> {
    while (!this.#isLeft) {
      this.#options.onState?.("connecting");
      const closing = yield* this.#readConnection();
      if (this.#isLeft) return;
      const waitMs = this.#waitAfter(closing);
      await wait(waitMs, this.#options.signal).catch(() => {});
    }
  }

  get #isLeft(): boolean {
    return this.#options.signal?.aborted === true;
  }

  async *#readConnection(): AsyncGenerator<StreamFrame<Row>, Closing, undefined> {
    const { signal } = this.#options;
    const inbox = this.#sockets.subscribe(this.#request(), this.#isAlone);
    const stop = (): void => inbox.close();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const next = await inbox.next();
        if ("code" in next) return this.#closed(next, inbox.isShared);
        const given = this.#take(next);
        if (given === null) continue;
        if (given === "lost" || this.#options.isSound?.(given) === false) return incomplete;
        yield given;
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      stop();
    }
  }

  /** The position to resume from. Order books have no history and are sent as a whole. */
  get #resumeFrom(): number | null {
    return this.#options.channel.type === "orderbook" ? null : this.#position;
  }

  #request() {
    const { channel } = this.#options;
    const resumeFrom = this.#resumeFrom;
    const gap = this.#options.allowGap === true ? { allow_gap: true } : {};
    const resume = resumeFrom === null ? {} : { resume_from: resumeFrom, ...gap };
    const snapshot = this.#snapshot === undefined ? {} : { snapshot: this.#snapshot };
    return { channel, ...resume, ...snapshot };
  }

  /** Returns the frame for the reader; `null` if it is not meant for the reader, `lost` if a frame is missing. */
  #take(frame: AnyFrame): StreamFrame<Row> | null | "lost" {
    switch (frame.type) {
      case "welcome":
      case "unsubscribed":
      case "pong":
        return null;
      case "error":
        return this.#refused(frame);
      case "subscribed":
        this.#isAlone = false;
        this.#refusals = null;
        this.#options.onState?.(this.#resumeFrom === null ? "live" : "replaying");
        this.#position = this.#resumeFrom ?? frame.seq;
        return null;
      case "replay_complete":
        this.#options.onState?.("live");
        return frame;
      case "event":
        if (frame.prev_seq !== this.#position) return "lost";
        this.#position = frame.seq;
        this.#failures = 0;
        return frame as StreamFrame<Row>;
      case "reorg":
        this.#position = frame.rewind_to_seq;
        return frame;
      case "snapshot":
        this.#snapshot = undefined;
        this.#position = frame.seq;
        return frame as StreamFrame<Row>;
      case "finalized":
      case "heartbeat":
        // The connection works, even if the channel is quiet.
        this.#failures = 0;
        return frame;
    }
  }

  #refused({ id, error }: Extract<AnyFrame, { type: "error" }>): "lost" {
    const { code, message, details, request_id: requestId } = error;
    // The service closes a connection with several invalid frames.
    this.#isAlone = id !== undefined;
    if (code === "SERVICE_UNAVAILABLE" && this.#refusals !== null) this.#refusals += 1;
    if (passing.has(code) && (this.#refusals ?? 0) < this.#backoff.attempts) return "lost";
    const isWithoutKey = code === "UNAUTHORIZED" && !this.#sockets.hasKey;
    const text = isWithoutKey ? noKeyMessage : message;
    throw new OddwireError(text, { status: 0, code, details, requestId });
  }

  /** Returns how the connection closed. A shared one can have been closed because of another stream. */
  #closed(closing: Closing, wasShared: boolean): Closing {
    if (closing.code !== closeCodes.policy || !wasShared) return closing;
    this.#isAlone = true;
    return incomplete;
  }

  /** Returns how long to wait before the next connection. Throws if a new connection cannot help. */
  #waitAfter({ code, reason }: Closing): number {
    if (code === closeCodes.badKey) {
      throw new OddwireError(reason, { status: code, code: "UNAUTHORIZED" });
    }
    if (code === closeCodes.policy) {
      throw new OddwireError(reason, { status: code, code: "VALIDATION_ERROR" });
    }
    this.#failures += 1;
    // All clients of a restarting service reconnect. A random wait spreads them over 10 s.
    if (code === closeCodes.draining) return Math.random() * drainSpreadMs;
    const { firstWaitMs, longestWaitMs } = this.#backoff;
    return Math.min(firstWaitMs * 2 ** (this.#failures - 1), longestWaitMs);
  }
}
