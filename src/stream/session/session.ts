import type { VerifiedKey } from "../../access/api-key.ts";
import type { Scope } from "../../access/key-format.ts";
import { streamLimits } from "../../base/config/limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { type ClientFrame, frameIdOf, parseJson, readClientFrame } from "../frames/client-frame.ts";
import { encodeTexts } from "../frames/frame-bytes.ts";
import type { ChannelRequest, FrameId } from "../frames/frame-fields.ts";
import type { Form, Packet } from "../frames/packet.ts";
import { answerFrame, errorFrame, heartbeatFrame, shownSeq } from "../frames/server-frames.ts";
import type { Hub } from "../hub/hub.ts";
import { RecentCount } from "../hub/recent-count.ts";
import type { Receiver } from "../hub/subscription.ts";
import type { NamedChannel, Subscribed } from "../hub/topic.ts";
import type { BatchFlusher } from "./batch-flusher.ts";
import { Outbox } from "./outbox.ts";
import type { StreamMeter } from "./stream-meter.ts";

/** Why the service closes a connection. */
export const closeCodes = {
  internal: 1011,
  badKey: 4001,
  slow: 4002,
  draining: 4003,
  policy: 4008,
  tooMany: 4029,
} as const;

/** How many of each a client may have. */
export type StreamQuotas = {
  readonly connectionsPerKey: Readonly<Record<Scope, number>>;
  readonly connectionsPerIp: number;
  readonly subscriptionsMax: number;
};

/** What all connections share. */
export type SessionParts = {
  readonly hub: Hub;
  readonly flusher: BatchFlusher;
  readonly quotas: StreamQuotas;
  readonly freshness: () => Freshness;
  readonly clock: Clock;
  readonly meter: StreamMeter;
  readonly log: Log;
};

/** The connection that carries a session; nothing of it is sent after `close`. */
export type Carrier = {
  /** `false` when `drained` is to be waited for. */
  write(bytes: Buffer): boolean;
  close(code: number, reason: string): void;
  ping(): void;
  /** The key behind a value, counted against IP and key; why not, and how to close, otherwise. */
  authenticate(value: string): VerifiedKey | { readonly error: AppError; readonly code: number };
  isLive(key: VerifiedKey): boolean;
  /** Whether a key that is not live has ended; else this node does not know, and another one may. */
  areKeysKnown(): boolean;
};

/** The protocol of one client, without sockets and timers: frames, pongs and ticks go in, frames come out. */
export class Session implements Receiver {
  readonly #parts: SessionParts;
  readonly #carrier: Carrier;
  readonly #connectionId: string;
  readonly #form: Form;
  readonly #outbox: Outbox;
  readonly #openedAtMs: number;
  readonly #isPublic: boolean;
  #key: VerifiedKey | null;
  readonly #subscriptions = new Map<string, Subscribed>();
  #pending: Packet[] = [];
  #frames: RecentCount | null = null;
  #faults: RecentCount | null = null;
  #unansweredPings = 0;
  #pingedAtMs: number;
  #tickedAtMs: number;
  /** By how much the last tick came late. */
  #tickLagMs = 0;
  #isClosed = false;

  constructor(
    parts: SessionParts,
    carrier: Carrier,
    options: {
      connectionId: string;
      form: Form;
      key: VerifiedKey | null;
      /** Whether it is served without a key. */
      isPublic?: boolean;
    },
  ) {
    this.#parts = parts;
    this.#carrier = carrier;
    this.#connectionId = options.connectionId;
    this.#form = options.form;
    this.#key = options.key;
    this.#isPublic = options.isPublic ?? false;
    this.#openedAtMs = parts.clock.monotonicMs();
    this.#pingedAtMs = this.#openedAtMs;
    this.#tickedAtMs = this.#openedAtMs;
    this.#outbox = new Outbox((bytes) => carrier.write(bytes));
  }

