import type { VerifiedKey } from "../../access/api-key.ts";
import type { Scope } from "../../access/key-format.ts";
import type { Keys } from "../../access/keys.ts";
import { streamLimits } from "../../base/config/limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { refuseRepeatedNames } from "../../base/input/repeated-names.ts";
import type { Log } from "../../base/log.ts";
import { SlidingWindow } from "../../base/sliding-window.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Freshness } from "../../rows/freshness.ts";
import {
  type ChannelRequest,
  type FrameId,
  frameReaders,
  getAction,
  getFrameId,
  parseJson,
} from "../frames/client-frame.ts";
import { encodeFrames } from "../frames/frame-bytes.ts";
import type { FrameEncoding, Packet } from "../frames/packet.ts";
import { answerFrame, errorFrame, heartbeatFrame, publicSeq } from "../frames/server-frames.ts";
import type { Channel } from "../hub/channel.ts";
import type { Hub } from "../hub/hub.ts";
import type { Receiver } from "../hub/log-subscription.ts";
import type { Subscription } from "../hub/topic.ts";
import type { BatchFlusher } from "./batch-flusher.ts";
import { Outbox, type Outgoing } from "./outbox.ts";
import type { StreamMeter } from "./stream-meter.ts";

/** The close codes of the service, by reason. */
export const closeCodes = {
  internal: 1011,
  badKey: 4001,
  slow: 4002,
  draining: 4003,
  policy: 4008,
  tooMany: 4029,
} as const;

/** The limits of connections and subscriptions. */
export type StreamQuotas = {
  readonly connectionsPerKey: Readonly<Record<Scope, number>>;
  readonly connectionsPerIp: number;
  readonly subscriptionsMax: number;
};

/** The parts that all connections share. */
export type SessionParts = {
  readonly hub: Hub;
  readonly keys: Pick<Keys, "isLive" | "isVerified">;
  readonly flusher: BatchFlusher;
  readonly quotas: StreamQuotas;
  readonly freshness: () => Freshness;
  readonly clock: Clock;
  readonly meter: StreamMeter;
  readonly log: Log;
};

/** The connection that carries a session. Nothing is sent after `close`. */
export type Carrier = {
  /** Returns `false` if the session must wait for `drained`. */
  write(bytes: Buffer): boolean;
  close(code: number, reason: string): void;
  ping(): void;
  /** Returns the key, counted against its limit of connections. `RATE_LIMITED` when it has too many. */
  authenticate(value: string): VerifiedKey | AppError;
};

type SessionOptions = {
  readonly connectionId: string;
  readonly encoding: FrameEncoding;
  readonly key: VerifiedKey | null;
  /** Whether the session needs no key. */
  readonly isPublic: boolean;
};

/** The protocol of one client, without sockets and timers: frames, pongs and ticks go in, frames come out. */
export class Session implements Receiver {
  readonly #parts: SessionParts;
  readonly #carrier: Carrier;
  readonly #options: SessionOptions;
  readonly #outbox: Outbox;
  readonly #openedAtMs: number;
  #key: VerifiedKey | null;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Its limit depends on the moment. */
  readonly #frames = new SlidingWindow(Number.POSITIVE_INFINITY, streamLimits.framesWindowMs);
  readonly #faults = new SlidingWindow(streamLimits.faultsMax - 1, streamLimits.faultWindowMs);
  #unansweredPings = 0;
  #pingedAtMs: number;
  #tickedAtMs: number;
  #tickLagMs = 0;
  #isClosed = false;

  constructor(parts: SessionParts, carrier: Carrier, options: SessionOptions) {
    this.#parts = parts;
    this.#carrier = carrier;
    this.#options = options;
    this.#key = options.key;
    this.#openedAtMs = parts.clock.monotonicMs();
    this.#pingedAtMs = this.#openedAtMs;
    this.#tickedAtMs = this.#openedAtMs;
    this.#outbox = new Outbox((bytes) => carrier.write(bytes));
  }

  open(): void {
    this.#welcome(null);
  }

