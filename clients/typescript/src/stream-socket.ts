import { type AnyFrame, type Closing, StreamInbox } from "./stream-inbox.ts";

/** The most streams of one connection. A new connection gets all their frames within the limit of a second. */
const streamsMax = 12;
/** Fewer than the 20 frames a second after which the service closes, because frames can arrive closer together. */
const framesPerSecond = 15;
/** The number of missing heartbeats after which a silent connection is closed. */
const missedHeartbeatsMax = 2.5;
const firstSilenceMs = 20_000;

/** The service repeats its `id` in an error, which then is not one of a stream. */
const unsubscribe = { action: "unsubscribe", id: "unsubscribe" } as const;

/** What a stream subscribes to, and from where on. */
export type Subscribe = { readonly channel: object; readonly [field: string]: unknown };

type SocketOptions = {
  readonly url: URL;
  readonly key: string | null;
  readonly isShared: boolean;
  /** How long the connection stays open without a stream. */
  readonly idleMs: number;
};

/** A subscription of the connection, until the service confirms its end. */
type Subscription = { readonly channel: string; readonly inbox: StreamInbox };

/** One connection to the stream, which several streams can share. Each subscribes to another channel. */
export class StreamSocket {
  readonly #options: SocketOptions;
  readonly #socket: WebSocket;
  /** By the `id` of the subscribe frame. */
  readonly #subscriptions = new Map<number, Subscription>();
  /** By `subscription_id`, once the service has confirmed it. */
  readonly #confirmed = new Map<string, number>();
  readonly #waiting: { readonly id: number | null; readonly text: string }[] = [];
  #sentMs: readonly number[] = [];
  #lastId = 0;
  #isClosed = false;
  #silenceMs = firstSilenceMs;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SocketOptions) {
    if (globalThis.WebSocket === undefined) throw new Error("the stream needs Node 22 or later");
    this.#options = options;
    this.#socket = new WebSocket(options.url);
    if (options.key !== null) this.#send({ action: "auth", api_key: options.key });
    this.#socket.addEventListener("open", () => {
      if (this.#isClosed) this.#socket.close();
      else this.#flush();
    });
    this.#socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#end({ code, reason }));
    this.#socket.addEventListener("error", () => this.#end({ code: 1006, reason: "" }));
    this.#watchSilence();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether another stream can subscribe to a channel here. The service accepts each channel once. */
  hasRoomFor(channel: object): boolean {
    if (this.#isClosed || !this.#options.isShared) return false;
    const name = JSON.stringify(channel);
    const all = [...this.#subscriptions.values()];
    return all.length < streamsMax && all.every((one) => one.channel !== name);
  }

  subscribe(request: Subscribe): StreamInbox {
    clearTimeout(this.#idle);
    this.#lastId += 1;
    const id = this.#lastId;
    const inbox = new StreamInbox(this.#options.isShared, () => this.#leave(id));
    this.#subscriptions.set(id, { channel: JSON.stringify(request.channel), inbox });
    this.#send({ action: "subscribe", id, ...request }, id);
    return inbox;
  }

  #leave(id: number): void {
    const unsent = this.#waiting.findIndex((one) => one.id === id);
    if (unsent !== -1) {
      this.#waiting.splice(unsent, 1);
      this.#subscriptions.delete(id);
    }
    for (const [subscriptionId, one] of this.#confirmed)
      if (one === id) this.#send({ ...unsubscribe, subscription_id: subscriptionId });
    if ([...this.#subscriptions.values()].some(({ inbox }) => !inbox.isClosed)) return;
    const { idleMs } = this.#options;
    clearTimeout(this.#idle);
    const close = (): void => this.#end({ code: 1000, reason: "no stream is left" });
    if (idleMs === 0) close();
    else this.#idle = setTimeout(close, idleMs);
  }

  #take(text: string): void {
    if (this.#isClosed) return;
    this.#watchSilence();
    let frame: AnyFrame;
    try {
      frame = JSON.parse(text) as AnyFrame;
    } catch {
      return this.#end({ code: 1007, reason: "what came is not JSON" });
    }
    this.#deliver(frame);
  }

  #deliver(frame: AnyFrame): void {
    switch (frame.type) {
      case "welcome":
        this.#silenceMs = frame.heartbeat_seconds * 1000 * missedHeartbeatsMax;
        return;
      case "pong":
        return;
      case "subscribed":
        return this.#confirm(Number(frame.id), frame);
      case "unsubscribed":
        this.#forget(this.#confirmed.get(frame.subscription_id));
        this.#confirmed.delete(frame.subscription_id);
        return;
      case "error":
        return this.#refuse(frame);
      case "heartbeat":
      case "finalized":
        for (const id of this.#confirmed.values()) this.#subscriptions.get(id)?.inbox.take(frame);
        return;
      default: {
        const id = this.#confirmed.get(frame.subscription_id);
        if (id !== undefined) this.#subscriptions.get(id)?.inbox.take(frame);
      }
    }
  }

  #confirm(id: number, frame: Extract<AnyFrame, { type: "subscribed" }>): void {
    this.#confirmed.set(frame.subscription_id, id);
    const inbox = this.#subscriptions.get(id)?.inbox;
    // The stream left while the service subscribed it.
    if (inbox?.isClosed === true) this.#leave(id);
    inbox?.take(frame);
  }

  /** Passes an error on to the stream whose frame had its `id`. Without one it is about the key, so all get it. */
  #refuse(frame: Extract<AnyFrame, { type: "error" }>): void {
    const about = frame.id === undefined ? [...this.#subscriptions.keys()] : [Number(frame.id)];
    for (const id of about) {
      const inbox = this.#subscriptions.get(id)?.inbox;
      this.#forget(id);
      inbox?.take(frame);
    }
  }

  #forget(id: number | undefined): void {
    if (id !== undefined) this.#subscriptions.delete(id);
  }

  #send(frame: object, id: number | null = null): void {
    this.#waiting.push({ id, text: JSON.stringify(frame) });
    this.#flush();
  }

  /** Sends the frames that wait, as fast as the service allows. */
  #flush(): void {
    clearTimeout(this.#pause);
    if (this.#isClosed || this.#socket.readyState !== WebSocket.OPEN) return;
    const nowMs = Date.now();
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < 1000);
    const sent = this.#waiting.splice(0, framesPerSecond - this.#sentMs.length);
    for (const { text } of sent) this.#socket.send(text);
    this.#sentMs = [...this.#sentMs, ...sent.map(() => nowMs)];
    const [firstMs = nowMs] = this.#sentMs;
    if (this.#waiting.length > 0)
      this.#pause = setTimeout(() => this.#flush(), firstMs + 1000 - nowMs);
  }

  #watchSilence(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      this.#end({ code: 1006, reason: "the service fell silent" });
    }, this.#silenceMs);
  }

  #end(closing: Closing): void {
    for (const timer of [this.#watch, this.#pause, this.#idle]) clearTimeout(timer);
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A browser logs an error if a socket is closed while it opens; the "open" listener closes it then.
    if (this.#socket.readyState !== WebSocket.CONNECTING) this.#socket.close();
    for (const { inbox } of this.#subscriptions.values()) inbox.end(closing);
    this.#subscriptions.clear();
  }
}