  open(): void {
    if (this.#isAdmitted) this.#parts.hub.listeners.add(this);
    this.#welcome(null);
  }

  get #isAdmitted(): boolean {
    return this.#key !== null || this.#isPublic;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A message of the client; `null` for one that is not text. */
  receive(text: string | null): void {
    if (this.#isClosed || !this.#isCalm()) return;
    if (text === "PING") return this.sendText("PONG");
    let input: unknown;
    try {
      input = parseJson(text);
      this.#answer(readClientFrame(input), frameIdOf(input));
    } catch (thrown) {
      this.#refuse(thrown, frameIdOf(input));
    }
  }

  ponged(): void {
    this.#unansweredPings = 0;
  }

  /** The client has pinged by a frame of the protocol, which the carrier answers. */
  pinged(): void {
    if (!this.#isClosed) this.#isCalm();
  }

  drained(): void {
    if (!this.#isClosed) this.#outbox.drained(this.#parts.clock.monotonicMs());
  }

  /** Looks whether it is time for something; to be called every `tickMs`. */
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

  /** Shows that the connection is alive; not sent before authentication. */
  heartbeat(): void {
    if (this.#isAdmitted) this.sendText(heartbeatFrame(this.#parts.freshness()));
  }

  announce(text: string): void {
    if (this.#subscriptions.size > 0) this.sendText(text);
  }

  /** Closes when the key has been revoked or has expired. */
  checkKey(): void {
    if (this.#key === null || this.#isClosed || this.#carrier.isLive(this.#key)) return;
    if (this.#carrier.areKeysKnown()) {
      return this.close(closeCodes.badKey, "the key was revoked or has expired");
    }
    this.close(closeCodes.draining, "keys cannot be checked here; reconnect");
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.closed();
    this.#carrier.close(code, reason);
  }

  /** The connection is gone: everything it has is given up. */
  closed(): void {
    this.#isClosed = true;
    this.#pending = [];
    this.#parts.hub.listeners.delete(this);
    for (const one of this.#subscriptions.values()) this.#parts.hub.unsubscribe(one);
    this.#parts.meter.subscriptions -= this.#subscriptions.size;
    this.#subscriptions.clear();
    this.#outbox.clear();
  }

  deliver(packet: Packet, isReplay = false): void {
    if (this.#isClosed) return;
    if (isReplay) this.#parts.meter.replayed_messages += packet.count;
    if (!this.#form.batch) return this.#push(packet);
    this.#pending.push(packet);
    this.#parts.flusher.add(this);
  }

  takePending(): readonly Packet[] {
    const packets = this.#pending;
    this.#pending = [];
    return packets;
  }

  deliverBatch(packet: Packet): void {
    if (!this.#isClosed) this.#push(packet);
  }

  sendText(text: string): void {
    if (this.#isClosed) return;
    // Data that waits to be sent in a batch was there before.
    for (const packet of this.takePending()) this.#push(packet);
    this.#send({ bytes: encodeTexts([text]) });
  }

  async whenRoom(): Promise<void> {
    await this.#outbox.whenRoom();
  }

  fail(thrown: unknown): void {
    if (this.#isClosed) return;
    this.#parts.log.error({ err: toError(thrown) }, "a subscription failed");
    this.close(closeCodes.internal, this.#withDelivered("something went wrong on our side"));
  }

  #push(packet: Packet): void {
    const bytes = packet.bytes(this.#form);
    const { meter } = this.#parts;
    meter.messages += packet.count;
    meter.bytes += bytes.length;
    const { firstSeq, lastSeq } = packet;
    this.#send(Number.isFinite(lastSeq) ? { bytes, firstSeq, lastSeq } : { bytes });
  }

  #send(outgoing: Parameters<Outbox["push"]>[0]): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#outbox.push(outgoing, nowMs);
    if (this.#outbox.isOver(nowMs)) this.#closeSlow();
  }

  #closeSlow(): void {
    this.#parts.meter.slow_closes += 1;
    this.close(closeCodes.slow, this.#withDelivered("slow"));
  }

  /** Reasons have room for 123 bytes. */
  #withDelivered(reason: string): string {
    const seq = this.#outbox.deliveredSeq;
    return seq === null ? reason : `${reason}; last delivered seq ${seq}`;
  }

  /** Whether the client keeps to its rate of frames. */
  #isCalm(): boolean {
    this.#frames ??= new RecentCount(streamLimits.framesPerSecond, 1000);
    const nowMs = this.#parts.clock.monotonicMs();
    // Frames that waited for a busy process come in one go, before the tick that is overdue or after it.
    if (this.#frames.add(nowMs, Math.max(this.#tickLagMs, this.#overdueMs(nowMs)))) return true;
    this.close(closeCodes.policy, `over ${streamLimits.framesPerSecond} frames a second`);
    return false;
  }

  #overdueMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#tickedAtMs - streamLimits.tickMs);
  }

  #refuse(thrown: unknown, id: FrameId | null): void {
    const error = thrown instanceof AppError ? thrown : new AppError("INTERNAL_ERROR");
    if (error !== thrown) this.#parts.log.error({ err: toError(thrown) }, "a frame failed");
    this.sendText(errorFrame(error, id, this.#connectionId));
    const { faultsMax, faultWindowMs } = streamLimits;
    this.#faults ??= new RecentCount(faultsMax - 1, faultWindowMs);
    if (this.#faults.add(this.#parts.clock.monotonicMs())) return;
    this.close(closeCodes.policy, `${faultsMax} invalid frames in ${faultWindowMs / 1000} s`);
  }

  #answer(frame: ClientFrame, id: FrameId | null): void {
    switch (frame.action) {
      case "ping":
        return this.sendText(answerFrame("pong", id, {}));
      case "auth":
        return this.#authenticate(frame.apiKey, id);
      case "subscribe":
        this.#requireKey();
        return this.#subscribeOnceReached(frame.channel, id);
      case "unsubscribe":
        this.#requireKey();
        return this.#unsubscribe(frame.of, id);
    }
  }

  #requireKey(): void {
    if (this.#isAdmitted) return;
    throw new AppError("UNAUTHORIZED", "Send an auth frame first, or X-API-Key when connecting");
  }

  #authenticate(value: string, id: FrameId | null): void {
    if (this.#key !== null) throw invalid("action", "auth was done before");
    const key = this.#carrier.authenticate(value);
    if ("error" in key) {
      this.sendText(errorFrame(key.error, id, this.#connectionId));
      return this.close(key.code, key.error.message);
    }
    this.#key = key;
    this.#parts.hub.listeners.add(this);
    this.#welcome(id);
  }

  #welcome(id: FrameId | null): void {
    const { quotas, hub } = this.#parts;
    const { heartbeatMs, framesPerSecond, frameBytesMax } = streamLimits;
    const fields = {
      connection_id: this.#connectionId,
      protocol: 1,
      authenticated: this.#key !== null,
      heartbeat_seconds: heartbeatMs / 1000,
      latest_seq: hub.latestSeq < 0 ? null : hub.latestSeq,
      limits: {
        subscriptions: quotas.subscriptionsMax,
        tokens_per_subscription: streamLimits.tokensPerChannelMax,
        frames_per_second: framesPerSecond,
        frame_bytes: frameBytesMax,
        connections_per_key: this.#key === null ? null : quotas.connectionsPerKey[this.#key.scope],
        connections_per_ip: quotas.connectionsPerIp,
      },
    };
    this.sendText(answerFrame("welcome", id, fields));
  }

  /** A client that comes from another node may be ahead of this one. */
  #subscribeOnceReached(request: ChannelRequest, id: FrameId | null): void {
    const { hub, freshness } = this.#parts;
    const named = hub.nameOf(request);
    const reached = hub.untilReached(request.resume_from ?? 0, freshness().head_block);
    const subscribe = () => this.#subscribe(named, request, id);
    if (reached === null) return subscribe();
    reached.then(subscribe).catch((thrown: unknown) => this.#refuse(thrown, id));
  }

  #subscribe(named: NamedChannel, start: ChannelRequest, id: FrameId | null): void {
    if (this.#isClosed) return;
    const { hub, quotas } = this.#parts;
    const { name } = named;
    const known = this.#subscriptions.get(name);
    if (known !== undefined) {
      throw new AppError("CONFLICT", `This channel is subscribed already, as ${known.topic.id}`);
    }
    if (this.#subscriptions.size >= quotas.subscriptionsMax) {
      const issue = `has ${quotas.subscriptionsMax} subscriptions, which is the most`;
      throw invalid("connection", issue);
    }
    const started = ({ topic, begin }: Subscribed): void => {
      const channel = topic.channel.asked;
      const fields = { channel, subscription_id: topic.id, seq: shownSeq(begin) };
      this.sendText(answerFrame("subscribed", id, fields));
    };
    const subscription = hub.subscribe({ named, start, receiver: this, started });
    if (this.#isClosed) return hub.unsubscribe(subscription);
    this.#subscriptions.set(name, subscription);
    this.#parts.meter.subscriptions += 1;
  }

  #unsubscribe(of: string | ChannelRequest, id: FrameId | null): void {
    const { hub } = this.#parts;
    const asked = typeof of === "string" ? null : hub.nameOf(of).name;
    for (const [name, subscription] of this.#subscriptions) {
      const { topic } = subscription;
      if (name !== asked && topic.id !== of) continue;
      hub.unsubscribe(subscription);
      this.#subscriptions.delete(name);
      this.#parts.meter.subscriptions -= 1;
      const channel = topic.channel.asked;
      return this.sendText(answerFrame("unsubscribed", id, { channel, subscription_id: topic.id }));
    }
    throw new AppError("NOT_FOUND", "There is no such subscription on this connection");
  }
}