  get #isAdmitted(): boolean {
    return this.#key !== null || this.#options.isPublic;
  }

  get #tokenCount(): number {
    return this.#subscriptions
      .values()
      .reduce((sum, { topic }) => sum + topic.channel.tokenCount, 0);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Handles a message of the client; `null` for a binary message. */
  receive(text: string | null): void {
    if (this.#isClosed || !this.#countFrame()) return;
    if (text === "PING") return this.sendText("PONG");
    let input: unknown;
    try {
      input = parseJson(text);
      // After `input` is set, so that the error has the id of the frame. Only a text can be parsed.
      refuseRepeatedNames(text ?? "");
      this.#answer(input, getFrameId(input));
    } catch (thrown) {
      this.#refuse(thrown, getFrameId(input));
    }
  }

  ponged(): void {
    this.#unansweredPings = 0;
  }

  /** Counts a ping frame of the WebSocket protocol. The carrier answers it. */
  pinged(): void {
    if (!this.#isClosed) this.#countFrame();
  }

  drained(): void {
    if (!this.#isClosed) this.#outbox.drained(this.#parts.clock.monotonicMs());
  }

  /** Checks the key, the queue and the timeouts, and sends a ping if one is due. Called every `tickMs`. */
  tick(): void {
    if (this.#isClosed) return;
    const nowMs = this.#parts.clock.monotonicMs();
    this.#tickLagMs = this.#overdueMs(nowMs);
    this.#tickedAtMs = nowMs;
    const { authenticateMs, pingMs, unansweredPingsMax } = streamLimits;
    if (!this.#isAdmitted && nowMs - this.#openedAtMs >= authenticateMs) {
      return this.close(closeCodes.badKey, "no key was sent");
    }
    this.checkKey();
    if (this.#outbox.isOver(nowMs)) return this.#closeSlow();
    if (nowMs - this.#pingedAtMs < pingMs || this.#isClosed) return;
    if (this.#unansweredPings >= unansweredPingsMax) {
      this.#parts.meter.slow_closes += 1;
      return this.close(closeCodes.slow, this.#withDelivered("silent: no pong"));
    }
    this.#unansweredPings += 1;
    this.#pingedAtMs = nowMs;
    this.#carrier.ping();
  }

  /** Sends a heartbeat frame, but not before authentication. */
  heartbeat(): void {
    if (this.#isAdmitted) this.sendText(heartbeatFrame(this.#parts.freshness()));
  }

  /** Closes when the key has been revoked or has expired. */
  checkKey(): void {
    const { keys } = this.#parts;
    if (this.#key === null || this.#isClosed || keys.isLive(this.#key)) return;
    // A node that cannot verify keys takes every key for dead. Another node can know better.
    if (keys.isVerified) {
      return this.close(closeCodes.badKey, "the key was revoked or has expired");
    }
    // The key can be live on another node.
    this.close(closeCodes.draining, "keys cannot be checked here; reconnect");
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.closed();
    this.#carrier.close(code, reason);
  }

  /** Releases everything of the connection once it is gone. */
  closed(): void {
    this.#isClosed = true;
    this.#parts.flusher.take(this);
    this.#parts.hub.listeners.delete(this);
    for (const one of this.#subscriptions.values()) this.#parts.hub.unsubscribe(one);
    this.#parts.meter.subscriptions -= this.#subscriptions.size;
    this.#subscriptions.clear();
    this.#outbox.clear();
  }

  deliver(packet: Packet, isReplay = false): void {
    if (this.#isClosed) return;
    if (isReplay) this.#parts.meter.replayed_messages += packet.count;
    if (this.#options.encoding.batch) this.#parts.flusher.add(this, packet);
    else this.push(packet);
  }

  sendText(text: string): void {
    if (this.#isClosed) return;
    // Data that waits for the next batch was delivered before this text.
    for (const packet of this.#parts.flusher.take(this)) this.push(packet);
    this.#send({ bytes: encodeFrames([text], "none") });
  }

  async whenRoom(): Promise<void> {
    await this.#outbox.whenRoom();
  }

  fail(thrown: unknown): void {
    if (this.#isClosed) return;
    this.#parts.log.error({ err: toError(thrown) }, "stream subscription failed; closing");
    const isDown = thrown instanceof AppError && thrown.code === "SERVICE_UNAVAILABLE";
    const reason = isDown ? "the database is unavailable; reconnect" : "internal error";
    const code = isDown ? closeCodes.draining : closeCodes.internal;
    this.close(code, this.#withDelivered(reason));
  }

  /** Sends a packet without waiting for the next batch. */
  push(packet: Packet): void {
    const bytes = packet.bytes(this.#options.encoding);
    const { meter } = this.#parts;
    meter.messages += packet.count;
    meter.sent_bytes += bytes.length;
    const { firstSeq, lastSeq } = packet;
    this.#send(Number.isFinite(lastSeq) ? { bytes, firstSeq, lastSeq } : { bytes });
  }

  #send(outgoing: Outgoing): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#outbox.push(outgoing, nowMs);
    if (this.#outbox.isOver(nowMs)) this.#closeSlow();
  }

  #closeSlow(): void {
    this.#parts.meter.slow_closes += 1;
    this.close(closeCodes.slow, this.#withDelivered("slow"));
  }

  /** Appends the last delivered position to a close reason, which can have at most 123 bytes. */
  #withDelivered(reason: string): string {
    const seq = this.#outbox.deliveredSeq;
    return seq === null ? reason : `${reason}; last delivered seq ${seq}`;
  }

  /** Counts a frame. Closes the connection and returns `false` if the client sends too many per second. */
  #countFrame(): boolean {
    const nowMs = this.#parts.clock.monotonicMs();
    const { framesPerSecond } = streamLimits;
    // After the process was busy, the waiting frames arrive together, before or after the overdue tick.
    const lagMs = Math.max(this.#tickLagMs, this.#overdueMs(nowMs));
    const allowed = Math.floor(framesPerSecond * (1 + lagMs / 1000));
    if (this.#frames.acquire(nowMs, allowed).isAdmitted) return true;
    this.close(closeCodes.policy, `over ${framesPerSecond} frames a second`);
    return false;
  }

  #overdueMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#tickedAtMs - streamLimits.tickMs);
  }

  #refuse(thrown: unknown, id: FrameId | null): void {
    const error = thrown instanceof AppError ? thrown : new AppError("INTERNAL_ERROR");
    if (error !== thrown) this.#parts.log.error({ err: toError(thrown) }, "stream frame failed");
    this.sendText(errorFrame(error, id, this.#options.connectionId));
    if (this.#faults.acquire(this.#parts.clock.monotonicMs()).isAdmitted) return;
    const { faultsMax, faultWindowMs } = streamLimits;
    this.close(closeCodes.policy, `${faultsMax} invalid frames in ${faultWindowMs / 1000} s`);
  }

  #answer(input: unknown, id: FrameId | null): void {
    switch (getAction(input)) {
      case "ping":
        frameReaders.ping(input);
        return this.sendText(answerFrame("pong", id, {}));
      case "auth":
        return this.#authenticate(frameReaders.auth(input).api_key, id);
      case "subscribe":
        return this.#subscribeOnceReached(frameReaders.subscribe(input), id);
      case "unsubscribe":
        return this.#unsubscribe(frameReaders.unsubscribe(input), id);
    }
  }

  #requireKey(): void {
    if (this.#isAdmitted) return;
    throw new AppError("UNAUTHORIZED", "Send an auth frame first, or X-API-Key when connecting");
  }

  #authenticate(value: string, id: FrameId | null): void {
    if (this.#key !== null) throw invalid("action", "auth is not needed: the connection has a key");
    const key = this.#carrier.authenticate(value);
    if (key instanceof AppError) {
      this.sendText(errorFrame(key, id, this.#options.connectionId));
      const { badKey, tooMany } = closeCodes;
      return key.code === "RATE_LIMITED"
        ? this.close(tooMany, "too many connections")
        : this.close(badKey, "the key was not accepted");
    }
    this.#key = key;
    this.#welcome(id);
  }

  #welcome(id: FrameId | null): void {
    const { quotas, hub } = this.#parts;
    const { heartbeatMs, framesPerSecond, frameBytesMax } = streamLimits;
    const fields = {
      connection_id: this.#options.connectionId,
      protocol: 1,
      authenticated: this.#key !== null,
      heartbeat_seconds: heartbeatMs / 1000,
      latest_seq: hub.latestSeq < 0 ? null : hub.latestSeq,
      limits: {
        subscriptions: quotas.subscriptionsMax,
        tokens_per_subscription: streamLimits.tokensPerChannelMax,
        tokens_per_connection: streamLimits.tokensPerConnectionMax,
        frames_per_second: framesPerSecond,
        frame_bytes: frameBytesMax,
        connections_per_key: this.#key === null ? null : quotas.connectionsPerKey[this.#key.scope],
        connections_per_ip: quotas.connectionsPerIp,
      },
    };
    this.sendText(answerFrame("welcome", id, fields));
  }

  /** Subscribes once this node has reached `resume_from`: a client from another node can be ahead of it. */
  #subscribeOnceReached(request: ChannelRequest, id: FrameId | null): void {
    this.#requireKey();
    const { hub, freshness } = this.#parts;
    const channel = hub.toChannel(request);
    const reached = hub.waitForPosition(request, freshness().head_block);
    const subscribe = () => this.#subscribe(channel, request, id);
    if (reached === null) return subscribe();
    reached.then(subscribe).catch((thrown: unknown) => this.#refuse(thrown, id));
  }

  #subscribe(channel: Channel, start: ChannelRequest, id: FrameId | null): void {
    if (this.#isClosed) return;
    const { hub, quotas } = this.#parts;
    const existing = this.#subscriptions.get(channel.name);
    if (existing !== undefined) {
      throw new AppError("CONFLICT", `This channel is subscribed already, as ${existing.topic.id}`);
    }
    if (this.#subscriptions.size >= quotas.subscriptionsMax) {
      const most = `has ${quotas.subscriptionsMax} subscriptions, which is the most`;
      throw invalid("connection", `${most}; end one, or open another connection`);
    }
    const { tokensPerConnectionMax } = streamLimits;
    const tokens = this.#tokenCount + channel.tokenCount;
    if (tokens > tokensPerConnectionMax) {
      const most = `would follow ${tokens} tokens, and the most is ${tokensPerConnectionMax}`;
      throw invalid("connection", `${most}; end a subscription, or open another connection`);
    }
    const subscription = hub.subscribe(channel, start, this);
    this.#subscriptions.set(channel.name, subscription);
    hub.listeners.add(this);
    this.#parts.meter.subscriptions += 1;
    const { topic, begin } = subscription;
    const fields = { channel: channel.normalizedRequest, subscription_id: topic.id };
    this.sendText(answerFrame("subscribed", id, { ...fields, seq: publicSeq(begin) }));
    // The frame closes a connection that is too slow.
    if (!this.isClosed) subscription.start();
  }

  #unsubscribe(target: string | ChannelRequest, id: FrameId | null): void {
    this.#requireKey();
    const { hub } = this.#parts;
    const targetName = typeof target === "string" ? null : hub.toChannel(target).name;
    for (const [name, subscription] of this.#subscriptions) {
      const { topic } = subscription;
      if (name !== targetName && topic.id !== target) continue;
      hub.unsubscribe(subscription);
      this.#subscriptions.delete(name);
      if (this.#subscriptions.size === 0) hub.listeners.delete(this);
      this.#parts.meter.subscriptions -= 1;
      const channel = topic.channel.normalizedRequest;
      return this.sendText(answerFrame("unsubscribed", id, { channel, subscription_id: topic.id }));
    }
    throw new AppError("NOT_FOUND", "There is no such subscription on this connection");
  }
}
